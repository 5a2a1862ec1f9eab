"""CLUB-cascade: a model per connected component, statistics per user, edges that fall away.

Line numbers are those of Algorithm 1 of the paper.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clubcascade.core import Floats, Ints, Words
from clubcascade.kernels import graph as users
from clubcascade.kernels import linear, luck, memory, ranking
from clubcascade.kernels import ridge as models
from clubcascade.kernels.jit import Struct, StructType, answer, kernel, struct
from clubcascade.kernels.shelf import rank_shelf
from clubcascade.kernels.stubs import count_clusters, learn, rank_catalog, rank_items


class ClubType(StructType):
    """Type of :class:`Club`."""


@struct(ClubType)
class Club(Struct):
    """The whole state.

    ``ridge`` has one model per label of ``graph``. Per user: ``weights`` and ``radius`` (0 and 1
    for a user of whom nothing is known), what others compare themselves with, in single precision
    (``by_feature`` for dense graphs: the weights feature by feature; ``by_user`` for sparse ones:
    weights, then the radius), and ``row``, the row of its statistics, -1 before its first
    feedback. Per row: ``gram``, ``moment``, ``count``, and for not too many users ``inverse`` with
    its ``age``. ``rule`` = [alpha, beta, 1 for the 2017 code, then the position discounts, if any];
    ``tally`` = [rows in use, clusters, draws, updates]; ``key`` = the key of the draws;
    ``schedule`` (rows: updates, and the largest alpha after so many); the rest is scratch.
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
    rule: Floats
    tally: Ints
    key: Words
    schedule: Floats
    near: Ints
    gone: Ints
    near_square: Any
    flags: Words
    elimination: Floats


BLOCK = 64
"""Users compared side by side: those of one word of bits."""
SLACK = 1e-4
"""Room for the rounding of single precision, relative to the squares that enter a distance."""


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
def keeps_inverses(state: Club) -> bool:
    """Tell whether every user has an inverse of its own (it costs memory and saves time)."""
    return state.inverse.shape[0] > 0


@kernel
def _publish(state: Club, node: int) -> None:
    """Copy a user's weights to where its neighbours look for them."""
    weights = state.weights[node]
    d = weights.shape[0]
    if state.by_feature.shape[1] > 0:
        for f in range(d):
            state.by_feature[f, node] = weights[f]
    if state.by_user.shape[0] > 0:
        shown = state.by_user[node]
        for f in range(d):
            shown[f] = weights[f]
        shown[d] = state.radius[node]


@kernel
def weigh(state: Club, node: int, row: int) -> None:
    """Line 8 from nothing: the user's own inverse, if kept, and weights."""
    reg = state.ridge.reg[0]
    if keeps_inverses(state):
        linear.invert(state.gram[row], reg, state.ridge.matrix, state.inverse[row])
        linear.times(state.inverse[row], state.moment[row], state.weights[node])
    else:
        linear.ridge_weights(
            state.gram[row], state.moment[row], reg, state.elimination, state.weights[node]
        )
    state.age[row] = 0
    _publish(state, node)


@kernel
def weigh_again(state: Club, links: Any) -> None:
    """Bring users up to date who were alone until a newcomer linked with them."""
    for e in range(links.shape[0]):
        row = state.row[links[e]]
        if row >= 0 and state.graph.degree[links[e]] == 1:
            weigh(state, links[e], row)


@kernel
def _welcome(state: Club, node: int) -> int:
    """Give a user who comes for the first time its row."""
    row = state.tally[0]
    state.tally[0] += 1
    state.row[node] = row
    if keeps_inverses(state):
        for f in range(state.inverse.shape[1]):
            state.inverse[row, f, f] = 1.0 / state.ridge.reg[0]
    return row


@kernel
def _note(state: Club, node: int, row: int, x: Floats, y: float, linked: bool) -> None:
    """Line 8 for one item: the user's statistics; inverse and weights while it has neighbours."""
    d = x.shape[0]
    linear.add_outer(state.gram[row], 1.0, x)
    if y != 0.0:
        moment = state.moment[row]
        for f in range(d):
            moment[f] += y * x[f]
    if linked and keeps_inverses(state):
        moved = state.ridge.work[0]
        weights = state.weights[node]
        linear.times(state.inverse[row], x, moved)
        shrink = 1.0 / (1.0 + linear.dot(x, moved))
        step = (y - linear.dot(weights, x)) * shrink
        linear.add_outer(state.inverse[row], -shrink, moved)
        for f in range(d):
            weights[f] += step * moved[f]
        state.age[row] += 1


@kernel
def _relax(state: Club) -> None:
    """Count an update and lower alpha if the schedule says so; what was deleted stays so."""
    state.tally[3] += 1
    for step in range(state.schedule.shape[0]):
        if state.tally[3] >= state.schedule[step, 0]:
            state.rule[0] = min(state.rule[0], state.schedule[step, 1])


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
def _too_far(state: Club, node: int, other: int) -> bool:
    """Line 10 for one pair of users."""
    total = linear.square_distance(state.weights[node], state.weights[other])
    return math.sqrt(total) >= state.rule[0] * (state.radius[node] + state.radius[other])


@kernel
def _single_precision(state: Club, node: int) -> Any:
    """Return a copy of a user's weights, to be compared with what its neighbours show."""
    weights = state.near_square[1]
    for f in range(state.weights.shape[1]):
        weights[f] = state.weights[node, f]
    return weights


@kernel
def _find_far_neighbours(state: Club, node: int) -> int:
    """Test each neighbour of a user; write those too far away to ``gone``, return how many.

    First in single precision, of which more users fit into a cache line. Its rounding error is
    far below ``SLACK`` times the squares of the distance and of the user's own weights; whoever
    may be too far with that much room is tested exactly.
    """
    by_user, near = state.by_user, state.near
    weights = _single_precision(state, node)
    d = state.weights.shape[1]
    mine = weights[:d]
    alpha, radius = state.rule[0], state.radius[node]
    spare = SLACK * linear.dot(state.weights[node], state.weights[node])
    degree = users.neighbours(state.graph, node, near)
    gone = 0
    for e in range(degree):
        other = near[e]
        if by_user.shape[0] > 0:
            shown = by_user[other]
            total = linear.square_distance(mine, shown)
            bar = alpha * (radius + shown[d])
            if (1.0 + SLACK) * total + spare < bar * bar:
                continue
        if _too_far(state, node, other):
            state.gone[gone] = other
            gone += 1
    return gone


@kernel
def _square_distances(weights: Any, by_feature: Any, start: int, size: int, total: Any) -> None:
    """Squared distances of one user's weights from those of ``size`` users from ``start`` on."""
    d = by_feature.shape[0]
    for j in range(size):
        total[j] = np.float32(0.0)
    for f in range(0, d - 1, 2):
        one, other = weights[f], weights[f + 1]
        ones = by_feature[f, start : start + size]
        others = by_feature[f + 1, start : start + size]
        for j in range(size):
            gap, step = one - ones[j], other - others[j]
            total[j] += gap * gap + step * step
    if d % 2 == 1:
        one = weights[d - 1]
        ones = by_feature[d - 1, start : start + size]
        for j in range(size):
            gap = one - ones[j]
            total[j] += gap * gap


@kernel
def _find_far_users(state: Club, node: int) -> int:
    """Do the same for a user with many neighbours, a word of the graph's bits at a time.

    ``by_feature`` holds the weights feature by feature and in single precision, so that the users
    of one word are compared in one quick loop; whoever may be too far is tested exactly.
    """
    # names for the arrays: through the structure, each would be looked up anew in the loops
    by_feature, radius = state.by_feature, state.radius
    total, flags = state.near_square[0], state.flags
    weights = _single_precision(state, node)
    room = by_feature.shape[1]
    alpha = state.rule[0]
    mine = radius[node]
    spare = SLACK * linear.dot(state.weights[node], state.weights[node])
    gone = 0
    for start in range(0, room, BLOCK):
        word = state.graph.bits[node, start // BLOCK]
        if word == 0:
            continue
        size = min(BLOCK, room - start)
        _square_distances(weights, by_feature, start, size, total)
        radii = radius[start : start + size]
        for j in range(size):
            bar = alpha * (mine + radii[j])
            flags[j] = (1.0 + SLACK) * total[j] + spare >= bar * bar
        hopeful = np.uint64(0)
        for j in range(size):
            hopeful |= flags[j] << np.uint64(j)
        word &= hopeful
        while word != 0:
            other = start + users.trailing(word)
            word &= word - np.uint64(1)
            if _too_far(state, node, other):
                state.gone[gone] = other
                gone += 1
    return gone


@kernel
def _delete_edges(state: Club, node: int) -> None:
    """Line 10: delete the edges to users whose weights are too far away."""
    if users.is_dense(state.graph) and 16 * state.graph.degree[node] > state.by_feature.shape[1]:
        gone = _find_far_users(state, node)
    else:
        gone = _find_far_neighbours(state, node)
    if gone > 0:
        pieces = users.cut(state.graph, node, state.gone, gone)
        if pieces > 0:
            _split(state, node, pieces)


@kernel
def rank_shaken(
    state: Club, ridge: Any, g: int, features: Floats, offered: Any, rows: Any, scores: Floats
) -> None:
    """Rank with each bonus multiplied by its own uniform number, as the 2017 code does."""
    weights, inverse = ridge.weights[g], ridge.inverse[g]
    moved = np.empty(features.shape[1])
    filled = 0
    for j in range(offered.shape[0]):
        x = features[offered[j]]
        linear.times(inverse, x, moved)
        width = math.sqrt(max(linear.dot(x, moved), 0.0))
        shake = luck.uniform(state.key[0], state.tally[2], j)
        score = linear.dot(weights, x) + shake * state.rule[1] * width
        if filled < rows.shape[0] or score > scores[filled - 1]:
            filled = ranking.insert(scores, rows, filled, score, j)
    state.tally[2] += 1


@kernel
def _ask_for_user(state: Club, node: int) -> None:
    """Have a user's statistics and list of neighbours on their way."""
    row = state.row[node]
    if row < 0:
        row = state.tally[0]
    memory.fetch_row(state.gram, row)
    memory.fetch_row(state.moment, row)
    first = state.graph.begin[node]
    for e in range(first, first + state.graph.degree[node], 8):
        memory.fetch_row(state.graph.others, e)
    memory.fetch_row(state.weights, node)
    memory.fetch_row(state.radius, node)


@kernel
def _ask_for_neighbours(state: Club, node: int) -> None:
    """Have the weights of a user's neighbours on their way while there is other work to do."""
    graph = state.graph
    first = graph.begin[node]
    for e in range(graph.degree[node]):
        other = graph.others[first + e]
        memory.fetch_row(state.by_user, other)


@answer(rank_catalog, ClubType)
def _rank_catalog(state: Any, node: Any, shelf: Any, rows: Any, scores: Any) -> None:
    g = state.graph.label[node]
    if not users.is_dense(state.graph):
        _ask_for_user(state, node)
    if state.rule[2] > 0.0:
        every = np.arange(shelf.features.shape[0])
        rank_shaken(state, state.ridge, g, shelf.features, every, rows, scores)
    else:
        rank_shelf(state.ridge, g, state.rule[1], shelf, rows, scores)


@answer(rank_items, ClubType)
def _rank_items(state: Any, node: Any, features: Any, offered: Any, rows: Any, scores: Any) -> None:
    g = state.graph.label[node]
    if state.rule[2] > 0.0:
        rank_shaken(state, state.ridge, g, features, offered, rows, scores)
    else:
        ranking.rank_loose(
            state.ridge.weights[g],
            state.ridge.inverse[g],
            state.rule[1],
            features,
            offered,
            rows,
            scores,
        )


@answer(learn, ClubType)
def _learn(state: Any, node: Any, features: Any, rows: Any, examined: Any, rewards: Any) -> None:
    g = state.graph.label[node]
    row = state.row[node]
    if row < 0:
        row = _welcome(state, node)
    linked = state.graph.degree[node] > 0
    if not users.is_dense(state.graph):
        _ask_for_neighbours(state, node)
    discounts = state.rule[3:]
    for p in range(examined):
        x, y = features[rows[p]], rewards[p]
        if discounts.shape[0] > 0:
            discount = models.discount_at(discounts, p)
            x, y = models.discounted(state.ridge, discount, x), discount * y
        models.observe(state.ridge, g, x, y)
        _note(state, node, row, x, y, linked)
    models.settle(state.ridge, g)
    state.count[row] += examined
    state.radius[node] = radius_of(state.count[row], state.rule[2] > 0.0)
    if linked:
        if not keeps_inverses(state) or state.age[row] >= models.RENEW:
            weigh(state, node, row)
        else:
            if models.is_due(state.age[row]):
                linear.times(state.inverse[row], state.moment[row], state.weights[node])
            _publish(state, node)
        _delete_edges(state, node)
    _relax(state)


@answer(count_clusters, ClubType)
def _count_clusters(state: Any) -> Any:
    return state.tally[1]
