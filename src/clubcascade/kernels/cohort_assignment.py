"""CohortCascade: who is of one cohort; users move to the cohort that explains them best.

A cohort's size counts in its favour (a Chinese restaurant process), a cohort of one's own is always
possible, and the choice is drawn in proportion to the probability of the user's feedback: a step of
Gibbs sampling, which finds cohorts that no greedy step would.
"""

from __future__ import annotations

import math

import numpy as np

from clubcascade.core import Floats, Ints
from clubcascade.kernels import cohort_models, counter_rng, linear, ranking
from clubcascade.kernels.cohort_evidence import (
    evidence_bound,
    noise_of,
    of_cohort,
    of_new_cohort,
    of_own_cohort,
    split_gain,
)
from clubcascade.kernels.cohort_state import Cohort
from clubcascade.kernels.jit import kernel

FIRST_ASSIGNMENT = 10
"""Count at which a user is first given a cohort."""
REASSIGNMENT_GROWTH = 1.1
"""Growth of a user's count from one review to the next."""
MAX_CANDIDATES = 16
"""Cohorts that are looked at in one review, besides the user's own and a new one."""
SCORED_CANDIDATES = 3
"""Those of them, the most promising ones, of which the evidence is computed."""
MERGE_EVIDENCE = 3.0
"""Difference of evidence below which two cohorts may be tried for a merger;"""
MERGE_RATE = 1.0 / 4.0
"""how often they are: many a user cannot tell two cohorts apart, and hardly any two are one."""
LOWEST_MOVE_RATE = 1.0 / 32.0
"""How often another user is reviewed when reviews change nothing; always, when all change."""


@kernel
def _gumbel(key: np.uint64, heat: float, t: int, place: int) -> float:
    """Noise that makes the largest of some numbers a draw in proportion to their exponentials."""
    u = counter_rng.uniform(key, t, place)
    return -heat * math.log(-math.log(u * (1.0 - 1e-12) + 5e-13))


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
    state.n_assigned -= 1
    if state.size[g] == 0:
        state.n_cohorts -= 1
        cohort_models.clear(state, g)
    else:
        cohort_models.add(state, g, state.gram[node], state.moment[node], state.count[node], -1.0)


@kernel
def _join(state: Cohort, node: int, g: int) -> None:
    """Put a user into a cohort; an empty one begins with it."""
    if state.size[g] == 0:
        cohort_models.clear(state, g)
        state.split_due[g] = 0
        state.n_cohorts += 1
        state.last_model = max(state.last_model, g)
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
    state.n_assigned += 1
    cohort_models.add(state, g, state.gram[node], state.moment[node], state.count[node], 1.0)


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
    cohort_models.add(state, large, ridge.gram[small], ridge.moment[small], ridge.count[small], 1.0)
    state.size[large] += state.size[small]
    state.size[small] = 0
    cohort_models.clear(state, small)
    state.n_cohorts -= 1


@kernel
def _candidates(
    state: Cohort, node: int, t: int, first: int, noise: float, labels: Ints, hopes: Floats
) -> int:
    """Fill ``labels`` with the cohorts whose weights explain a user best; return how many.

    That is their evidence as if their weights were certain and shared by all, with the luck that
    the evidence itself will have.
    """
    centres, sizes, product = state.ridge.weights, state.size, state.product_work
    gram, moment = state.gram[node], state.moment[node]
    own, most = state.label[node], sizes.shape[0]
    key, heat = state.move_key, 1.0 if state.draws_moves else 0.0
    g = int(counter_rng.uniform(key, t, first + 2) * most) - 1
    tried = filled = 0
    for _ in range(most):
        g += 1
        if g == most:
            g = 0
        if g == 0 or g == own or sizes[g] == 0:
            continue
        if tried == MAX_CANDIDATES:
            break
        tried += 1
        weights = centres[g]
        linear.times(gram, weights, product)
        hope = 2.0 * linear.inner(weights, moment) - linear.inner(weights, product)
        hope = hope / (2.0 * noise)
        hope += math.log(sizes[g]) + _gumbel(key, heat, t, first + 3 + g)
        if filled < SCORED_CANDIDATES or hope > hopes[filled - 1]:
            filled = ranking.insert(hopes, labels, filled, hope, g)
    return filled


@kernel
def reassign(state: Cohort, node: int, t: int, turn: int) -> bool:
    """Draw a user's cohort anew; return whether it moved."""
    noise = noise_of(state)
    key, heat = state.move_key, 1.0 if state.draws_moves else 0.0
    own = state.label[node]
    most = state.size.shape[0]
    first = (most + 3) * turn  # no number is used twice in one round
    best, top, runner, second = -1, -math.inf, 0, -math.inf
    if own > 0 and state.size[own] > 1:
        best = own
        top = of_own_cohort(state, node, noise) + math.log(state.size[own] - 1.0)
        top += _gumbel(key, heat, t, first)
    odds = _gumbel(key, heat, t, first + 1)
    if (
        evidence_bound(state, node, 0, state.within_variance + state.between_variance, noise) + odds
        > top
    ):
        alone = of_new_cohort(state, node, noise) + odds
        if alone > top:
            top, best = alone, 0
    labels, hopes = state.candidate_work, state.error[-1, :SCORED_CANDIDATES]
    for e in range(_candidates(state, node, t, first, noise, labels, hopes)):
        g = labels[e]
        odds = math.log(state.size[g]) + _gumbel(key, heat, t, first + 3 + g)
        if (
            evidence_bound(state, node, g, state.within_variance, noise) + odds
            < top - MERGE_EVIDENCE
        ):
            continue
        found = of_cohort(state, node, g, noise) + odds
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
        and top - second < MERGE_EVIDENCE
        and state.size[runner] > 0
        and counter_rng.uniform(key, t, 1_000_002 + turn) < MERGE_RATE
    ):
        small, large = runner, best
        if state.size[runner] > state.size[best]:
            small, large = best, runner
        if split_gain(state, small, large, noise) < 0.0:
            merge(state, small, large)
    return moved


@kernel
def other_user(state: Cohort, t: int) -> int:
    """Return the other user who is reviewed after list ``t``, -1 for nobody."""
    if counter_rng.uniform(state.move_key, t, 1_000_000) < max(LOWEST_MOVE_RATE, state.move_rate):
        return int(counter_rng.uniform(state.move_key, t, 1_000_001) * state.n_users)
    return -1


@kernel
def reassign_due(state: Cohort, node: int, other: int, t: int) -> bool:
    """After a list: review this user's cohort if it is due, and that of somebody, if anybody.

    Returns whether this user's was.
    """
    due = state.count[node] >= state.due[node] and state.count[node] >= FIRST_ASSIGNMENT
    if due:
        reassign(state, node, t, 0)
        state.due[node] = np.int64(REASSIGNMENT_GROWTH * state.count[node]) + 5
    if other >= 0 and state.count[other] >= FIRST_ASSIGNMENT:
        moved = reassign(state, other, t, 1)
        state.move_rate += 0.01 * ((1.0 if moved else 0.0) - state.move_rate)
    return due
