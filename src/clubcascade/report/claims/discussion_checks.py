"""Checks for the sentences of the discussions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from clubcascade.experiment.config import Panel
from clubcascade.report.claims import roles
from clubcascade.report.claims.claim import Evidence
from clubcascade.report.claims.compare import better, compared, longer
from clubcascade.report.claims.series import NOTHING, last, rounds_until_as_many, table
from clubcascade.report.claims.synthetic_checks import finds_the_clusters
from clubcascade.report.claims.verdicts import Verdict
from clubcascade.report.finals import microseconds
from clubcascade.report.folders import Run
from clubcascade.report.numbers import number

T = TypeVar("T")


def refines_until_true(run: Run) -> Iterator[Evidence]:
    """Check that the complete start ends with the true number of clusters."""
    for panel, whole in _of_each(run, roles.complete):
        truth, counts = panel.parameters.get("n_clusters"), table(run, panel, whole, "n_clusters")
        if truth is None or counts.empty:
            continue
        first, final = (float(counts.iloc[:, i].mean()) for i in (0, -1))
        yield Evidence(
            panel.title,
            f"clusters after {int(counts.columns[-1]):,} rounds",
            f"{whole.label}: {number(first)} at first, {number(final)} at last, {truth} in truth",
            Verdict.HOLDS if abs(final - truth) < 0.5 else Verdict.FAILS,
            final,
            "clusters",
        )


def uniform_is_easier(run: Run) -> Iterator[Evidence]:
    """Check that regret is smaller where all users come equally often."""
    panels = run.results.experiment.panels
    even = [panel for panel in panels if panel.parameters.get("arrivals") == "uniform"]
    uneven = [panel for panel in panels if panel not in even]
    alike = ["gap", "n_clusters", "n_users", "n_items", "items", "clicks"]
    for first, second in roles.pairs(even, uneven, alike):
        mine = roles.ours(run, first)
        if mine is not None:
            a, b = (last(table(run, panel, mine, "regret")) for panel in (first, second))
            yield from compared(
                f"{first.title} against {second.title}",
                f"regret of {mine.label} at the last round",
                ("first panel", a),
                ("second panel", b),
                wanted=-1,
            )


def fresh_items_tell_users_apart(run: Run) -> Iterator[Evidence]:
    """Check that the clusters are found where every round has fresh items."""
    fresh = {p.title for p in run.results.experiment.panels if p.parameters.get("items") == "fresh"}
    return (found for found in finds_the_clusters(run) if found.panel in fresh)


def complete_splits_later(run: Run) -> Iterator[Evidence]:
    """Check that the complete start needs more rounds to have as many clusters as there are."""
    for panel, (sparse, whole) in _of_each(run, roles.starts):
        truth = panel.parameters.get("n_clusters")
        if truth is not None:
            yield from longer(
                panel.title,
                f"rounds until there are {truth} clusters",
                (whole.label, rounds_until_as_many(run, panel, whole, truth)),
                (sparse.label, rounds_until_as_many(run, panel, sparse, truth)),
            )


def sparse_is_faster(run: Run) -> Iterator[Evidence]:
    """Check that the sparse start has less regret, and a shorter round, than the complete one."""
    times = microseconds(run.results)
    for panel, (sparse, whole) in _of_each(run, roles.starts):
        yield from better(run, panel, sparse, whole)
        yield from compared(
            panel.title,
            "microseconds of a round",
            (sparse.label, times.get((panel.title, sparse.label), NOTHING)),
            (whole.label, times.get((panel.title, whole.label), NOTHING)),
            wanted=-1,
        )


def _of_each(run: Run, role: Callable[[Run, Panel], Iterable[T]]) -> Iterator[tuple[Panel, T]]:
    """Yield who plays a role, panel by panel."""
    for panel in run.results.experiment.panels:
        for found in role(run, panel):
            yield panel, found
