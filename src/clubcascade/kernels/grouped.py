"""Ridge models over a fixed partition of the users: one for all, one each, or known clusters."""

from __future__ import annotations

import math
from typing import Any

from clubcascade.core import Floats, Ints
from clubcascade.kernels import linear, ranking
from clubcascade.kernels import ridge as models
from clubcascade.kernels.jit import Struct, implements, kernel, struct
from clubcascade.kernels.lazy_topk import rank_lazily
from clubcascade.kernels.protocol import (
    count_clusters,
    expect_click,
    learn,
    rank_catalog,
    rank_items,
)


@struct
class Grouped(Struct):
    """Models, the model of each user, the position discounts (empty: none), and the radius.

    With ``noise`` above 0 the confidence radius grows with the model's log-determinant and holds
    with probability ``1 - delta``; otherwise it is the constant ``beta``.
    """

    ridge: models.Ridge
    group: Ints
    discounts: Floats
    beta: float
    noise: float
    delta: float
    n_clusters: int


@kernel
def confidence_radius(ridge: Any, g: int, beta: float, noise: float, delta: float) -> float:
    """Radius of the confidence set of model ``g``."""
    if noise <= 0.0:
        return beta
    d = ridge.moment.shape[1]
    spread = ridge.log_det[g] - d * math.log(ridge.reg) - 2.0 * math.log(delta)
    return noise * math.sqrt(max(spread, 0.0)) + math.sqrt(ridge.reg)


@implements(rank_catalog, Grouped)
def _rank_catalog(state: Any, node: Any, catalog: Any, rows: Any, scores: Any) -> None:
    g = state.group[node]
    radius = confidence_radius(state.ridge, g, state.beta, state.noise, state.delta)
    rank_lazily(state.ridge, g, radius, catalog, rows, scores)


@implements(rank_items, Grouped)
def _rank_items(state: Any, node: Any, features: Any, offered: Any, rows: Any, scores: Any) -> None:
    g = state.group[node]
    radius = confidence_radius(state.ridge, g, state.beta, state.noise, state.delta)
    weights, inverse = state.ridge.weights[g], state.ridge.inverse[g]
    ranking.rank_fully(weights, inverse, radius, features, offered, rows, scores)


@implements(expect_click, Grouped)
def _expect_click(state: Any, node: Any, features: Any, row: Any) -> Any:
    return linear.dot(state.ridge.weights[state.group[node]], features[row])


@implements(learn, Grouped)
def _learn(state: Any, node: Any, features: Any, rows: Any, examined: Any, rewards: Any) -> None:
    g = state.group[node]
    if state.discounts.shape[0] > 0:
        for p in range(examined):
            discount = models.discount_at(state.discounts, p)
            x = models.discounted(state.ridge, discount, features[rows[p]])
            models.observe(state.ridge, g, x, discount * rewards[p])
    else:
        for p in range(examined):
            models.observe(state.ridge, g, features[rows[p]], rewards[p])
    models.settle(state.ridge, g)


@implements(count_clusters, Grouped)
def _count_clusters(state: Any) -> Any:
    return state.n_clusters
