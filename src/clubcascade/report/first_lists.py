"""How a policy did in its users' first lists, against the best of the others: ratios and goals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from clubcascade.experiment.bounds import BOUNDS
from clubcascade.experiment.config import Panel
from clubcascade.report.estimates import UNKNOWN, Estimate, share, with_ends
from clubcascade.report.folders import KNOWN, POLICY, Run
from clubcascade.report.markdown import escaped, row

LISTS = (5, 20, 100, math.inf)
"""After so many lists a user, and at the end."""
NEWCOMERS = (1, 5, 20)
"""After so many lists of a newcomer."""
FAIR, POPULAR = ("MultipleLinUCB + memory", "MultipleLinUCB"), ("Popular",)
"""Labels of the policies that newcomers are compared with; the first that plays."""

GOALS = {
    "5 lists": 0.92,
    "20 lists": 0.85,
    "end": 0.65,
    "everywhere": 1.05,
    "newcomers, mean": 0.95,
    "newcomers, everywhere": 1.05,
    "newcomers, popular": 1.0,
    "20 clusters": 1.0,
    "switch": 0.8,
    "rare clicks": 0.95,
}
"""The goals of the protocol: at most so many times what the other lost."""


@dataclass(frozen=True, slots=True)
class FirstLists:
    """What a policy lost in its users' first ``lists`` lists, relative to another one.

    ``ratio`` is paired by seed; ``other`` is the policy of the least mean among those asked for,
    found on the very runs that are compared, which favours it.
    """

    panel: Panel
    lists: float
    other: str
    ratio: Estimate

    @property
    def words(self) -> str:
        """The ratio, and to whom."""
        return f"{with_ends(self.ratio, 'ratio')} {self.other}"


def compared(
    run: Run,
    panel: Panel,
    lists: float,
    *,
    phase: int | None = None,
    among: Sequence[str] = (),
    policy: str = POLICY,
) -> FirstLists | None:
    """Compare a policy with the best of others in a panel; None where they did not meet.

    Parameters
    ----------
    run, panel
        What is compared, and where.
    lists
        Up to which of a user's lists; infinity: all.
    phase
        The phase of the world that counts; None: all.
    among
        Labels of which the first that plays is the other; none: all rivals.
    policy
        Who is judged.
    """
    table = lost_in_lists(run, panel, lists, phase)
    there = [c for c in run.results.experiment.policies_of(panel) if c.label in table]
    mine = [c.label for c in there if c.policy == policy][:1]
    rivals = [c.label for c in there if c.policy not in (policy, *KNOWN, *BOUNDS)]
    rivals = [label for label in among if label in rivals][:1] if among else rivals
    if not mine or not rivals:
        return None
    both = table[[*mine, *rivals]].dropna()
    if both.empty:
        return None
    best = str(both[rivals].mean().idxmin())
    ours, theirs = (both[label].to_numpy(np.float64) for label in (mine[0], best))
    return FirstLists(panel, lists, best, share(ours, theirs))


def lost_in_lists(run: Run, panel: Panel, lists: float, phase: int | None = None) -> pd.DataFrame:
    """Return the regret of users' first lists in a panel: seeds x policies."""
    rows = run.results.visits
    rows = rows[(rows["panel"] == panel.title) & (rows["lists"] == lists)]
    rows = rows if phase is None else rows[rows["phase"] == phase]
    return rows.pivot_table(index="seed", columns="policy", values="regret", aggfunc="sum")


def users_have(run: Run, panel: Panel, lists: float) -> bool:
    """Whether the users of a panel have so many lists, on average; all have those of infinity."""
    users = panel.parameters.get("n_users")
    rounds = run.results.experiment.rounds_of(panel)
    return math.isinf(lists) or bool(users and rounds >= lists * users)


def after(run: Run, lists: float, policy: str = POLICY) -> Iterator[FirstLists]:
    """Yield the comparisons of a folder after so many lists a user, where users have so many."""
    for panel in run.results.experiment.panels:
        if users_have(run, panel, lists):
            found = compared(run, panel, lists, policy=policy)
            if found is not None:
                yield found


def first_list_lines(run: Run, policy: str = POLICY) -> Iterator[str]:
    """Yield a table of the ratios after so many lists a user, and one of newcomers.

    What misses its goal is bold, unless the run is a first look.
    """
    most = math.inf if run.first_look else GOALS["everywhere"]
    by_lists = [{each.panel.title: each for each in after(run, n, policy)} for n in LISTS]
    if not by_lists[-1]:
        return
    yield from _table(
        ["panel", *(f"{n:g} lists a user" for n in LISTS[:-1]), "end"],
        [
            (title, [found.get(title) for found in by_lists], [most] * len(LISTS))
            for title in by_lists[-1]
        ],
    )
    newcomers = [panel for panel in run.results.experiment.panels if changes(panel, "users")]
    if newcomers:
        heads = [
            f"{'list 1' if n == 1 else f'lists 1 to {n}'}, to {who}"
            for n in NEWCOMERS
            for who in ("the best", "own models", "the popular list")
        ]
        limits = [most, GOALS["newcomers, everywhere"], GOALS["newcomers, popular"]]
        limits = [math.inf] * 3 if run.first_look else limits
        yield from _table(
            ["newcomers", *heads],
            [
                (
                    panel.title,
                    [
                        compared(run, panel, n, phase=1, among=among, policy=policy)
                        for n in NEWCOMERS
                        for among in ((), FAIR, POPULAR)
                    ],
                    limits * len(NEWCOMERS),
                )
                for panel in newcomers
            ],
        )


def first_list_goals(runs: Sequence[Run], policy: str = POLICY) -> Iterator[str]:
    """Yield what was reached of each goal of the protocol, and the panels that miss it."""
    for lists, name, words in (
        (5, "5 lists", "After 5 lists a user"),
        (20, "20 lists", "After 20 lists a user"),
        (math.inf, "end", "At the end"),
    ):
        found = [each for run in runs for each in after(run, lists, policy)]
        if found:
            median = np.median([each.ratio.value for each in found])
            goal = f"(goal: at most {GOALS[name]:g})"
            yield f"- {words}: median ratio to the best rival {median:.3f} {goal}."
            yield from _within(words, found, GOALS["everywhere"])
    for n in NEWCOMERS[1:]:
        words = f"Newcomers, lists 1 to {n}"
        fair = _among(runs, n, 1, FAIR, policy, lambda panel: panel.environment == "pool")
        if fair:
            mean = np.mean([each.ratio.value for each in fair])
            goal = f"(goal: at most {GOALS['newcomers, mean']:g})"
            yield f"- {words}: mean ratio to {fair[0].other} on ratings {mean:.3f} {goal}."
            yield from _within(f"{words}, own models", fair, GOALS["newcomers, everywhere"])
        popular = _among(runs, n, 1, POPULAR, policy, lambda panel: True)
        if popular:
            yield from _within(f"{words}, popular list", popular, GOALS["newcomers, popular"])
    for name, phase, wanted in (
        ("20 clusters", None, _many_clusters),
        ("switch", 1, lambda panel: bool(changes(panel, "switch"))),
        ("rare clicks", None, lambda panel: panel.parameters.get("click_rates") == [0.0, 0.03]),
    ):
        chosen = _among(runs, math.inf, phase, (), policy, wanted, newcomers=False)
        if chosen:
            yield from _within(name.capitalize(), chosen, GOALS[name])


def _among(
    runs: Sequence[Run],
    lists: float,
    phase: int | None,
    among: Sequence[str],
    policy: str,
    wanted: Callable[[Panel], bool],
    *,
    newcomers: bool = True,
) -> list[FirstLists]:
    """Return the comparisons in some panels: those of newcomers, or others."""
    found = (
        compared(run, panel, lists, phase=phase, among=among, policy=policy)
        for run in runs
        for panel in run.results.experiment.panels
        if wanted(panel) and bool(changes(panel, "users")) == newcomers
    )
    return [each for each in found if each is not None]


def changes(panel: Panel, key: str) -> object:
    """Return what a world says of its changes; newcomers and nobody else are ``users``."""
    value = panel.parameters.get("changes", {}).get(key)
    return None if key == "users" and value != "new" else value


def _many_clusters(panel: Panel) -> bool:
    return panel.parameters.get("n_clusters") == 20 and panel.parameters.get("n_users") == 2000


def _within(words: str, found: Sequence[FirstLists], most: float) -> Iterator[str]:
    missed = [each for each in found if not each.ratio.value <= most]
    good = len(found) - len(missed)
    yield f"- {words}: at most {most:g} in {good} of {len(found)} panels."
    for each in missed:
        yield f"    - {escaped(each.panel.title)}: {each.words}"


def _table(
    heads: Sequence[str], rows: Iterable[tuple[str, Sequence[FirstLists | None], Sequence[float]]]
) -> Iterator[str]:
    """Yield a table; ratios above their limit are bold."""
    yield row(heads)
    yield "|---|" + "---:|" * (len(heads) - 1)
    for title, cells, limits in rows:
        texts = [
            UNKNOWN
            if each is None
            else (each.words if each.ratio.value <= most else f"**{each.words}**")
            for each, most in zip(cells, limits, strict=True)
        ]
        yield row([title, *texts])
    yield ""
