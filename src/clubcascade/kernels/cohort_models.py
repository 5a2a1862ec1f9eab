"""CohortCascade: the ridge models of everyone and of the cohorts.

The sums of a model (Gram matrix, moment, count) are always up to date. What follows from them costs
more and changes little: M^-1 of ``M = S + reg I``, the factor of M, the mean ``c = M^-1 b``, and
A^-1 of ``A = M^-1 + tau_W I``. It is computed anew whenever the count has changed by 2%.
"""

from __future__ import annotations

from clubcascade.core import Floats
from clubcascade.kernels import factors, linear
from clubcascade.kernels import ridge as models
from clubcascade.kernels.cohort_constants import RENEW_GROWTH
from clubcascade.kernels.cohort_state import Cohort
from clubcascade.kernels.jit import kernel


@kernel
def renew(state: Cohort, g: int) -> None:
    """Compute what follows from the sums of a model."""
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
    """Add sums to a model, or with ``sign`` -1 take them away."""
    models.add(state.ridge, g, gram, moment, count, sign)
    now, then = state.ridge.count[g], state.root_count[g]
    if now >= RENEW_GROWTH * then or RENEW_GROWTH * now < then:
        renew(state, g)


@kernel
def clear(state: Cohort, g: int) -> None:
    """Make a model one without observations."""
    models.clear(state.ridge, g)
    state.root_count[g] = 0
