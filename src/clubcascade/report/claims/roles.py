"""Who is who in an experiment: the paper's words for policies, panels and data sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from clubcascade.experiment.config import Contender, Panel
from clubcascade.report.folders import Run

THEIRS = ("c3_ucb", "cascade_lin_ucb")
"""The algorithms that the paper calls theirs: one model for all users."""


def ours(run: Run, panel: Panel) -> Contender | None:
    """Return the paper's algorithm as its experiments use it: CLUB-cascade, sparse start.

    Of several, the first; where none has a sparse start, the first of all.
    """
    found = [*sparse(run, panel), *_there(run, panel, ["club_cascade"])]
    return found[0] if found else None


def sparse(run: Run, panel: Panel) -> list[Contender]:
    """Return every CLUB-cascade that starts from a sparse random graph."""
    found = _there(run, panel, ["club_cascade"])
    return [c for c in found if c.parameters.get("start") == "random"]


def complete(run: Run, panel: Panel) -> list[Contender]:
    """Return every CLUB-cascade that starts from the complete graph, as Algorithm 1 prints it."""
    found = _there(run, panel, ["club_cascade"])
    return [c for c in found if c.parameters.get("start") == "complete"]


def starts(run: Run, panel: Panel) -> Iterator[tuple[Contender, Contender]]:
    """Yield sparse starts beside the complete start of the same constants."""
    for first, second in product(sparse(run, panel), complete(run, panel)):
        alike = ("alpha", "beta", "reg")
        if all(first.parameters.get(n) == second.parameters.get(n) for n in alike):
            yield first, second


def theirs(run: Run, panel: Panel) -> list[Contender]:
    """Return C³-UCB and CascadeLinUCB, the first of each that ran."""
    found = (next(_there(run, panel, [name]), None) for name in THEIRS)
    return [contender for contender in found if contender is not None]


def multiple(run: Run, panel: Panel) -> Contender | None:
    """Return MultipleLinUCB: one model per user."""
    return next(_there(run, panel, ["multiple_lin_ucb"]), None)


def random_lists(run: Run, panel: Panel) -> Contender | None:
    """Return the policy that shows random lists: how often it is clicked is how dense data are."""
    return next(_there(run, panel, ["random"]), None)


def rivals(run: Run, panel: Panel) -> Iterator[tuple[Contender, Contender]]:
    """Yield the paper's algorithm beside each of theirs, where both ran."""
    mine = ours(run, panel)
    if mine is not None:
        for other in theirs(run, panel):
            yield mine, other


def data_set(panel: Panel) -> str | None:
    """Return ``"yelp"`` or ``"movielens"``, by the name of the data or the panel's title."""
    for text in (str(panel.parameters.get("clicks", "")), panel.title):
        for name in ("yelp", "movielens"):
            if name in text.lower():
                return name
    return None


def is_near(panel: Panel) -> bool:
    """Whether the clusters of a synthetic panel are near each other: the paper's gap of 0.2."""
    gap = panel.parameters.get("gap")
    return isinstance(gap, int | float) and gap < 1


def pairs(
    first: Iterable[Panel], second: Iterable[Panel], alike: Iterable[str]
) -> Iterator[tuple[Panel, Panel]]:
    """Yield the pairs of panels that agree in the parameters named."""
    names = list(alike)
    for a, b in product(first, second):
        if a is not b and all(a.parameters.get(n) == b.parameters.get(n) for n in names):
            yield a, b


def _there(run: Run, panel: Panel, names: Iterable[str]) -> Iterator[Contender]:
    wanted = set(names)
    for contender in run.results.experiment.policies:
        if contender.policy in wanted and (panel.title, contender.label) in run.ran:
            yield contender
