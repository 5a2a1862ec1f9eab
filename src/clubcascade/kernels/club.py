"""CLUB-cascade: a model per connected component, statistics per user, edges that fall away.

Line numbers are those of Algorithm 1 of the paper.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clubcascade.core import Floats, Ints, Words
from clubcascade.kernels import graph as users
from clubcascade.kernels import linear, luck, ranking
from clubcascade.kernels import ridge as models
from clubcascade.kernels.jit import Struct, StructType, answer, kernel, struct
from clubcascade.kernels.stubs import count_clusters, learn, rank_catalog, rank_items


class ClubType(StructType):
    """Type of :class:`Club`."""


@struct(ClubType)
class Club(Struct):
    """The whole state.

    ``ridge`` has one model per label of ``graph``. ``row`` gives each user's row in the
    statistics ``gram`` (packed), ``moment``, ``weights``, ``count`` and ``radius``, -1 before its
    first feedback. ``rule`` = [alpha, beta, 1 for the 2017 code]; ``tally`` = [rows in use,
    clusters, draws]; ``key`` = the key of the draws; ``near`` and ``gone`` are scratch.
    """

    ridge: models.Ridge
    graph: users.Graph
    row: Ints
    gram: Floats
    moment: Floats
    weights: Floats
    count: Ints
    radius: Floats
    rule: Floats
    tally: Ints
    key: Words
    near: Ints
    gone: Ints


@kernel
def make(*fields: Any) -> Club:
    """Bind arrays into one structure that the kernels take."""
    return Club(*fields)


@kernel
def radius_of(count: int, code2017: bool) -> float:
    """Shrinking part of the deletion threshold (line 10), as printed or as the 2017 code has it."""
    total = 1.0 + math.log(1.0 + count)
    if code2017:
        return math.sqrt(total) / (1.0 + count)
    return math.sqrt(total / (1.0 + count))


@kernel
def _distance(weights: Floats, a: int, b: int) -> float:
    """Distance of two users' weights; row -1 is a user of whom nothing is known."""
    total = 0.0
    for f in range(weights.shape[1]):
        gap = weights[a, f] - (weights[b, f] if b >= 0 else 0.0)
        total += gap * gap
    return math.sqrt(total)


@kernel
def weigh(state: Club, row: int) -> None:
    """Line 8: the user's own weights. Kept up to date only while the user has neighbours."""
    linear.ridge_weights(
        state.gram[row],
        state.moment[row],
        state.ridge.reg[0],
        state.ridge.matrix,
        state.weights[row],
    )


@kernel
def weigh_again(state: Club, links: Any) -> None:
    """Bring users up to date who were alone until a newcomer linked with them."""
    for e in range(links.shape[0]):
        row = state.row[links[e]]
        if row >= 0 and state.graph.degree[links[e]] == 1:
            weigh(state, row)


@kernel
def _split(state: Club, node: int, pieces: int) -> None:
    """Give every piece that a cut split off its own model; the rest keeps what remains."""
    graph = state.graph
    ridge = state.ridge
    whole = -1
    first = 0
    for p in range(pieces):
        label = graph.piece[p, 0]
        end = graph.piece[p, 1]
        models.clear(ridge, label)
        for e in range(first, end):
            row = state.row[graph.moved[e]]
            if row >= 0:
                models.add(ridge, label, state.gram[row], state.moment[row], state.count[row], 1.0)
        first = end
    for p in range(pieces):
        label = graph.piece[p, 0]
        whole = graph.piece[p, 2]
        models.add(ridge, whole, ridge.gram[label], ridge.moment[label], ridge.count[label], -1.0)
        models.renew(ridge, label)
    if graph.size[whole] == 1:
        models.clear(ridge, whole)
        row = state.row[graph.tally[3]]
        if row >= 0:
            models.add(ridge, whole, state.gram[row], state.moment[row], state.count[row], 1.0)
    models.renew(ridge, whole)
    state.tally[1] += pieces


@kernel
def _delete_edges(state: Club, node: int, row: int) -> None:
    """Line 10: delete the edges to users whose weights are too far away."""
    alpha = state.rule[0]
    degree = users.neighbours(state.graph, node, state.near)
    gone = 0
    for e in range(degree):
        other = state.near[e]
        its_row = state.row[other]
        its_radius = state.radius[its_row] if its_row >= 0 else 1.0
        bar = alpha * (state.radius[row] + its_radius)
        if _distance(state.weights, row, its_row) >= bar:
            state.gone[gone] = other
            gone += 1
    if gone > 0:
        pieces = users.cut(state.graph, node, state.gone, gone)
        if pieces > 0:
            _split(state, node, pieces)


@kernel
def rank_shaken(state: Club, ridge: Any, g: int, items: Floats, rows: Any, scores: Floats) -> None:
    """Rank with each bonus multiplied by its own uniform number, as the 2017 code does."""
    n = items.shape[0]
    mean = np.empty(n)
    width = np.empty(n)
    ranking.score_items(ridge.weights[g], ridge.inverse[g], items, mean, width)
    for j in range(n):
        shake = luck.uniform(state.key[0], state.tally[2], j)
        mean[j] += shake * state.rule[1] * width[j]
    state.tally[2] += 1
    ranking.rank_scores(mean, rows, scores)


@answer(rank_catalog, ClubType)
def _rank_catalog(state: Any, node: Any, shelf: Any, rows: Any, scores: Any) -> None:
    g = state.graph.label[node]
    if state.rule[2] > 0.0:
        rank_shaken(state, state.ridge, g, shelf.features, rows, scores)
    else:
        ranking.rank_shelf(state.ridge, g, state.rule[1], shelf, rows, scores)


@answer(rank_items, ClubType)
def _rank_items(state: Any, node: Any, items: Any, rows: Any, scores: Any) -> None:
    g = state.graph.label[node]
    if state.rule[2] > 0.0:
        rank_shaken(state, state.ridge, g, items, rows, scores)
    else:
        ranking.rank_loose(
            state.ridge.weights[g],
            state.ridge.inverse[g],
            state.rule[1],
            items,
            rows,
            scores,
        )


@answer(learn, ClubType)
def _learn(state: Any, node: Any, features: Any, rows: Any, examined: Any, rewards: Any) -> None:
    g = state.graph.label[node]
    row = state.row[node]
    if row < 0:
        row = state.tally[0]
        state.row[node] = row
        state.tally[0] += 1
    d = features.shape[1]
    models.begin(state.ridge)
    for p in range(examined):
        x = features[rows[p]]
        models.observe(state.ridge, g, x, rewards[p])
        if rewards[p] != 0.0:
            for f in range(d):
                state.moment[row, f] += rewards[p] * x[f]
    models.settle(state.ridge, g)
    state.gram[row] += state.ridge.step
    state.count[row] += examined
    state.radius[row] = radius_of(state.count[row], state.rule[2] > 0.0)
    if state.graph.degree[node] > 0:
        weigh(state, row)
        _delete_edges(state, node, row)


@answer(count_clusters, ClubType)
def _count_clusters(state: Any) -> Any:
    return state.tally[1]
