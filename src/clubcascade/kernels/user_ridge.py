"""Line 8: what CLUB-cascade keeps of one user, its own ridge estimate, in step with its samples.

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
    """Tell whether every user has an inverse of its own (it costs memory and saves time)."""
    return state.inverse.shape[0] > 0


@kernel
def solve_weights(state: Any, node: int, row: int) -> None:
    """Line 8 from nothing: the user's own inverse, if kept, and weights."""
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
    """Bring users up to date who were alone until a newcomer linked with them."""
    for e in range(links.shape[0]):
        row = state.row[links[e]]
        if row >= 0 and state.graph.degree[links[e]] == 1:
            solve_weights(state, links[e], row)


@kernel
def add_user(state: Any, node: int) -> int:
    """Give a user who comes for the first time its row."""
    row = state.n_rows
    state.n_rows += 1
    state.row[node] = row
    if keeps_inverses(state):
        for f in range(state.inverse.shape[1]):
            state.inverse[row, f, f] = 1.0 / state.ridge.reg
    return row


@kernel
def observe(state: Any, node: int, row: int, x: Floats, y: float, linked: bool) -> None:
    """Line 8 for one item: the user's statistics; inverse and weights while it has neighbours."""
    d = x.shape[0]
    linear.add_outer(state.gram[row], 1.0, x)
    if y != 0.0:
        moment = state.moment[row]
        for f in range(d):
            moment[f] += y * x[f]
    if linked and keeps_inverses(state):
        moved = state.ridge.direction_work
        weights = state.weights[node]
        linear.times(state.inverse[row], x, moved)
        shrink = 1.0 / (1.0 + max(linear.dot(x, moved), 0.0))
        step = (y - linear.dot(weights, x)) * shrink
        linear.add_outer(state.inverse[row], -shrink, moved)
        for f in range(d):
            weights[f] += step * moved[f]
        state.age[row] += 1
