"""One ridge model for all users, explored by Thompson sampling."""

from __future__ import annotations

from typing import Any

import numpy as np

from clubcascade.core import Floats
from clubcascade.kernels import counter_rng, factors, linear, ranking, triangular
from clubcascade.kernels import ridge as models
from clubcascade.kernels.jit import Struct, implements, kernel, struct
from clubcascade.kernels.protocol import (
    count_clusters,
    expect_click,
    learn,
    rank_catalog,
    rank_items,
)


@struct
class Thompson(Struct):
    """One model, the scale of its draws, and the place in the stream of draws.

    ``n_drawn`` counts the draws; ``key`` is the key of their random numbers.
    """

    ridge: models.Ridge
    scale: float
    n_drawn: int
    key: np.uint64


@kernel
def draw(state: Thompson) -> Floats:
    """Draw weights from the posterior: mean plus ``scale R^-1 z`` where ``M = R' R``."""
    ridge = state.ridge
    d = ridge.moment.shape[1]
    upper = np.empty((d, d))
    linear.add_ridge(ridge.gram[0], ridge.reg, upper)
    factors.factor(upper)
    weights = np.empty(d)
    for f in range(d):
        weights[f] = counter_rng.normal(state.key, state.n_drawn, f)
    triangular.solve_other_half(upper, weights)
    for f in range(d):
        weights[f] = ridge.weights[0, f] + state.scale * weights[f]
    state.n_drawn += 1
    return weights


@implements(rank_catalog, Thompson)
def _rank_catalog(state: Any, node: Any, catalog: Any, rows: Any, scores: Any) -> None:
    every = np.arange(catalog.features.shape[0])
    ranking.rank_means(draw(state), catalog.features, every, rows, scores)


@implements(rank_items, Thompson)
def _rank_items(state: Any, node: Any, features: Any, offered: Any, rows: Any, scores: Any) -> None:
    ranking.rank_means(draw(state), features, offered, rows, scores)


@implements(expect_click, Thompson)
def _expect_click(state: Any, node: Any, features: Any, row: Any) -> Any:
    return linear.dot(state.ridge.weights[0], features[row])


@implements(learn, Thompson)
def _learn(state: Any, node: Any, features: Any, rows: Any, examined: Any, rewards: Any) -> None:
    for p in range(examined):
        models.observe(state.ridge, 0, features[rows[p]], rewards[p])
    models.settle(state.ridge, 0)


@implements(count_clusters, Thompson)
def _count_clusters(state: Any) -> Any:
    return 1
