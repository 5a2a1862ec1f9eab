"""CohortCascade: the ridge models of everyone and of the cohorts.

The sums of a model (Gram matrix, moment, count) are always up to date. What follows from them costs
more and changes little: the factor of ``M = S + reg I`` and the mean ``c = M^-1 b`` are computed
anew whenever the count has changed by 2%; M^-1 and A^-1 of ``A = M^-1 + tau_W I`` follow from that
factor when they are asked for.
"""

from __future__ import annotations

from clubcascade.core import Floats
from clubcascade.kernels import factors, linear, triangular
from clubcascade.kernels import ridge as models
from clubcascade.kernels.cohort_constants import RENEW_GROWTH
from clubcascade.kernels.cohort_state import Cohort
from clubcascade.kernels.jit import keep_whole, kernel


@kernel
def renew(state: Cohort, g: int) -> None:
    """Compute what follows from the sums of a model: its factor and mean now, the rest if asked."""
    keep_whole()
    ridge, root = state.ridge, state.root[g]
    weights, moment = ridge.weights[g], ridge.moment[g]
    linear.add_ridge(ridge.gram[g], ridge.reg, root)
    factors.factor(root)
    for f in range(weights.shape[0]):
        weights[f] = moment[f]
    triangular.solve(root, weights)
    state.root_count[g] = ridge.count[g]
    state.stale[g] = True


@kernel
def prior_around(state: Cohort, root: Floats, variance: float, covariance: Floats) -> float:
    """Write M^-1, and A^-1 of ``A = M^-1 + variance I`` to ``precision_work``; return ln det A.

    M by its factor, which is not ``factor_work``.
    """
    keep_whole()
    factors.invert_factor(root, state.factor_work, covariance)
    linear.add_ridge(covariance, variance, state.factor_work)
    return factors.invert(state.factor_work, 0.0, state.factor_work, state.precision_work)


@kernel
def settle(state: Cohort, g: int) -> None:
    """Compute M^-1 and A^-1 of a model, if its factor is newer."""
    keep_whole()
    if not state.stale[g]:
        return
    log_det = prior_around(state, state.root[g], state.within_variance, state.ridge.inverse[g])
    state.stale[g] = False
    if g > 0:
        state.prior_log_det[g] = log_det
        for f in range(state.precision_work.shape[0]):
            for h in range(state.precision_work.shape[0]):
                state.prior[g, f, h] = state.precision_work[f, h]


@kernel
def settle_all(state: Cohort) -> None:
    """Do so for every model, before they are saved."""
    for g in range(state.last_model + 1):
        settle(state, g)


@kernel
def add(state: Cohort, g: int, gram: Floats, moment: Floats, count: int, sign: float) -> None:
    """Add sums to a model, or with ``sign`` -1 take them away."""
    models.add(state.ridge, g, gram, moment, count, sign)
    now, then = state.ridge.count[g], state.root_count[g]
    if now >= RENEW_GROWTH * then or RENEW_GROWTH * now < then:
        renew(state, g)


@kernel
def forget(state: Cohort, node: int) -> None:
    """Halve a user's sums, and what its models have of them, once in ``half_life`` of its lists.

    Then it is reassigned as soon as it has enough observations.
    """
    state.lists[node] += 1
    if state.half_life == 0 or state.lists[node] % state.half_life > 0:
        return
    gram, moment, own = state.list_gram, state.list_moment, state.gram[node]
    for f in range(moment.shape[0]):
        for h in range(moment.shape[0]):
            gram[f, h] = 0.5 * own[f, h]
        moment[f] = 0.5 * state.moment[node, f]
    count = state.count[node] - state.count[node] // 2
    linear.add_both(own, state.moment[node], -1.0, gram, moment)
    state.count[node] -= count
    state.due[node] = 0
    add(state, 0, gram, moment, count, -1.0)
    g = state.label[node]
    if g > 0:
        add(state, g, gram, moment, count, -1.0)
        state.split_due[g] = max(state.split_due[g] - count, 0)


@kernel
def scale_outcomes(state: Cohort, factor: float) -> None:
    """Multiply all outcomes so far by a factor, and with them all weights."""
    for node in range(state.n_users):
        for f in range(state.moment.shape[1]):
            state.moment[node, f] *= factor
    for g in range(state.last_model + 1):
        for f in range(state.moment.shape[1]):
            state.ridge.moment[g, f] *= factor
        renew(state, g)


@kernel
def clear(state: Cohort, g: int) -> None:
    """Make a model one without observations."""
    models.clear(state.ridge, g)
    state.root_count[g] = 0
    state.stale[g] = True  # whether or not it was settled, it will be the same when it is saved
