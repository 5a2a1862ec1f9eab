"""CohortCascade: reassignment of users to cohorts, a Gibbs step, and mergers of cohorts.

Under a Chinese restaurant process the posterior of a user's cohort, given those of all others, is
proportional to ``N exp(E)`` for a cohort of N others with evidence E, and to ``exp(E)`` for a new
cohort. The largest of ``ln N + E + Gumbel noise`` is a draw from it.
"""

from __future__ import annotations

import math

import numpy as np

from clubcascade.core import Floats, Ints
from clubcascade.kernels import cohort_models, counter_rng, linear, ranking
from clubcascade.kernels.cohort_constants import (
    FIRST_ASSIGNMENT,
    LOWEST_MOVE_RATE,
    MAX_CANDIDATES,
    MERGE_EVIDENCE,
    MERGE_RATE,
    MOVE_RATE_STEP,
    REASSIGNMENT_GROWTH,
    SCORED_CANDIDATES,
)
from clubcascade.kernels.cohort_evidence import (
    evidence_bound,
    noise_of,
    of_cohort,
    of_new_cohort,
    of_own_cohort,
    split_gain,
)
from clubcascade.kernels.cohort_state import Cohort
from clubcascade.kernels.jit import keep_whole, kernel


@kernel
def _gumbel(key: np.uint64, temperature: float, t: int, place: int) -> float:
    """Gumbel noise: the largest of ``a + noise`` is a draw in proportion to ``exp(a)``."""
    u = counter_rng.uniform(key, t, place)
    return -temperature * math.log(-math.log(u * (1.0 - 1e-12) + 5e-13))


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
    keep_whole()
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
    keep_whole()
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
    keep_whole()
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
    state: Cohort,
    node: int,
    t: int,
    first: int,
    noise: float,
    labels: Ints,
    candidate_scores: Floats,
) -> int:
    """Fill ``labels`` with the most promising other cohorts for a user; return how many.

    They are compared by ``ln N + (2 c'b - c'S c) / (2 sigma^2)``, the log-posterior as if their
    means were known and users did not differ from them, with the Gumbel noise of the draw itself.
    """
    keep_whole()
    means, sizes, product = state.ridge.weights, state.size, state.product_work
    gram, moment = state.gram[node], state.moment[node]
    own, most = state.label[node], sizes.shape[0]
    key, temperature = state.move_key, 1.0 if state.draws_moves else 0.0
    g = int(counter_rng.uniform(key, t, first + 2) * most) - 1
    seen = filled = 0
    for _ in range(most):
        g += 1
        if g == most:
            g = 0
        if g == 0 or g == own or sizes[g] == 0:
            continue
        if seen == MAX_CANDIDATES:
            break
        seen += 1
        weights = means[g]
        linear.times(gram, weights, product)
        score = 2.0 * linear.inner(weights, moment) - linear.inner(weights, product)
        score = score / (2.0 * noise)
        score += math.log(sizes[g]) + _gumbel(key, temperature, t, first + 3 + g)
        if filled < SCORED_CANDIDATES or score > candidate_scores[filled - 1]:
            filled = ranking.insert(candidate_scores, labels, filled, score, g)
    return filled


@kernel
def reassign(state: Cohort, node: int, t: int, turn: int) -> bool:
    """Draw a user's cohort from its posterior; return whether the user moved."""
    keep_whole()
    noise = noise_of(state)
    key, temperature = state.move_key, 1.0 if state.draws_moves else 0.0
    own = state.label[node]
    most = state.size.shape[0]
    first = (most + 3) * turn  # no number is used twice in one round
    best, top, runner, second = -1, -math.inf, 0, -math.inf
    if own > 0 and state.size[own] > 1:
        best = own
        top = of_own_cohort(state, node, noise) + math.log(state.size[own] - 1.0)
        top += _gumbel(key, temperature, t, first)
    log_prior = _gumbel(key, temperature, t, first + 1)
    variance = state.within_variance + state.between_variance
    if evidence_bound(state, node, 0, variance, noise) + log_prior > top:
        posterior = of_new_cohort(state, node, noise) + log_prior
        if posterior > top:
            top, best = posterior, 0
    labels, candidate_scores = state.candidate_work, state.error[-1, :SCORED_CANDIDATES]
    for e in range(_candidates(state, node, t, first, noise, labels, candidate_scores)):
        g = labels[e]
        log_prior = math.log(state.size[g]) + _gumbel(key, temperature, t, first + 3 + g)
        bound = evidence_bound(state, node, g, state.within_variance, noise) + log_prior
        if bound < top - MERGE_EVIDENCE:
            continue
        posterior = of_cohort(state, node, g, noise) + log_prior
        if posterior > top:
            second, runner = top, best
            top, best = posterior, g
        elif posterior > second:
            second, runner = posterior, g
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
def next_due(count: int, growth: float) -> int:
    """Return the count at which something is due again that was done at ``count``."""
    return int(growth * count) + FIRST_ASSIGNMENT // 2


@kernel
def other_user(state: Cohort, t: int) -> int:
    """Return the other user who is reassigned after list ``t``, -1 for nobody."""
    if counter_rng.uniform(state.move_key, t, 1_000_000) < max(LOWEST_MOVE_RATE, state.move_rate):
        return int(counter_rng.uniform(state.move_key, t, 1_000_001) * state.n_users)
    return -1


@kernel
def reassign_due(state: Cohort, node: int, other: int, t: int) -> bool:
    """After a list, reassign the user if it is due, and another one, if any.

    Returns whether the user was.
    """
    due = state.count[node] >= state.due[node] and state.count[node] >= FIRST_ASSIGNMENT
    if due:
        reassign(state, node, t, 0)
        state.due[node] = next_due(state.count[node], REASSIGNMENT_GROWTH)
    if other >= 0 and state.count[other] >= FIRST_ASSIGNMENT:
        moved = reassign(state, other, t, 1)
        state.move_rate += MOVE_RATE_STEP * ((1.0 if moved else 0.0) - state.move_rate)
    return due
