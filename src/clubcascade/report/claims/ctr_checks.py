"""Checks for the sentences about click-through over time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from clubcascade.experiment.config import Panel
from clubcascade.report.claims import roles
from clubcascade.report.claims.claim import Evidence
from clubcascade.report.claims.compare import EARLY, better, compared, larger_advantage, later
from clubcascade.report.claims.series import (
    NOTHING,
    Seeds,
    advantage,
    both,
    last,
    round_at,
    rounds_until_ahead,
    shared,
    table,
)
from clubcascade.report.claims.verdicts import of_difference
from clubcascade.report.folders import Run
from clubcascade.report.paired import difference
from clubcascade.report.truth import ceiling_of


def two_sets(run: Run) -> Iterator[tuple[Panel, Panel]]:
    """Yield the MovieLens panels beside the Yelp panels of the same size."""
    panels = run.results.experiment.panels
    movies = [panel for panel in panels if roles.data_set(panel) == "movielens"]
    places = [panel for panel in panels if roles.data_set(panel) == "yelp"]
    yield from roles.pairs(movies, places, ["n_users", "n_items"])


def movielens_takes_longer(run: Run) -> Iterator[Evidence]:
    """Check that an obvious advantage takes longer on MovieLens than on Yelp."""
    for movies, places in two_sets(run):
        for mine, other in roles.rivals(run, movies):
            a, b = (rounds_until_ahead(run, panel, mine, other) for panel in (movies, places))
            yield from later((movies, a), (places, b), other.label)


def movielens_is_denser(run: Run) -> Iterator[Evidence]:
    """Check that MovieLens is denser than Yelp, and that its users are more alike."""
    for movies, places in two_sets(run):
        yield from compared(
            f"{movies.title} against {places.title}",
            "clicks per round on random lists: how dense the matrix is",
            ("first panel", _density(run, movies)),
            ("second panel", _density(run, places)),
            wanted=1,
            measure="ctr",
        )
    yield from movielens_users_are_alike(run)


def movielens_users_are_alike(run: Run) -> Iterator[Evidence]:
    """Check that one model for all reaches more of the oracle's clicks on MovieLens."""
    for movies, places in two_sets(run):
        tops = [ceiling_of(run.results, panel.title) for panel in (movies, places)]
        if not tops[0] or not tops[1]:
            continue
        for other in roles.theirs(run, movies):
            a, b = (last(table(run, panel, other, "ctr")) for panel in (movies, places))
            yield from compared(
                f"{movies.title} against {places.title}",
                f"share of the oracle's clicks that {other.label} reaches",
                ("first panel", a / tops[0]),
                ("second panel", b / tops[1]),
                wanted=1,
                measure="ctr",
            )


def temporary_advantage(run: Run) -> Iterator[Evidence]:
    """Check that theirs are ahead on MovieLens at first, and behind at last."""
    for panel in run.results.experiment.panels:
        if roles.data_set(panel) == "movielens":
            for mine, other in roles.rivals(run, panel):
                yield from better(run, panel, other, mine, share=EARLY, measure="ctr")
                yield from better(run, panel, mine, other, measure="ctr")


def starts_low(run: Run) -> Iterator[Evidence]:
    """Check that CLUB-cascade starts with fewer clicks per round than it ends with."""
    for panel in run.results.experiment.panels:
        mine = roles.ours(run, panel)
        if mine is None:
            continue
        clicks = table(run, panel, mine, "ctr")
        if clicks.empty:
            continue
        t, end = round_at(clicks, EARLY), int(clicks.columns[-1])
        yield from compared(
            panel.title,
            f"CTR of {mine.label}",
            (f"after {t:,} rounds", clicks[t]),
            (f"after {end:,}", clicks[end]),
            wanted=-1,
            measure="ctr",
        )


def keeps_growing(run: Run) -> Iterator[Evidence]:
    """Check that CLUB-cascade's clicks per round grow more than theirs over the second half."""
    for panel in run.results.experiment.panels:
        for mine, other in roles.rivals(run, panel):
            a, b = both(run, panel, mine, other, "ctr")
            if a.empty:
                continue
            t, end = round_at(a, 0.5), int(a.columns[-1])
            x, y = shared(a[end] - a[t], b[end] - b[t])
            yield Evidence(
                panel.title,
                f"growth of CTR from round {t:,} to {end:,}",
                f"{mine.label} {np.mean(x):+.4f}, {other.label} {np.mean(y):+.4f}",
                of_difference(difference(x, y), wanted=1),
                float(np.mean(x) - np.mean(y)),
                "difference",
            )


def sparser_is_better(run: Run) -> Iterator[Evidence]:
    """Check that the advantage over theirs is larger on the sparser of the two data sets."""
    for pair in two_sets(run):
        clicks = [_density(run, panel).mean() for panel in pair]
        if np.isnan(clicks).any():
            continue
        sparse, dense = pair if clicks[0] < clicks[1] else pair[::-1]
        for mine, other in roles.rivals(run, sparse):
            a, b = (advantage(run, panel, mine, other, "ctr") for panel in (sparse, dense))
            yield from larger_advantage((sparse, a), (dense, b), other.label)


def _density(run: Run, panel: Panel) -> Seeds:
    """Return, per seed, the clicks per round on random lists."""
    policy = roles.random_lists(run, panel)
    return NOTHING if policy is None else last(table(run, panel, policy, "ctr"))
