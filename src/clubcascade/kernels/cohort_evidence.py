"""CohortCascade: how probable a user's feedback is in a cohort.

The measure is the *evidence*: the logarithm of the probability of a user's feedback if its weights
are drawn from N(c, s^2 A), A being the spread of users around a cohort plus what is unknown of the
cohort's own weights c.
"""

from __future__ import annotations

import math

from clubcascade.core import Floats
from clubcascade.kernels import factors, linear, triangular
from clubcascade.kernels.cohort_state import Cohort
from clubcascade.kernels.jit import kernel

SMALL_SHARE = 0.02
"""Share of a cohort's feedback up to which a user need not be taken out to be compared with it."""
LOWEST_NOISE = 1e-4


@kernel
def evidence(
    gram: Floats,
    moment: Floats,
    centre: Floats,
    prior: Floats,
    prior_log_det: float,
    noise: float,
    upper: Floats,
    rest: Floats,
) -> float:
    """Log-probability of feedback under weights ~ N(centre, noise A), but for what all share.

    ``prior`` is the inverse of A and ``prior_log_det`` the log-determinant of A; ``upper`` and
    ``rest`` are scratch.
    """
    d = moment.shape[0]
    linear.times(gram, centre, rest)
    square = 0.0
    for f in range(d):
        square += centre[f] * (rest[f] - 2.0 * moment[f])
        rest[f] = moment[f] - rest[f]
    for f in range(d):
        row, a, b = upper[f], prior[f], gram[f]
        for g in range(d):
            row[g] = a[g] + b[g]
    factors.factor(upper)
    log_det = prior_log_det
    for f in range(d):
        log_det += 2.0 * math.log(upper[f, f])
    triangular.solve_half(upper, rest)
    return -0.5 * ((square - linear.inner(rest, rest)) / noise + log_det)


@kernel
def evidence_bound(state: Cohort, node: int, g: int, variance: float, noise: float) -> float:
    """Return what the evidence of a user's feedback around model ``g`` cannot exceed.

    With r = b - S c the evidence is that of c itself plus ``r' (A^-1 + S)^-1 r / (2 noise)`` minus
    a log-determinant: less than with ``r' A r``. A is the variance of users around the model, plus
    the model's own covariance if it is a cohort.
    """
    centre, moment = state.ridge.weights[g], state.moment[node]
    rest, product = state.residual_work, state.product_work
    linear.times(state.gram[node], centre, product)
    d = moment.shape[0]
    found = 0.0
    for f in range(d):
        found += centre[f] * (2.0 * moment[f] - product[f])
        rest[f] = moment[f] - product[f]
    found += variance * linear.inner(rest, rest)
    if g > 0:
        linear.times(state.ridge.inverse[g], rest, product)
        found += linear.inner(rest, product)
    return found / (2.0 * noise)


@kernel
def isotropic_precision(state: Cohort, variance: float) -> float:
    """Fill ``precision_work`` with that of a flat spread; return the log-determinant of A."""
    d = state.moment.shape[1]
    for f in range(d):
        for g in range(d):
            state.precision_work[f, g] = 0.0
        state.precision_work[f, f] = 1.0 / variance
    return d * math.log(variance)


@kernel
def of_cohort(state: Cohort, node: int, g: int, noise: float) -> float:
    """Evidence of a user's feedback in a cohort that it is not in, or hardly counts in."""
    return evidence(
        state.gram[node],
        state.moment[node],
        state.ridge.weights[g],
        state.prior[g],
        state.prior_log_det[g],
        noise,
        state.factor_work,
        state.residual_work,
    )


@kernel
def of_new_cohort(state: Cohort, node: int, noise: float) -> float:
    """Evidence of a user's feedback in a cohort of its own, somewhere around everyone."""
    log_det = isotropic_precision(state, state.within_variance + state.between_variance)
    return evidence(
        state.gram[node],
        state.moment[node],
        state.ridge.weights[0],
        state.precision_work,
        log_det,
        noise,
        state.factor_work,
        state.residual_work,
    )


@kernel
def of_own_cohort(state: Cohort, node: int, noise: float) -> float:
    """Evidence of a user's feedback in its own cohort, from which it is taken out."""
    g = state.label[node]
    ridge = state.ridge
    gram, moment = state.gram[node], state.moment[node]
    if state.count[node] <= SMALL_SHARE * ridge.count[g]:
        return of_cohort(state, node, g, noise)
    d = moment.shape[0]
    rest, inverse, prior = state.matrix_work, state.inverse_work, state.precision_work
    others, centre = state.product_work, state.mean_work
    for f in range(d):
        row, whole, own = rest[f], ridge.gram[g, f], gram[f]
        for h in range(d):
            row[h] = whole[h] - own[h]
        others[f] = ridge.moment[g, f] - moment[f]
    factors.invert(rest, ridge.reg, state.factor_work, inverse)
    linear.times(inverse, others, centre)
    linear.add_ridge(inverse, state.within_variance, rest)
    log_det = factors.invert(rest, 0.0, state.factor_work, prior)
    return evidence(
        gram, moment, centre, prior, log_det, noise, state.factor_work, state.residual_work
    )


@kernel
def split_gain(state: Cohort, small: int, large: int, noise: float) -> float:
    """Return by how much two cohorts make the small one's feedback more probable than one."""
    ridge = state.ridge
    apart = state.within_variance * (1.0 / state.size[small] + 1.0 / state.size[large])
    linear.add_ridge(ridge.inverse[large], apart, state.matrix_work)
    log_det = factors.invert(state.matrix_work, 0.0, state.inverse_work, state.precision_work)
    together = evidence(
        ridge.gram[small],
        ridge.moment[small],
        ridge.weights[large],
        state.precision_work,
        log_det,
        noise,
        state.factor_work,
        state.residual_work,
    )
    log_det = isotropic_precision(state, state.between_variance + apart)
    alone = evidence(
        ridge.gram[small],
        ridge.moment[small],
        ridge.weights[0],
        state.precision_work,
        log_det,
        noise,
        state.factor_work,
        state.residual_work,
    )
    return alone - together


@kernel
def noise_of(state: Cohort) -> float:
    """Return the measured noise, never quite nothing."""
    return max(state.noise_variance, LOWEST_NOISE)
