"""Generalized linear models over a fixed partition of the users: one, one each, known clusters."""

from __future__ import annotations

from typing import Any

from clubcascade.core import Ints
from clubcascade.kernels import glm, likelihood, linear, links, ranking, samples
from clubcascade.kernels import ridge as models
from clubcascade.kernels.jit import Struct, implements, struct
from clubcascade.kernels.lazy_topk import rank_lazily
from clubcascade.kernels.protocol import (
    count_clusters,
    expect_click,
    learn,
    rank_catalog,
    rank_items,
)


@struct
class GLMGrouped(Struct):
    """Models (``ridge`` and ``fit`` share their weights) and the model of each user."""

    ridge: models.Ridge
    fit: likelihood.Likelihood
    store: samples.DistinctItems
    link: links.CompiledLink
    group: Ints
    beta: float
    n_clusters: int


@implements(rank_catalog, GLMGrouped)
def _rank_catalog(state: Any, node: Any, catalog: Any, rows: Any, scores: Any) -> None:
    rank_lazily(state.ridge, state.group[node], state.beta, catalog, rows, scores)


@implements(rank_items, GLMGrouped)
def _rank_items(state: Any, node: Any, features: Any, offered: Any, rows: Any, scores: Any) -> None:
    g = state.group[node]
    weights, inverse = state.ridge.weights[g], state.ridge.inverse[g]
    ranking.rank_fully(weights, inverse, state.beta, features, offered, rows, scores)


@implements(expect_click, GLMGrouped)
def _expect_click(state: Any, node: Any, features: Any, row: Any) -> Any:
    z = linear.dot(state.ridge.weights[state.group[node]], features[row])
    return links.at(state.link, z)[0]


@implements(learn, GLMGrouped)
def _learn(state: Any, node: Any, features: Any, rows: Any, examined: Any, rewards: Any) -> None:
    g = state.group[node]
    glm.learn_model(
        state.ridge, state.fit, g, state.store, state.link, features, rows, rewards, examined
    )


@implements(count_clusters, GLMGrouped)
def _count_clusters(state: Any) -> Any:
    return state.n_clusters
