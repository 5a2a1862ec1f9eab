"""One ridge model for all users, explored by Thompson sampling."""

from __future__ import annotations

from typing import Any

import numpy as np

from clubcascade.core import Floats, Ints, Words
from clubcascade.kernels import factors, linear, luck, ranking, triangular
from clubcascade.kernels import ridge as models
from clubcascade.kernels.jit import Struct, StructType, answer, kernel, struct
from clubcascade.kernels.stubs import count_clusters, learn, rank_catalog, rank_items


class ThompsonType(StructType):
    """Type of :class:`Thompson`."""


@struct(ThompsonType)
class Thompson(Struct):
    """One model, the scale of its draws, and the place in the stream of draws.

    ``rule`` = [scale]; ``tally`` = [draws]; ``key`` = the key of the draws.
    """

    ridge: models.Ridge
    rule: Floats
    tally: Ints
    key: Words


@kernel
def make(*fields: Any) -> Thompson:
    """Bind arrays into one structure that the kernels take."""
    return Thompson(*fields)


@kernel
def draw(state: Thompson) -> Floats:
    """Draw weights from the posterior: mean plus ``scale R^-1 z`` where ``M = R' R``."""
    ridge = state.ridge
    d = ridge.moment.shape[1]
    upper = np.empty((d, d))
    linear.add_ridge(ridge.gram[0], ridge.reg[0], upper)
    factors.factor(upper)
    weights = np.empty(d)
    for f in range(d):
        weights[f] = luck.normal(state.key[0], state.tally[0], f)
    triangular.solve_other_half(upper, weights)
    for f in range(d):
        weights[f] = ridge.weights[0, f] + state.rule[0] * weights[f]
    state.tally[0] += 1
    return weights


@answer(rank_catalog, ThompsonType)
def _rank_catalog(state: Any, node: Any, shelf: Any, rows: Any, scores: Any) -> None:
    every = np.arange(shelf.features.shape[0])
    ranking.rank_means(draw(state), shelf.features, every, rows, scores)


@answer(rank_items, ThompsonType)
def _rank_items(state: Any, node: Any, features: Any, offered: Any, rows: Any, scores: Any) -> None:
    ranking.rank_means(draw(state), features, offered, rows, scores)


@answer(learn, ThompsonType)
def _learn(state: Any, node: Any, features: Any, rows: Any, examined: Any, rewards: Any) -> None:
    for p in range(examined):
        models.observe(state.ridge, 0, features[rows[p]], rewards[p])
    models.settle(state.ridge, 0)


@answer(count_clusters, ThompsonType)
def _count_clusters(state: Any) -> Any:
    return 1
