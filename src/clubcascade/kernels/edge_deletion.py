"""Line 10: compare a user with its neighbours and delete the edges to those too far away.

The state has ``graph``, ``weights``, ``radius``, ``by_feature``, ``by_user``, ``largest_norm``,
``smallest_radius``, ``alpha`` and the scratch ``neighbours``, ``deleted``, ``distance_work``,
``weights_work`` and ``flags``: see :class:`clubcascade.kernels.club.Club`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clubcascade.kernels import graph as users
from clubcascade.kernels import linear
from clubcascade.kernels.jit import kernel

BLOCK = 64
"""Users compared side by side: those of one word of bits."""
TOLERANCE = 1e-4
"""Tolerance for rounding in single precision, relative to the squares of a distance."""


@kernel
def radius_of(count: int, code2017: bool) -> float:
    """Shrinking part of the deletion threshold (line 10), as printed or as the 2017 code has it."""
    total = 1.0 + math.log(1.0 + count)
    if code2017:
        return math.sqrt(total) / (1.0 + count)
    return math.sqrt(total / (1.0 + count))


@kernel
def publish(state: Any, node: int) -> None:
    """Copy a user's weights and radius to the arrays of single precision."""
    weights = state.weights[node]
    d = weights.shape[0]
    if state.by_feature.shape[1] > 0:
        for f in range(d):
            state.by_feature[f, node] = weights[f]
        block, norm = node // BLOCK, math.sqrt(linear.dot(weights, weights))
        if not norm <= state.largest_norm[block]:
            state.largest_norm[block] = norm
        state.smallest_radius[block] = min(state.smallest_radius[block], state.radius[node])
    if state.by_user.shape[0] > 0:
        shown = state.by_user[node]
        for f in range(d):
            shown[f] = weights[f]
        shown[d] = state.radius[node]


@kernel
def _too_far(state: Any, node: int, other: int) -> bool:
    """Line 10 for one pair of users."""
    total = linear.square_distance(state.weights[node], state.weights[other])
    return math.sqrt(total) >= state.alpha * (state.radius[node] + state.radius[other])


@kernel
def _single_precision(state: Any, node: int) -> Any:
    """Return a copy of a user's weights in single precision."""
    weights = state.weights_work
    for f in range(state.weights.shape[1]):
        weights[f] = state.weights[node, f]
    return weights


@kernel
def _find_far_neighbours(state: Any, node: int) -> int:
    """Test each neighbour of a user; write those too far away to ``deleted``, return how many.

    First in single precision, of which more users fit into a cache line. Its rounding error is
    far below ``TOLERANCE`` times the squares of the distance and of the user's own weights; who may
    be too far within that tolerance is tested in double precision.
    """
    by_user, neighbours = state.by_user, state.neighbours
    weights = _single_precision(state, node)
    d = state.weights.shape[1]
    mine = weights[:d]
    alpha, radius = state.alpha, state.radius[node]
    error = TOLERANCE * linear.dot(state.weights[node], state.weights[node])
    degree = users.neighbours(state.graph, node, neighbours)
    deleted = 0
    for e in range(degree):
        other = neighbours[e]
        if by_user.shape[0] > 0:
            shown = by_user[other]
            total = linear.square_distance(mine, shown)
            threshold = alpha * (radius + (shown[d] if shown[d] > 0.0 else np.float32(1.0)))
            if (1.0 + TOLERANCE) * total + error < threshold * threshold:
                continue
        if _too_far(state, node, other):
            state.deleted[deleted] = other
            deleted += 1
    return deleted


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
def _find_far_users(state: Any, node: int) -> int:
    """Do the same for a user with many neighbours, a word of the graph's bits at a time.

    ``by_feature`` holds the weights feature by feature and in single precision, so that the users
    of one word are compared in one vector loop; who may be too far is tested in double precision.
    A block is left out where nobody can be too far, as ``|w_i - w_l| <= |w_i| + |w_l|``.
    """
    # names for the arrays: through the structure, each would be looked up anew in the loops
    by_feature, radius = state.by_feature, state.radius
    total, flags = state.distance_work, state.flags
    largest_norm, smallest_radius = state.largest_norm, state.smallest_radius
    weights = _single_precision(state, node)
    room = by_feature.shape[1]
    alpha = state.alpha
    mine = radius[node]
    square = linear.dot(state.weights[node], state.weights[node])
    norm, error = math.sqrt(square), TOLERANCE * square
    deleted = 0
    for start in range(0, room, BLOCK):
        block = start // BLOCK
        farthest = (1.0 + TOLERANCE) * (norm + largest_norm[block])
        if farthest < alpha * (mine + smallest_radius[block]):
            continue
        word = state.graph.bits[node, block]
        if word == 0:
            continue
        size = min(BLOCK, room - start)
        _square_distances(weights, by_feature, start, size, total)
        radii = radius[start : start + size]
        for j in range(size):
            threshold = alpha * (mine + radii[j])
            flags[j] = (1.0 + TOLERANCE) * total[j] + error >= threshold * threshold
        candidates = np.uint64(0)
        for j in range(size):
            candidates |= flags[j] << np.uint64(j)
        word &= candidates
        while word != 0:
            other = start + users.trailing(word)
            word &= word - np.uint64(1)
            if _too_far(state, node, other):
                state.deleted[deleted] = other
                deleted += 1
    return deleted


@kernel
def delete_far_edges(state: Any, node: int) -> int:
    """Delete the edges to users who are too far away; return how many components split off."""
    if users.is_dense(state.graph) and 16 * state.graph.degree[node] > state.by_feature.shape[1]:
        deleted = _find_far_users(state, node)
    else:
        deleted = _find_far_neighbours(state, node)
    if deleted == 0:
        return 0
    return users.cut(state.graph, node, state.deleted, deleted)
