"""Line 8: the ridge estimate of one user, updated with each of its observations.

States are those of :class:`clubcascade.kernels.club.Club`.
"""

from __future__ import annotations

from typing import Any

from clubcascade.core import Floats
from clubcascade.kernels import factors, linear
from clubcascade.kernels.edge_deletion import publish
from clubcascade.kernels.jit import kernel


@kernel
def keeps_inverses(state: Any) -> bool:
    """Tell whether an inverse is kept per user: more memory, less time."""
    return state.inverse.shape[0] > 0


@kernel
def solve_weights(state: Any, node: int, row: int) -> None:
    """Line 8 computed anew: the user's inverse, if kept, and weights."""
    reg = state.ridge.reg
    if keeps_inverses(state):
        factors.invert(state.gram[row], reg, state.ridge.matrix_work, state.inverse[row])
        linear.times(state.inverse[row], state.moment[row], state.weights[node])
    else:
        factors.ridge_weights(
            state.gram[row], state.moment[row], reg, state.elimination_work, state.weights[node]
        )
    state.age[row] = 0
    publish(state, node)


@kernel
def refresh_weights(state: Any, links: Any) -> None:
    """Update the weights of users who were isolated until a new user linked with them."""
    rows, degree = state.row, state.graph.degree
    for e in range(links.shape[0]):
        row = rows[links[e]]
        if row >= 0 and degree[links[e]] == 1:
            solve_weights(state, links[e], row)


@kernel
def add_user(state: Any, node: int) -> int:
    """Give a new user its row of statistics, and return it."""
    row = state.n_rows
    state.n_rows += 1
    state.row[node] = row
    if keeps_inverses(state):
        for f in range(state.inverse.shape[1]):
            state.inverse[row, f, f] = 1.0 / state.ridge.reg
    return row


@kernel
def observe(state: Any, node: int, row: int, x: Floats, y: float, linked: bool) -> None:
    """Line 8 for one observation: statistics, and inverse and weights while linked."""
    d = x.shape[0]
    linear.add_outer(state.gram[row], 1.0, x)
    if y != 0.0:
        moment = state.moment[row]
        for f in range(d):
            moment[f] += y * x[f]
    if linked and keeps_inverses(state):
        direction = state.ridge.direction_work
        weights = state.weights[node]
        linear.times(state.inverse[row], x, direction)
        shrink = 1.0 / (1.0 + max(linear.dot(x, direction), 0.0))
        step = (y - linear.dot(weights, x)) * shrink
        linear.add_outer(state.inverse[row], -shrink, direction)
        for f in range(d):
            weights[f] += step * direction[f]
        state.age[row] += 1
