"""CLUB-cascade: a ridge model per connected component, statistics per user, edge deletion.

Line numbers are those of Algorithm 1 of the paper.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clubcascade.core import Floats, Ints, Words
from clubcascade.kernels import edge_deletion, linear, prefetch, ranking, user_ridge
from clubcascade.kernels import graph as users
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
from clubcascade.kernels.random_lists import draw_list
from clubcascade.kernels.ranking_2017 import rank_2017


@struct
class Club(Struct):
    """The whole state.

    ``ridge`` has one model per label of ``graph``. Per user: ``weights`` and ``radius`` (0 and 1
    without observations), copies of them in single precision for comparisons (``by_feature`` for
    dense graphs: the weights feature by feature; ``by_user`` for sparse ones: weights, then the
    radius, 0 for 1), for dense graphs bounds per block of users (``largest_norm`` of their weights
    so far, ``smallest_radius``), and ``row``, the row of its statistics, -1 before its first
    feedback. Per row: ``gram`` (S), ``moment`` (b), ``count`` (T), and for not too many users
    ``inverse`` with its ``age``; ``n_rows`` are in use. ``discounts`` of positions (empty: none);
    ``code2017`` for the ranking and the threshold of the 2017 code; ``n_random`` rounds at the
    start have random lists; ``key`` is the key of the random numbers of both. The rest is scratch.
    """

    ridge: models.Ridge
    graph: users.Graph
    row: Ints
    gram: Floats
    moment: Floats
    count: Ints
    inverse: Floats
    age: Ints
    weights: Floats
    radius: Floats
    by_feature: Any
    by_user: Any
    largest_norm: Floats
    smallest_radius: Floats
    discounts: Floats
    alpha: float
    beta: float
    code2017: bool
    n_random: int
    n_rows: int
    n_clusters: int
    n_drawn: int
    n_updates: int
    key: np.uint64
    neighbours: Ints
    deleted: Ints
    distance_work: Any
    weights_work: Any
    flags: Words
    elimination_work: Floats


@kernel
def _split(state: Club, node: int, pieces: int) -> None:
    """Give every component that a cut split off its own model; the rest keeps what remains."""
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
        row = state.row[graph.anchor]
        if row >= 0:
            models.add(ridge, whole, state.gram[row], state.moment[row], state.count[row], 1.0)
    models.renew(ridge, whole)
    state.n_clusters += pieces


@kernel
def join(state: Club, node: int, links: Ints) -> None:
    """Let a new user in: edges, the model of its component, weights of users isolated until now."""
    graph, ridge = state.graph, state.ridge
    merged = users.join(graph, node, links)
    label = graph.label[node]
    state.row[node], state.radius[node] = -1, 1.0
    if graph.size[label] == 1:
        models.clear(ridge, label)
        state.n_clusters += 1
    for e in range(merged):
        g = graph.moved[e]
        models.add(ridge, label, ridge.gram[g], ridge.moment[g], ridge.count[g], 1.0)
    if merged > 0:
        models.renew(ridge, label)
    state.n_clusters -= merged
    user_ridge.refresh_weights(state, links)


@kernel
def _delete_edges(state: Club, node: int) -> None:
    """Line 10: delete the edges (i, l) with ``|w_i - w_l| >= alpha (radius_i + radius_l)``."""
    pieces = edge_deletion.delete_far_edges(state, node)
    if pieces > 0:
        _split(state, node, pieces)


@kernel
def _prefetch_user(state: Club, node: int) -> None:
    """Prefetch a user's statistics and list of neighbours."""
    row = state.row[node]
    if row < 0:
        row = state.n_rows
    prefetch.prefetch_row(state.gram, row)
    prefetch.prefetch_row(state.moment, row)
    first = state.graph.begin[node]
    for e in range(first, first + state.graph.degree[node], 8):
        prefetch.prefetch_row(state.graph.others, e)
    prefetch.prefetch_row(state.weights, node)
    prefetch.prefetch_row(state.radius, node)


@kernel
def _prefetch_neighbours(state: Club, node: int) -> None:
    """Prefetch the weights of a user's neighbours."""
    graph = state.graph
    first = graph.begin[node]
    for e in range(graph.degree[node]):
        other = graph.others[first + e]
        prefetch.prefetch_row(state.by_user, other)


@implements(rank_catalog, Club)
def _rank_catalog(state: Any, node: Any, catalog: Any, rows: Any, scores: Any) -> None:
    g = state.graph.label[node]
    if not users.is_dense(state.graph):
        _prefetch_user(state, node)
    if state.n_updates < state.n_random:
        draw_list(state, catalog.features.shape[0], rows, scores)
    elif state.code2017:
        every = np.arange(catalog.features.shape[0])
        rank_2017(state, state.ridge, g, catalog.features, every, rows, scores)
    else:
        rank_lazily(state.ridge, g, state.beta, catalog, rows, scores)


@implements(rank_items, Club)
def _rank_items(state: Any, node: Any, features: Any, offered: Any, rows: Any, scores: Any) -> None:
    g = state.graph.label[node]
    if state.n_updates < state.n_random:
        draw_list(state, offered.shape[0], rows, scores)
    elif state.code2017:
        rank_2017(state, state.ridge, g, features, offered, rows, scores)
    else:
        ranking.rank_fully(
            state.ridge.weights[g],
            state.ridge.inverse[g],
            state.beta,
            features,
            offered,
            rows,
            scores,
        )


@implements(expect_click, Club)
def _expect_click(state: Any, node: Any, features: Any, row: Any) -> Any:
    return linear.dot(state.ridge.weights[state.graph.label[node]], features[row])


@implements(learn, Club)
def _learn(state: Any, node: Any, features: Any, rows: Any, examined: Any, rewards: Any) -> None:
    g = state.graph.label[node]
    row = state.row[node]
    if row < 0:
        row = user_ridge.add_user(state, node)
    linked = state.graph.degree[node] > 0
    if not users.is_dense(state.graph):
        _prefetch_neighbours(state, node)
    discounts = state.discounts
    for p in range(examined):
        x, y = features[rows[p]], rewards[p]
        if discounts.shape[0] > 0:
            discount = models.discount_at(discounts, p)
            x, y = models.discounted(state.ridge, discount, x), discount * y
        models.observe(state.ridge, g, x, y)
        user_ridge.observe(state, node, row, x, y, linked)
    models.settle(state.ridge, g)
    state.count[row] += examined
    state.radius[node] = edge_deletion.radius_of(state.count[row], state.code2017)
    if linked:
        if not user_ridge.keeps_inverses(state) or state.age[row] >= models.RENEW:
            user_ridge.solve_weights(state, node, row)
        else:
            if models.is_due(state.age[row]):
                linear.times(state.inverse[row], state.moment[row], state.weights[node])
            edge_deletion.publish(state, node)
        _delete_edges(state, node)
    state.n_updates += 1


@implements(count_clusters, Club)
def _count_clusters(state: Any) -> Any:
    return state.n_clusters
