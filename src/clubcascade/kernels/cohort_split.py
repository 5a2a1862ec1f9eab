"""CohortCascade: splits of a cohort, by k-means with two means.

Reassignments of one user at a time can hardly part a cohort that is really two: the first to leave
would have to explain its observations all alone. So now and then a user proposes its own weights as
a second mean, users of the cohort choose between the two means, and both are computed anew from
their users. The two stay apart if that makes the observations more probable. The free choice of
sides is not charged for: sides are often uncertain, later reassignments correct them, and a cohort
that explains nothing is merged again.
"""

from __future__ import annotations

from clubcascade.core import Floats
from clubcascade.kernels import cohort_assignment as assignment
from clubcascade.kernels import cohort_models, factors, linear, triangular
from clubcascade.kernels import ridge as models
from clubcascade.kernels.cohort_constants import (
    MAX_SPLIT_USERS,
    SPLIT_GROWTH,
    SPLIT_ITERATIONS,
)
from clubcascade.kernels.cohort_evidence import noise_of, split_gain
from clubcascade.kernels.cohort_state import Cohort
from clubcascade.kernels.jit import keep_whole, kernel


@kernel
def _prefers(state: Cohort, node: int, one: Floats, other: Floats) -> bool:
    """Tell whether mean ``one`` has the smaller squared error on a user: ``2 c'b - c'S c``."""
    gram, moment = state.gram[node], state.moment[node]
    product = state.product_work
    linear.times(gram, one, product)
    gain = 2.0 * linear.dot(one, moment) - linear.dot(one, product)
    linear.times(gram, other, product)
    gain -= 2.0 * linear.dot(other, moment) - linear.dot(other, product)
    return gain > 0.0


@kernel
def _side_weights(state: Cohort, n: int, side: int, out: Floats) -> None:
    """Write the ridge weights of the users of one side."""
    keep_whole()
    gram = state.factor_work
    d = out.shape[0]
    for f in range(d):
        out[f] = 0.0
        for h in range(d):
            gram[f, h] = 0.0
        gram[f, f] = state.ridge.reg
    for e in range(n):
        if state.split_side[e] != side:
            continue
        node = state.split_user[e]
        for f in range(d):
            row, own = gram[f], state.gram[node, f]
            for h in range(d):
                row[h] += own[h]
            out[f] += state.moment[node, f]
    factors.factor(gram)
    triangular.solve(gram, out)


@kernel
def _choose_sides(state: Cohort, node: int, n: int) -> int:
    """Let ``n`` users of a user's cohort choose between the user's mean and the cohort's.

    Fills ``split_user`` and ``split_side`` (1 for the user's mean); returns how many are on side 1,
    0 if at any time all are on one side.
    """
    g = state.label[node]
    other = node
    for e in range(n):
        state.split_user[e] = other
        other = state.after[other]
    new, old = state.mean_work, state.deviation_work
    weights, moment = state.ridge.weights[g], state.moment[node]
    precision = 1.0 / state.between_variance
    linear.add_ridge(state.gram[node], precision, state.factor_work)
    factors.factor(state.factor_work)
    for f in range(new.shape[0]):
        old[f] = weights[f]
        new[f] = moment[f] + precision * weights[f]
    triangular.solve(state.factor_work, new)
    moved = 0
    for iteration in range(SPLIT_ITERATIONS):
        if iteration > 0:
            _side_weights(state, n, 1, new)
            _side_weights(state, n, 0, old)
        moved = 0
        for e in range(n):
            state.split_side[e] = 1 if _prefers(state, state.split_user[e], new, old) else 0
            moved += state.split_side[e]
        if moved == 0 or moved == n:
            return 0
    return moved


@kernel
def _move_side(state: Cohort, g: int, n: int, new: int) -> None:
    """Move the users of side 1 from cohort ``g`` to an empty one."""
    keep_whole()
    ridge = state.ridge
    models.clear(ridge, new)
    state.n_cohorts += 1
    state.last_model = max(state.last_model, new)
    first = -1
    for e in range(n):
        if state.split_side[e] == 0:
            continue
        node = state.split_user[e]
        after, before = state.after[node], state.before[node]
        state.after[before], state.before[after] = after, before
        state.head[g] = after
        if first < 0:
            first = node
            state.after[node], state.before[node] = node, node
        else:
            last = state.before[first]
            state.after[last], state.before[node] = node, last
            state.after[node], state.before[first] = first, node
        state.size[g] -= 1
        state.size[new] += 1
        state.label[node] = new
        models.add(ridge, g, state.gram[node], state.moment[node], state.count[node], -1.0)
        models.add(ridge, new, state.gram[node], state.moment[node], state.count[node], 1.0)
    state.head[new] = first
    for label in (g, new):
        cohort_models.renew(state, label)


@kernel
def try_split(state: Cohort, node: int) -> None:
    """Try to split a user's cohort, if its count has grown enough since the last time."""
    keep_whole()
    g = state.label[node]
    if g == 0 or state.size[g] < 2 or state.ridge.count[g] < state.split_due[g]:
        return
    state.split_due[g] = assignment.next_due(state.ridge.count[g], SPLIT_GROWTH)
    new = assignment.free_label(state)
    if new == 0:
        return
    n = min(state.size[g], MAX_SPLIT_USERS)
    if _choose_sides(state, node, n) == 0:
        return
    _move_side(state, g, n, new)
    state.split_due[new] = state.split_due[g]
    small, large = new, g
    if state.size[new] > state.size[g]:
        small, large = g, new
    if split_gain(state, small, large, noise_of(state)) <= 0.0:
        assignment.merge(state, small, large)
