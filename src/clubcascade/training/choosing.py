"""Which features and which weight: those of the best lists on clicks that were held out by time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from clubcascade.core import Floats
from clubcascade.datasets.files import Progress, silent
from clubcascade.features import ClickFeatures, FeatureMaker, TableFeatures, combine
from clubcascade.features.clicks import ClickDirections
from clubcascade.features.log import ClickLog
from clubcascade.kernels.cohort_constants import PRECISIONS
from clubcascade.training.measures import Held, worth
from clubcascade.training.sums import click_sums, estimates, everyone, weighed

LENGTHS = (9, 17, 33)
"""Numbers of features from clicks that are tried."""
WEIGHTS = (1.0, 0.5, 0.2, 0.1, 0.05)
"""Weights of what was not clicked that are tried."""
TABLE_WEIGHTS = (0.0, 0.3)
"""Weights of the features from the table that are tried, if there is one."""
STRENGTHS = (0.25, 0.5, 1.0)
"""What clicks of the log weigh against those on later lists: the least that is good enough."""
GOOD_ENOUGH = 0.998
"""Share of the best NDCG that is. Where all is known (Jester, 30% of the likes as log, lists of two
later), a strength of 1/4 won up to 4% more clicks than 1 in the next 20 lists of a user."""
MOST_USERS = 5000
"""Users by whom settings are compared."""
MOST_STATISTICS = 1e9
"""Bytes that the Gram matrices of all users may take; longer vectors are not tried."""


@dataclass(frozen=True)
class Setting:
    """What was chosen, and the mean NDCG of its lists on the held-out clicks."""

    n_features: int
    weight: float
    table_weight: float
    precision: float
    ndcg: float = float("nan")
    strength: float = 1.0

    def __str__(self) -> str:
        table = f", features from the table with weight {self.table_weight:g}"
        past = f", and past clicks {self.strength:g} times those on later lists"
        return (
            f"{self.n_features} features from clicks{table if self.table_weight else ''}; what was "
            f"not clicked weighs {self.weight:g}{past if self.strength != 1.0 else ''}"
        )


def feature_makers(
    log: ClickLog,
    matrix: sparse.csr_array,
    table: TableFeatures | None,
    lengths: Sequence[int],
    table_weights: Sequence[float],
    seed: int,
) -> Iterator[tuple[int, float, FeatureMaker]]:
    """Yield features of every length, alone and with those of the table."""
    directions = ClickDirections(matrix, max(lengths), seed)
    for n in lengths:
        vectors, share = directions.vectors(n)
        said = [
            f"{len(log):,} clicks of {len(log.users):,} users on {len(log.items):,} items: "
            f"{vectors.shape[1] - 1} directions, {share:.0%} of the variance, and the share of "
            f"clicks"
        ]
        clicks = ClickFeatures(ids=list(log.items), vectors=vectors, said=said)
        if table is None:
            yield n, 0.0, clicks
            continue
        for weight in table_weights:
            yield n, weight, combine(clicks, table, table_weight=weight)


def lengths_for(log: ClickLog, wanted: int | None, more: int = 0) -> tuple[int, ...]:
    """Return the lengths to try: those whose statistics, with ``more`` features, fit memory."""
    if wanted is not None:
        return (wanted,)
    room = np.sqrt(MOST_STATISTICS / 8.0 / max(len(log.users), 1)) - more
    most = min(len(log.items), max(len(log.users), 2))
    fitting = [n for n in LENGTHS if n <= room and n <= most]
    return tuple(fitting) or (max(2, min(LENGTHS[0], most)),)


def choose(
    log: ClickLog,
    held: Held,
    table: TableFeatures | None,
    k: int,
    *,
    lengths: Sequence[int],
    weights: Sequence[float],
    table_weights: Sequence[float],
    strengths: Sequence[float] = (1.0,),
    around_everyone: bool = True,
    seed: int = 0,
    progress: Progress = silent,
) -> Setting:
    """Return the best setting: every user's weights are a ridge estimate from its sums.

    ``around_everyone``: whether they are drawn towards everyone's weights, else towards 0.
    """
    best = Setting(lengths[0], weights[0], table_weights[0] if table else 0.0, PRECISIONS[-1])
    if len(held.users) == 0:
        weight = 0.2 if 0.2 in weights else weights[0]
        return replace(best, weight=weight, strength=strengths[0])
    makers = feature_makers(log, held.before, table, lengths, table_weights, seed)
    total = len(lengths) * (len(table_weights) if table else 1)
    kept: _Sums | None = None
    for step, (n, table_weight, maker) in enumerate(makers, start=1):
        vectors = by_item(maker, log.items)
        parts = click_sums(held.before, vectors, held.users)
        for weight in weights:
            now = _Sums(held, vectors, parts, weight, around_everyone)
            for precision in PRECISIONS[-3:].tolist():  # stronger ones are tried for the best
                found = now.ndcg(precision, k)
                if not found <= best.ndcg * 1.0005:
                    best, kept = Setting(n, weight, table_weight, precision, found), now
        progress("choosing features", step, total)
    return best if kept is None else _weakest(best, kept, strengths, k)


def _weakest(best: Setting, sums: _Sums, strengths: Sequence[float], k: int) -> Setting:
    """Return the setting of least strength that is good enough.

    Sums that weigh half as much are as good as twice the precision. Where the weakest precision is
    the best, more clicks will want a weaker one still: such a strength is too little.
    """
    for strength in sorted(strengths):
        tried = {p: sums.ndcg(p / strength, k) for p in PRECISIONS.tolist()}
        precision = max(tried, key=lambda p: tried[p])
        good = tried[precision] >= GOOD_ENOUGH * best.ndcg and precision > PRECISIONS[-1]
        if good or strength == max(strengths):
            return replace(best, precision=precision, ndcg=tried[precision], strength=strength)
    return best


class _Sums:
    """The sums of held-out users for one weight, and the lists that follow from them."""

    def __init__(
        self,
        held: Held,
        vectors: Floats,
        parts: tuple[Floats, Floats, Floats],
        weight: float,
        around_everyone: bool,
    ) -> None:
        outer, self.moment, number = parts
        self.held, self.vectors = held, vectors
        self.gram, _ = weighed(outer, number, vectors, weight)
        self.mean: Floats = np.zeros(vectors.shape[1])
        if around_everyone:
            whole, moments = everyone(held.before, vectors, weight)
            self.mean = estimates(whole, moments, self.mean, 1.0)

    def ndcg(self, precision: float, k: int) -> float:
        """Return the mean NDCG of lists from ridge estimates with a prior precision."""
        own = estimates(self.gram, self.moment, self.mean, precision)
        return worth(self.held, self.held.scores(own, self.vectors), k).mean("ndcg")


def by_item(maker: FeatureMaker, items: Sequence[object]) -> Floats:
    """Return the vectors of a maker in the order of the items."""
    place = {each: row for row, each in enumerate(maker.ids)}
    return maker.vectors[[place[each] for each in items]]
