"""Which policies and panels a claim is about: the paper's words for them."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from clubcascade.experiment.schema import Contender, Panel
from clubcascade.report.folders import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One entry of ``compare`` in ``claims.toml``, which says what its keys mean."""

    kind: str
    between: tuple[str, ...]
    same: tuple[str, ...] = ()
    panels: tuple[str, ...] = ("all",)
    alike: tuple[str, ...] = ()
    more: str = ""
    sparser_first: bool = False
    measure: str = ""
    after: float = 1.0
    since: float = 0.0
    margin: float = 0.0
    at_least: float = 0.0
    of_oracle: bool = False
    expected: str = "higher"
    what: str = ""


def cases(run: Run, spec: Comparison) -> Iterator[tuple[Panel, Panel, Contender, Contender]]:
    """Yield the panels and policies of a comparison, the first twice where only one is named."""
    for panel, other in panel_pairs(run, spec.panels, spec.alike, spec.more):
        if spec.sparser_first:
            clicks = [_density(run, each) for each in (panel, other)]
            if math.isnan(sum(clicks)):
                continue
            panel, other = (panel, other) if clicks[0] < clicks[1] else (other, panel)
        for first, second in policy_pairs(run, panel, spec.between, spec.same):
            yield panel, other, first, second


def policies(run: Run, panel: Panel, role: str) -> list[Contender]:
    """Return the policies of a role that have results in a panel.

    Parameters
    ----------
    run, panel
        Where.
    role
        ``"sparse"`` and ``"complete"``: CLUB-cascade by its initial graph. ``"ours"``: the one of
        the paper's experiments, the first sparse one or else the first of all. ``"theirs"``: the
        first C³-UCB and the first CascadeLinUCB, one model for all users. ``"multiple"``: one
        model per user. ``"random"``: random lists. ``"constants"``: CLUB-cascade with alpha and
        beta of the theorem. ``"bound"``: the theorem's bound.
    """

    def kind(name: str) -> list[Contender]:
        return [
            contender
            for contender in run.results.experiment.policies
            if contender.policy == name and (panel.title, contender.label) in run.ran
        ]

    club = kind("club_cascade")
    if role == "ours":
        return [*_started(club, "random"), *club][:1]
    if role == "theirs":
        return [*kind("c3_ucb")[:1], *kind("cascade_lin_ucb")[:1]]
    if role == "multiple":
        return kind("multiple_lin_ucb")[:1]
    if role == "random":
        return kind("random")[:1]
    if role == "constants":
        made = ("alpha", "beta")  # tables such as {theorem = 2}
        return [c for c in club if all(isinstance(c.parameters.get(n), Mapping) for n in made)]
    if role == "bound":
        whole = kind("theorem_bound")
        return [c for c in whole if c.parameters.get("part", "whole") == "whole"]
    return _started(club, {"sparse": "random", "complete": "complete"}[role])


def policy_pairs(
    run: Run, panel: Panel, roles: Sequence[str], same: Sequence[str] = ()
) -> Iterator[tuple[Contender, Contender]]:
    """Yield the pairs of two roles that agree in the parameters named."""
    found = [policies(run, panel, role) for role in roles]
    for a, b in product(*found) if len(found) > 1 else zip(*found, *found, strict=True):
        if (a is not b or len(found) == 1) and _agree(a.parameters, b.parameters, same):
            yield a, b


def panels(run: Run, group: str) -> list[Panel]:
    """Return the panels of a group: ``"most users"``, ``"fewest users"`` or one of ``GROUPS``."""
    everything = run.results.experiment.panels
    users = [panel.parameters.get("n_users", 0) for panel in everything]
    if group in ("most users", "fewest users"):
        wanted = max(users) if group == "most users" else min(users)
        return [panel for panel, n in zip(everything, users, strict=True) if n == wanted]
    return [panel for panel in everything if GROUPS[group](panel)]


def panel_pairs(
    run: Run, groups: Sequence[str], alike: Sequence[str], more: str = ""
) -> Iterator[tuple[Panel, Panel]]:
    """Yield the pairs of two groups that are ``alike``, the first with ``more`` of a parameter."""
    found = [panels(run, group) for group in groups]
    for a, b in product(*found) if len(found) > 1 else zip(*found, *found, strict=True):
        larger = not more or a.parameters.get(more, 0) > b.parameters.get(more, 0)
        if (a is not b or len(found) == 1) and larger and _agree(a.parameters, b.parameters, alike):
            yield a, b


def data_set(panel: Panel) -> str | None:
    """Return ``"yelp"`` or ``"movielens"``, by the name of the data or the panel's title."""
    for text in (str(panel.parameters.get("clicks", "")), panel.title):
        for name in ("yelp", "movielens"):
            if name in text.lower():
                return name
    return None


def _near(panel: Panel) -> bool:
    """Whether the clusters of a synthetic panel are near each other: the paper's gap of 0.2."""
    gap = panel.parameters.get("gap")
    return isinstance(gap, int | float) and gap < 1


GROUPS: Mapping[str, Callable[[Panel], bool]] = {
    "all": lambda panel: True,
    "near": _near,
    "far": lambda panel: not _near(panel),
    "yelp": lambda panel: data_set(panel) == "yelp",
    "movielens": lambda panel: data_set(panel) == "movielens",
    "fresh": lambda panel: panel.parameters.get("items") == "fresh",
    "uniform": lambda panel: panel.parameters.get("arrivals") == "uniform",
    "uneven": lambda panel: panel.parameters.get("arrivals") != "uniform",
}
"""Groups of panels that a claim can be about, by name."""


def _density(run: Run, panel: Panel) -> float:
    """Return the clicks per round on random lists: how dense the matrix of clicks is."""
    label = "".join(contender.label for contender in policies(run, panel, "random"))
    found = run.by_seed("ctr").get((panel.title, label))
    return math.nan if found is None else float(found.iloc[:, -1].mean())


def _started(club: Sequence[Contender], start: str) -> list[Contender]:
    return [contender for contender in club if contender.parameters.get("start") == start]


def _agree(a: Mapping[str, object], b: Mapping[str, object], names: Sequence[str]) -> bool:
    return all(a.get(name) == b.get(name) for name in names)
