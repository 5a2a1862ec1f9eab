"""The goals of the protocol: what CohortCascade reached, in users' first lists and at the end."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from clubcascade.experiment.schema import Panel
from clubcascade.report.contest import Contest, after, contest, lost_in_lists, ratio_words
from clubcascade.report.folders import Run
from clubcascade.report.markdown import escaped, table

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


def newcomer_lines(run: Run) -> Iterator[str]:
    """Yield a table of the ratios in the first lists of newcomers; nothing where there are none.

    What misses its goal is bold, unless the run is a first look.
    """
    others = (
        ("the best", (), "everywhere"),
        ("own models", FAIR, "newcomers, everywhere"),
        ("the popular list", POPULAR, "newcomers, popular"),
    )
    columns = [(n, *other) for n in NEWCOMERS for other in others]
    heads = [f"{'list 1' if n == 1 else f'lists 1 to {n}'}, to {who}" for n, who, *_ in columns]

    def words(panel: Panel, lists: float, among: Sequence[str], goal: str) -> str:
        found = _first_lists(run, panel, lists, 1, among)
        return ratio_words(found, None if run.first_look else GOALS[goal])

    rows = [
        [panel.title, *(words(panel, n, among, goal) for n, _, among, goal in columns)]
        for panel in run.results.experiment.panels
        if changes(panel, "users")
    ]
    if rows:
        yield from [*table(["newcomers", *heads], rows), ""]


def goal_lines(runs: Sequence[Run]) -> Iterator[str]:
    """Yield what was reached of each goal of the protocol, and the panels that miss it."""
    for lists, name, words in (
        (5, "5 lists", "After 5 lists a user"),
        (20, "20 lists", "After 20 lists a user"),
        (math.inf, "end", "At the end"),
    ):
        found = [each for run in runs for each in after(run, lists)]
        if found:
            median = np.median([each.ratio.value for each in found])
            goal = f"(goal: at most {GOALS[name]:g})"
            yield f"- {words}: median ratio to the best rival {median:.3f} {goal}."
            yield from _within(words, found, GOALS["everywhere"])
    for n in NEWCOMERS[1:]:
        words = f"Newcomers, lists 1 to {n}"
        fair = _among(runs, n, 1, FAIR, lambda panel: panel.environment == "pool")
        if fair:
            mean = np.mean([each.ratio.value for each in fair])
            goal = f"(goal: at most {GOALS['newcomers, mean']:g})"
            yield f"- {words}: mean ratio to {fair[0].other} on ratings {mean:.3f} {goal}."
            yield from _within(f"{words}, own models", fair, GOALS["newcomers, everywhere"])
        popular = _among(runs, n, 1, POPULAR, lambda panel: True)
        if popular:
            yield from _within(f"{words}, popular list", popular, GOALS["newcomers, popular"])
    for name, phase, wanted in (
        ("20 clusters", None, _many_clusters),
        ("switch", 1, lambda panel: bool(changes(panel, "switch"))),
        ("rare clicks", None, lambda panel: panel.parameters.get("click_rates") == [0.0, 0.03]),
    ):
        chosen = _among(runs, math.inf, phase, (), wanted, newcomers=False)
        if chosen:
            yield from _within(name.capitalize(), chosen, GOALS[name])


def _among(
    runs: Sequence[Run],
    lists: float,
    phase: int | None,
    among: Sequence[str],
    wanted: Callable[[Panel], bool],
    *,
    newcomers: bool = True,
) -> list[Contest]:
    """Return the comparisons in some panels: those of newcomers, or others."""
    found = (
        _first_lists(run, panel, lists, phase, among)
        for run in runs
        for panel in run.results.experiment.panels
        if wanted(panel) and bool(changes(panel, "users")) == newcomers
    )
    return [each for each in found if each is not None]


def changes(panel: Panel, key: str) -> object:
    """Return what a world says of its changes; newcomers and nobody else are ``users``."""
    value = panel.parameters.get("changes", {}).get(key)
    return None if key == "users" and value != "new" else value


def _first_lists(
    run: Run, panel: Panel, lists: float, phase: int | None, among: Sequence[str]
) -> Contest | None:
    return contest(run, panel, lost_in_lists(run, panel, lists, phase), among=among)


def _many_clusters(panel: Panel) -> bool:
    return panel.parameters.get("n_clusters") == 20 and panel.parameters.get("n_users") == 2000


def _within(words: str, found: Sequence[Contest], most: float) -> Iterator[str]:
    missed = [each for each in found if not each.ratio.value <= most]
    good = len(found) - len(missed)
    yield f"- {words}: at most {most:g} in {good} of {len(found)} panels."
    for each in missed:
        yield f"    - {escaped(each.panel.title)}: {each.words(other=True)}"
