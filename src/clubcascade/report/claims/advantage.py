"""Checks that several sentences share: is the paper's algorithm ahead, and when."""

from __future__ import annotations

from collections.abc import Iterator

from clubcascade.report.claims import roles
from clubcascade.report.claims.claim import Evidence
from clubcascade.report.claims.compare import EARLY, better
from clubcascade.report.folders import Run

READING = (
    "CLUB-cascade against C³-UCB and CascadeLinUCB at the last round, in every panel: regret in "
    "synthetic worlds, clicks per round on real data."
)


def ahead_at_the_end(run: Run) -> Iterator[Evidence]:
    """Check that CLUB-cascade is better than theirs at the last round, in every panel."""
    for panel in run.results.experiment.panels:
        for mine, other in roles.rivals(run, panel):
            yield from better(run, panel, mine, other)


def behind_at_first(run: Run) -> Iterator[Evidence]:
    """Check that theirs are better than CLUB-cascade in the beginning, in every panel."""
    for panel in run.results.experiment.panels:
        for mine, other in roles.rivals(run, panel):
            yield from better(run, panel, other, mine, share=EARLY)
