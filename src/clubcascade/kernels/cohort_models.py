"""CohortCascade: the models of everyone and of the cohorts.

What a model has seen (Gram matrix, moment, count) is always up to date. What follows from it costs
more and hardly changes: weights, covariance, a factor to draw with, what users are compared with.
It is computed anew whenever the count has changed by a small share.
"""

from __future__ import annotations

from clubcascade.core import Floats
from clubcascade.kernels import factors, linear
from clubcascade.kernels import ridge as models
from clubcascade.kernels.cohort_state import Cohort
from clubcascade.kernels.jit import kernel

RENEW_GROWTH = 1.02
"""Change of a model's count after which all that follows from it is computed anew."""


@kernel
def renew(state: Cohort, g: int) -> None:
    """Compute what follows from what a model has seen."""
    ridge, root = state.ridge, state.root[g]
    covariance = ridge.inverse[g]
    linear.add_ridge(ridge.gram[g], ridge.reg, root)
    factors.factor(root)
    factors.invert_factor(root, ridge.matrix_work, covariance)
    linear.times(covariance, ridge.moment[g], ridge.weights[g])
    state.root_count[g] = ridge.count[g]
    if g > 0:
        linear.add_ridge(covariance, state.within_variance, state.matrix_work)
        state.prior_log_det[g] = factors.invert(
            state.matrix_work, 0.0, state.inverse_work, state.prior[g]
        )


@kernel
def add(state: Cohort, g: int, gram: Floats, moment: Floats, count: int, sign: float) -> None:
    """Let a model see some feedback, or with ``sign`` -1 forget it."""
    models.add(state.ridge, g, gram, moment, count, sign)
    now, then = state.ridge.count[g], state.root_count[g]
    if now >= RENEW_GROWTH * then or RENEW_GROWTH * now < then:
        renew(state, g)


@kernel
def clear(state: Cohort, g: int) -> None:
    """Make a model one that has seen nothing."""
    models.clear(state.ridge, g)
    state.root_count[g] = 0
