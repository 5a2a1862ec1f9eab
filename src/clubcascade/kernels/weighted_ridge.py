"""Weighted ridge regression for all users: a click weighs one over a bound on its variance."""

from __future__ import annotations

import math
from typing import Any

from clubcascade.core import Floats
from clubcascade.kernels import linear, ranking
from clubcascade.kernels import ridge as models
from clubcascade.kernels.grouped import confidence_radius
from clubcascade.kernels.jit import Struct, implements, kernel, struct
from clubcascade.kernels.lazy_topk import rank_lazily
from clubcascade.kernels.protocol import (
    count_clusters,
    expect_click,
    learn,
    rank_catalog,
    rank_items,
)

WEIGHTED, PLAIN = 0, 1


@struct
class WeightedRidge(Struct):
    """The weighted model that ranks, and the plain one that bounds variances.

    With ``noise`` above 0 both radii are those of the theory; otherwise both are ``beta``.
    ``longest`` is the length of the longest list so far, at least 1.
    """

    ridge: models.Ridge
    beta: float
    noise: float
    delta: float
    longest: int


@kernel
def bernstein_radius(ridge: Any, beta: float, noise: float, delta: float, longest: int) -> float:
    """Radius of the weighted model, for weights of at most ``longest`` and n observations.

    8 sqrt(d ln(1 + n longest / (d reg)) ln(4 n^2 / delta)) + 4 sqrt(longest) ln(4 n^2 / delta)
    + sqrt(reg)
    """
    if noise <= 0.0:
        return beta
    d, n = ridge.moment.shape[1], float(ridge.count[WEIGHTED])
    if n == 0.0:
        return math.sqrt(ridge.reg)
    level = math.log(4.0) + 2.0 * math.log(n) - math.log(delta)
    spread = d * math.log1p(n * longest / (d * ridge.reg))
    bounded = 8.0 * math.sqrt(spread * level) + 4.0 * math.sqrt(longest) * level
    return bounded + math.sqrt(ridge.reg)


@kernel
def variance_bound(ridge: Any, radius: float, x: Floats, k: int) -> float:
    """Upper confidence bound of a click's probability, and so of its variance, within [1/k, 1]."""
    direction = ridge.direction_work
    linear.times(ridge.inverse[PLAIN], x, direction)
    width = math.sqrt(max(linear.dot(x, direction), 0.0))
    bound = linear.dot(ridge.weights[PLAIN], x) + radius * width
    return min(max(bound, 1.0 / k), 1.0)


@implements(rank_catalog, WeightedRidge)
def _rank_catalog(state: Any, node: Any, catalog: Any, rows: Any, scores: Any) -> None:
    radius = bernstein_radius(state.ridge, state.beta, state.noise, state.delta, state.longest)
    rank_lazily(state.ridge, WEIGHTED, radius, catalog, rows, scores)


@implements(rank_items, WeightedRidge)
def _rank_items(state: Any, node: Any, features: Any, offered: Any, rows: Any, scores: Any) -> None:
    radius = bernstein_radius(state.ridge, state.beta, state.noise, state.delta, state.longest)
    weights, inverse = state.ridge.weights[WEIGHTED], state.ridge.inverse[WEIGHTED]
    ranking.rank_fully(weights, inverse, radius, features, offered, rows, scores)


@implements(expect_click, WeightedRidge)
def _expect_click(state: Any, node: Any, features: Any, row: Any) -> Any:
    return linear.dot(state.ridge.weights[WEIGHTED], features[row])


@implements(learn, WeightedRidge)
def _learn(state: Any, node: Any, features: Any, rows: Any, examined: Any, rewards: Any) -> None:
    ridge, k = state.ridge, rows.shape[0]
    state.longest = max(state.longest, k)
    radius = confidence_radius(ridge, PLAIN, state.beta, state.noise, state.delta)
    for p in range(examined):  # the plain model is that of before the list
        x = features[rows[p]]
        scale = 1.0 / math.sqrt(variance_bound(ridge, radius, x, k))
        scaled = models.discounted(ridge, scale, x)
        models.observe(ridge, WEIGHTED, scaled, scale * rewards[p])
    for p in range(examined):
        models.observe(ridge, PLAIN, features[rows[p]], rewards[p])
    models.settle(ridge, WEIGHTED)
    models.settle(ridge, PLAIN)


@implements(count_clusters, WeightedRidge)
def _count_clusters(state: Any) -> Any:
    return 1
