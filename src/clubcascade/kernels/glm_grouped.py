"""Generalized linear models over a fixed partition of the users: one, one each, known clusters."""

from __future__ import annotations

from typing import Any

from clubcascade.core import Floats, Ints
from clubcascade.kernels import glm, likelihood, links, ranking, samples
from clubcascade.kernels import ridge as models
from clubcascade.kernels.jit import Struct, StructType, answer, kernel, struct
from clubcascade.kernels.shelf import rank_shelf
from clubcascade.kernels.stubs import count_clusters, learn, rank_catalog, rank_items


class GLMGroupedType(StructType):
    """Type of :class:`GLMGrouped`."""


@struct(GLMGroupedType)
class GLMGrouped(Struct):
    """Models (``ridge`` and ``fit`` share their weights) and the model of each user.

    ``rule`` = [beta]; ``tally`` = [number of clusters].
    """

    ridge: models.Ridge
    fit: likelihood.Likelihood
    store: samples.Store
    link: links.Link
    group: Ints
    rule: Floats
    tally: Ints


@kernel
def make(*fields: Any) -> GLMGrouped:
    """Bind arrays into one structure that the kernels take."""
    return GLMGrouped(*fields)


@answer(rank_catalog, GLMGroupedType)
def _rank_catalog(state: Any, node: Any, shelf: Any, rows: Any, scores: Any) -> None:
    rank_shelf(state.ridge, state.group[node], state.rule[0], shelf, rows, scores)


@answer(rank_items, GLMGroupedType)
def _rank_items(state: Any, node: Any, features: Any, offered: Any, rows: Any, scores: Any) -> None:
    g = state.group[node]
    weights, inverse = state.ridge.weights[g], state.ridge.inverse[g]
    ranking.rank_loose(weights, inverse, state.rule[0], features, offered, rows, scores)


@answer(learn, GLMGroupedType)
def _learn(state: Any, node: Any, features: Any, rows: Any, examined: Any, rewards: Any) -> None:
    g = state.group[node]
    glm.learn_model(
        state.ridge, state.fit, g, state.store, state.link, features, rows, rewards, examined
    )


@answer(count_clusters, GLMGroupedType)
def _count_clusters(state: Any) -> Any:
    return state.tally[0]
