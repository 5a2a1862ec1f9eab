"""Checks for the sentences about synthetic data."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from clubcascade.experiment.config import Contender, Panel
from clubcascade.report.claims import roles
from clubcascade.report.claims.claim import Evidence
from clubcascade.report.claims.compare import (
    EARLY,
    at_least,
    better,
    compared,
    larger_advantage,
    later,
)
from clubcascade.report.claims.series import (
    advantage,
    both,
    last,
    round_at,
    rounds_until_ahead,
    table,
)
from clubcascade.report.folders import Run
from clubcascade.report.numbers import number, with_ends
from clubcascade.report.paired import estimate

CORRECT = 0.9
"""Clusters of this adjusted Rand index count as found."""

SIZES = ("n_users", "n_items", "n_features", "items", "arrivals")


def more_clusters(run: Run) -> Iterator[Evidence]:
    """Check that the advantage is larger with more clusters, at the same gap."""
    panels = run.results.experiment.panels
    for many, few in roles.pairs(panels, panels, ["gap", *SIZES]):
        if many.parameters.get("n_clusters", 0) <= few.parameters.get("n_clusters", 0):
            continue
        for mine, other in roles.rivals(run, many):
            a, b = (advantage(run, panel, mine, other) for panel in (many, few))
            yield from larger_advantage((many, a), (few, b), other.label)


def nearer_takes_longer(run: Run) -> Iterator[Evidence]:
    """Check that an obvious advantage takes longer with a smaller gap, for as many clusters."""
    panels = run.results.experiment.panels
    far = [panel for panel in panels if not roles.is_near(panel)]
    for late, early in roles.pairs(_near(run), far, ["n_clusters", *SIZES]):
        for mine, other in roles.rivals(run, late):
            a, b = (rounds_until_ahead(run, panel, mine, other) for panel in (late, early))
            yield from later((late, a), (early, b), other.label)


def one_model_early(run: Run) -> Iterator[Evidence]:
    """Check that one model for all is better in the beginning, where the clusters are near."""
    for panel in _near(run):
        for mine, other in roles.rivals(run, panel):
            yield from better(run, panel, other, mine, share=EARLY)


def last_quarter(run: Run) -> Iterator[Evidence]:
    """Check that CLUB-cascade loses less in the last quarter, where the clusters are near."""
    for panel in _near(run):
        for mine, other in roles.rivals(run, panel):
            a, b = both(run, panel, mine, other, "regret")
            if a.empty:
                continue
            t, end = round_at(a, 0.75), int(a.columns[-1])
            yield from compared(
                panel.title,
                f"regret from round {t:,} to {end:,}",
                (mine.label, a[end] - a[t]),
                (other.label, b[end] - b[t]),
                wanted=-1,
            )


def sparse_start_costs_early(run: Run) -> Iterator[Evidence]:
    """Check that the complete start is better than the sparse one in the beginning."""
    for panel in run.results.experiment.panels:
        for sparse, whole in roles.starts(run, panel):
            yield from better(run, panel, whole, sparse, share=EARLY)


def finds_the_clusters(run: Run) -> Iterator[Evidence]:
    """Check that CLUB-cascade's clusters are the true ones at the last round."""
    for panel in run.results.experiment.panels:
        for mine in roles.sparse(run, panel):
            yield from _found(run, panel, mine)


def _found(run: Run, panel: Panel, mine: Contender) -> Iterator[Evidence]:
    index = table(run, panel, mine, "rand_index")
    if not index.empty:
        found = estimate(last(index).to_numpy(np.float64))
        words = f"{mine.label} {with_ends(found, 'rand_index')}"
        counts = last(table(run, panel, mine, "n_clusters"))
        if len(counts):
            words += f"; {number(float(counts.mean()))} clusters"
            words += f", {panel.parameters.get('n_clusters', 'unknown many')} in truth"
        best = index.mean()
        words += f"; at best {number(float(best.max()), 'rand_index')}"
        words += f" after {int(str(best.idxmax())):,} rounds"
        unit = "adjusted Rand index"
        what = f"{unit} after {int(index.columns[-1]):,} rounds"
        yield at_least(panel.title, what, last(index), CORRECT, words, unit)


def _near(run: Run) -> list[Panel]:
    return [panel for panel in run.results.experiment.panels if roles.is_near(panel)]
