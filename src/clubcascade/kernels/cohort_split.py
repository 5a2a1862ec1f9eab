"""A cohort in two: some of its users may rather follow one of them.

Users who move one at a time find it hard to part a cohort that is really two: the first one would
have to explain its feedback all alone. So now and then a user proposes its own weights as a second
centre, its fellows choose between the two, and both centres are computed anew from whom they have.
The two are kept apart if that makes the feedback more probable. That they were free to choose is
not held against them: who is on which side is often uncertain, later moves put it right, and a
cohort that explains nothing is merged again.
"""

from __future__ import annotations

import numpy as np

from clubcascade.core import Floats
from clubcascade.kernels import cohort_assignment as assignment
from clubcascade.kernels import cohort_models, factors, linear, triangular
from clubcascade.kernels import ridge as models
from clubcascade.kernels.cohort_evidence import noise_of, split_gain
from clubcascade.kernels.cohort_state import Cohort
from clubcascade.kernels.jit import kernel

MAX_SPLIT_USERS = 64
"""Users of a cohort who choose a side, at the most."""
SPLIT_ITERATIONS = 4
"""Times they choose; the centres follow each time."""
SPLIT_GROWTH = 1.2
"""Growth of a cohort's count from one proposal to the next."""


@kernel
def _prefers(state: Cohort, node: int, one: Floats, other: Floats) -> bool:
    """Tell whether a user's feedback is nearer to what ``one`` predicts than ``other``."""
    gram, moment = state.gram[node], state.moment[node]
    product = state.product_work
    linear.times(gram, one, product)
    gain = 2.0 * linear.dot(one, moment) - linear.dot(one, product)
    linear.times(gram, other, product)
    gain -= 2.0 * linear.dot(other, moment) - linear.dot(other, product)
    return gain > 0.0


@kernel
def _side_weights(state: Cohort, asked: int, side: int, out: Floats) -> None:
    """Write the ridge weights of those who chose a side."""
    gram, moment = state.matrix_work, state.residual_work
    d = out.shape[0]
    for f in range(d):
        moment[f] = 0.0
        for h in range(d):
            gram[f, h] = 0.0
    for e in range(asked):
        if state.split_side[e] != side:
            continue
        node = state.split_user[e]
        for f in range(d):
            row, own = gram[f], state.gram[node, f]
            for h in range(d):
                row[h] += own[h]
            moment[f] += state.moment[node, f]
    factors.invert(gram, state.ridge.reg, state.factor_work, state.inverse_work)
    linear.times(state.inverse_work, moment, out)


@kernel
def _choose_sides(state: Cohort, node: int, asked: int) -> int:
    """Let ``asked`` users of a user's cohort choose between it and the rest.

    Fills ``split_user`` and ``split_side`` (1 for those who follow the user); returns how many
    follow, 0 if at any time all are of one mind.
    """
    g = state.label[node]
    other = node
    for e in range(asked):
        state.split_user[e] = other
        other = state.after[other]
    new, old = state.mean_work, state.deviation_work
    weights, moment = state.ridge.weights[g], state.moment[node]
    pull = 1.0 / state.between_variance
    linear.add_ridge(state.gram[node], pull, state.factor_work)
    factors.factor(state.factor_work)
    for f in range(new.shape[0]):
        old[f] = weights[f]
        new[f] = moment[f] + pull * weights[f]
    triangular.solve(state.factor_work, new)
    followers = 0
    for turn in range(SPLIT_ITERATIONS):
        if turn > 0:
            _side_weights(state, asked, 1, new)
            _side_weights(state, asked, 0, old)
        followers = 0
        for e in range(asked):
            state.split_side[e] = 1 if _prefers(state, state.split_user[e], new, old) else 0
            followers += state.split_side[e]
        if followers == 0 or followers == asked:
            return 0
    return followers


@kernel
def _move_side(state: Cohort, g: int, asked: int, new: int) -> None:
    """Move those who chose side 1 from cohort ``g`` to an empty one."""
    ridge = state.ridge
    models.clear(ridge, new)
    state.n_cohorts += 1
    state.last_model = max(state.last_model, new)
    first = -1
    for e in range(asked):
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
    """Try to part a user's cohort, if it has learned enough since the last time."""
    g = state.label[node]
    if g == 0 or state.size[g] < 2 or state.ridge.count[g] < state.split_due[g]:
        return
    state.split_due[g] = np.int64(SPLIT_GROWTH * state.ridge.count[g]) + 5
    new = assignment.free_label(state)
    if new == 0:
        return
    asked = min(state.size[g], MAX_SPLIT_USERS)
    if _choose_sides(state, node, asked) == 0:
        return
    _move_side(state, g, asked, new)
    state.split_due[new] = state.split_due[g]
    small, large = new, g
    if state.size[new] > state.size[g]:
        small, large = g, new
    if split_gain(state, small, large, noise_of(state)) <= 0.0:
        assignment.merge(state, small, large)
