"""Who is of one cohort: users move to the cohort that explains their feedback best.

The measure is the *evidence*: the logarithm of the probability of a user's feedback if its weights
are drawn from N(c, s^2 A), A being the spread of users around a cohort plus what is unknown of the
cohort's own weights c. A cohort's size counts in its favour (a Chinese restaurant process), a
cohort of one's own is always possible, and the choice is drawn in proportion: a step of Gibbs
sampling, which finds cohorts that no greedy step would.
"""

from __future__ import annotations

import math

import numpy as np

from clubcascade.core import Floats
from clubcascade.kernels import linear, luck
from clubcascade.kernels import ridge as models
from clubcascade.kernels.cohort_state import Cohort
from clubcascade.kernels.jit import kernel

FIRST_REVIEW = 10
"""Count at which a user is first given a cohort."""
GROWTH = 1.1
"""Growth of a user's count from one review to the next."""
TRIED = 16
"""Cohorts that are compared in one review, besides the user's own and a new one."""
SMALL_SHARE = 0.02
"""Share of a cohort's feedback up to which a user need not be taken out to be compared with it."""
NEAR = 3.0
"""Difference of evidence below which two cohorts are tried for a merger."""
LOWEST_NOISE = 1e-4
RARELY = 1.0 / 16.0
"""How often another user is reviewed when reviews change nothing; always, when all change."""


@kernel
def renew_root(state: Cohort, g: int) -> None:
    """Compute the factor that draws are made from, and what users are compared with."""
    ridge = state.ridge
    linear.add_ridge(ridge.gram[g], ridge.reg[0], state.root[g])
    linear.factor(state.root[g])
    state.root_count[g] = ridge.count[g]
    if g > 0:
        widen(ridge.inverse[g], state.rule[1], state.matrices[1])
        state.prior_log_det[g] = linear.invert(
            state.matrices[1], 0.0, state.matrices[2], state.prior[g]
        )


@kernel
def widen(covariance: Floats, variance: float, out: Floats) -> None:
    """``out = covariance + variance I``."""
    linear.add_ridge(covariance, variance, out)


@kernel
def evidence(
    gram: Floats,
    moment: Floats,
    centre: Floats,
    prior: Floats,
    prior_log_det: float,
    noise: float,
    upper: Floats,
    vectors: Floats,
) -> float:
    """Log-probability of feedback under weights ~ N(centre, noise A), but for what all share.

    ``prior`` is the inverse of A and ``prior_log_det`` the log-determinant of A.
    """
    d = moment.shape[0]
    rest, solved = vectors[0], vectors[1]
    linear.times(gram, centre, rest)
    square = 0.0
    for f in range(d):
        square += centre[f] * (rest[f] - 2.0 * moment[f])
        rest[f] = moment[f] - rest[f]
        solved[f] = rest[f]
    for f in range(d):
        row, a, b = upper[f], prior[f], gram[f]
        for g in range(d):
            row[g] = a[g] + b[g]
    linear.factor(upper)
    log_det = prior_log_det
    for f in range(d):
        log_det += 2.0 * math.log(upper[f, f])
    linear.solve(upper, solved)
    return -0.5 * ((square - linear.dot(rest, solved)) / noise + log_det)


@kernel
def _gumbel(state: Cohort, t: int, place: int) -> float:
    """Noise that makes the largest of some numbers a draw in proportion to their exponentials."""
    u = luck.uniform(state.keys[1], t, place)
    return -state.rule[4] * math.log(-math.log(u * (1.0 - 1e-12) + 5e-13))


@kernel
def _flat(state: Cohort, variance: float) -> float:
    """Fill ``matrices[3]`` with the precision of a flat spread; return the log-determinant of A."""
    d = state.moment.shape[1]
    for f in range(d):
        for g in range(d):
            state.matrices[3, f, g] = 0.0
        state.matrices[3, f, f] = 1.0 / variance
    return d * math.log(variance)


@kernel
def _of_own(state: Cohort, node: int, noise: float) -> float:
    """Evidence of a user's feedback in its own cohort, from which it is taken out."""
    g = state.label[node]
    ridge = state.ridge
    gram, moment = state.gram[node], state.moment[node]
    if state.count[node] <= SMALL_SHARE * ridge.count[g]:
        return evidence(
            gram,
            moment,
            ridge.weights[g],
            state.prior[g],
            state.prior_log_det[g],
            noise,
            state.matrices[0],
            state.vectors,
        )
    d = moment.shape[0]
    rest, inverse, prior = state.matrices[1], state.matrices[2], state.matrices[3]
    others, centre = state.vectors[0], state.vectors[2]
    for f in range(d):
        row, whole, own = rest[f], ridge.gram[g, f], gram[f]
        for h in range(d):
            row[h] = whole[h] - own[h]
        others[f] = ridge.moment[g, f] - moment[f]
    linear.invert(rest, ridge.reg[0], state.matrices[0], inverse)
    linear.times(inverse, others, centre)
    widen(inverse, state.rule[1], rest)
    log_det = linear.invert(rest, 0.0, state.matrices[0], prior)
    return evidence(gram, moment, centre, prior, log_det, noise, state.matrices[0], state.vectors)


@kernel
def free_label(state: Cohort) -> int:
    """Return a cohort without users, 0 if there is none left."""
    for g in range(1, state.size.shape[0]):
        if state.size[g] == 0:
            return g
    return 0


@kernel
def _leave(state: Cohort, node: int) -> None:
    """Take a user out of its cohort."""
    g = state.label[node]
    if g == 0:
        return
    after, before = state.after[node], state.before[node]
    state.after[before] = after
    state.before[after] = before
    state.head[g] = after
    state.size[g] -= 1
    state.label[node] = 0
    state.tally[4] -= 1
    if state.size[g] == 0:
        state.tally[1] -= 1
        models.clear(state.ridge, g)
    else:
        models.add(state.ridge, g, state.gram[node], state.moment[node], state.count[node], -1.0)
        models.renew(state.ridge, g)
    renew_root(state, g)


@kernel
def _join(state: Cohort, node: int, g: int) -> None:
    """Put a user into a cohort; an empty one begins with it."""
    if state.size[g] == 0:
        models.clear(state.ridge, g)
        state.split_due[g] = 0
        state.tally[1] += 1
        state.tally[3] = max(state.tally[3], g)
        state.after[node] = node
        state.before[node] = node
    else:
        head = state.head[g]
        last = state.before[head]
        state.after[last] = node
        state.before[node] = last
        state.after[node] = head
        state.before[head] = node
    state.head[g] = node
    state.size[g] += 1
    state.label[node] = g
    state.tally[4] += 1
    models.add(state.ridge, g, state.gram[node], state.moment[node], state.count[node], 1.0)
    models.renew(state.ridge, g)
    renew_root(state, g)


@kernel
def gain_of_two(state: Cohort, small: int, large: int, noise: float) -> float:
    """Return by how much two cohorts make the small one's feedback more probable than one."""
    ridge = state.ridge
    apart = state.rule[1] * (1.0 / state.size[small] + 1.0 / state.size[large])
    widen(ridge.inverse[large], apart, state.matrices[1])
    log_det = linear.invert(state.matrices[1], 0.0, state.matrices[2], state.matrices[3])
    together = evidence(
        ridge.gram[small],
        ridge.moment[small],
        ridge.weights[large],
        state.matrices[3],
        log_det,
        noise,
        state.matrices[0],
        state.vectors,
    )
    log_det = _flat(state, state.rule[2] + apart)
    alone = evidence(
        ridge.gram[small],
        ridge.moment[small],
        ridge.weights[0],
        state.matrices[3],
        log_det,
        noise,
        state.matrices[0],
        state.vectors,
    )
    return alone - together


@kernel
def merge(state: Cohort, small: int, large: int) -> None:
    """Let all users of a small cohort join a large one."""
    ridge = state.ridge
    node = state.head[small]
    for _ in range(state.size[small]):
        state.label[node] = large
        node = state.after[node]
    one, other = state.head[small], state.head[large]
    one_last, other_last = state.before[one], state.before[other]
    state.after[one_last] = other
    state.before[other] = one_last
    state.after[other_last] = one
    state.before[one] = other_last
    models.add(ridge, large, ridge.gram[small], ridge.moment[small], ridge.count[small], 1.0)
    models.renew(ridge, large)
    state.size[large] += state.size[small]
    state.size[small] = 0
    models.clear(ridge, small)
    state.tally[1] -= 1
    renew_root(state, large)
    renew_root(state, small)


@kernel
def place(state: Cohort, node: int, t: int, turn: int) -> bool:
    """Draw a user's cohort anew; return whether it moved."""
    ridge = state.ridge
    noise = max(state.noise[0], LOWEST_NOISE)
    gram, moment = state.gram[node], state.moment[node]
    own = state.label[node]
    most = state.size.shape[0]
    first = (most + 3) * turn  # no number is used twice in one round
    best, top, runner, second = -1, -math.inf, 0, -math.inf
    if own > 0 and state.size[own] > 1:
        best = own
        top = _of_own(state, node, noise) + math.log(state.size[own] - 1.0)
        top += _gumbel(state, t, first)
    log_det = _flat(state, state.rule[1] + state.rule[2])
    alone = evidence(
        gram,
        moment,
        ridge.weights[0],
        state.matrices[3],
        log_det,
        noise,
        state.matrices[0],
        state.vectors,
    )
    alone += _gumbel(state, t, first + 1)
    if alone > top:
        top, best = alone, 0
    tried = 0
    start = int(luck.uniform(state.keys[1], t, first + 2) * most)
    for step in range(most):
        g = (start + step) % most
        if g == 0 or g == own or state.size[g] == 0:
            continue
        if tried == TRIED:
            break
        tried += 1
        found = evidence(
            gram,
            moment,
            ridge.weights[g],
            state.prior[g],
            state.prior_log_det[g],
            noise,
            state.matrices[0],
            state.vectors,
        )
        found += math.log(state.size[g]) + _gumbel(state, t, first + 3 + g)
        if found > top:
            second, runner = top, best
            top, best = found, g
        elif found > second:
            second, runner = found, g
    if best == 0:  # a cohort of its own
        if own > 0 and state.size[own] == 1:
            best = own
        else:
            best = free_label(state)
            if best == 0:
                best = own
    moved = best != own
    if moved:
        _leave(state, node)
        _join(state, node, best)
    if (
        runner > 0
        and runner != best
        and best > 0
        and top - second < NEAR
        and state.size[runner] > 0
    ):
        small, large = runner, best
        if state.size[runner] > state.size[best]:
            small, large = best, runner
        if gain_of_two(state, small, large, noise) < 0.0:
            merge(state, small, large)
    return moved


@kernel
def review(state: Cohort, node: int, t: int) -> bool:
    """After a list: review this user's cohort if it is due, and now and then another user's.

    Returns whether this user's was.
    """
    due = state.count[node] >= state.due[node] and state.count[node] >= FIRST_REVIEW
    if due:
        place(state, node, t, 0)
        state.due[node] = np.int64(GROWTH * state.count[node]) + 5
    if luck.uniform(state.keys[1], t, 1_000_000) < max(RARELY, state.noise[1]):
        other = int(luck.uniform(state.keys[1], t, 1_000_001) * state.tally[2])
        if state.count[other] >= FIRST_REVIEW:
            moved = place(state, other, t, 1)
            state.noise[1] += 0.01 * ((1.0 if moved else 0.0) - state.noise[1])
    return due
