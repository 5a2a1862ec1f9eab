"""CohortCascade: the evidence of a cohort, ln p(observations of a user | the cohort).

A user's weights are N(c, sigma^2 A) with the cohort mean c and A = M^-1 + tau_W I: the uncertainty
of the mean plus the spread of users around it. Up to terms that all cohorts share, with
g = b - S c,

    E = -1/2 [ln det A + ln det(A^-1 + S)] - 1/(2 sigma^2) [c'S c - 2 c'b - g' (A^-1 + S)^-1 g].
"""

from __future__ import annotations

import math

from clubcascade.core import Floats
from clubcascade.kernels import factors, linear, triangular
from clubcascade.kernels.cohort_constants import LOWEST_NOISE, SMALL_SHARE
from clubcascade.kernels.cohort_state import Cohort
from clubcascade.kernels.jit import kernel


@kernel
def evidence(
    gram: Floats,
    moment: Floats,
    prior_mean: Floats,
    prior: Floats,
    prior_log_det: float,
    noise: float,
    upper: Floats,
    residual: Floats,
) -> float:
    """Return E from S, b, c, ``prior = A^-1``, ``prior_log_det = ln det A`` and sigma^2.

    ``upper`` and ``residual`` are scratch: the factor of ``A^-1 + S``, and g.
    """
    d = moment.shape[0]
    linear.times(gram, prior_mean, residual)
    square = 0.0
    for f in range(d):
        square += prior_mean[f] * (residual[f] - 2.0 * moment[f])
        residual[f] = moment[f] - residual[f]
    for f in range(d):
        row, a, b = upper[f], prior[f], gram[f]
        for g in range(d):
            row[g] = a[g] + b[g]
    factors.factor(upper)
    log_det = prior_log_det
    for f in range(d):
        log_det += 2.0 * math.log(upper[f, f])
    triangular.solve_half(upper, residual)
    return -0.5 * ((square - linear.inner(residual, residual)) / noise + log_det)


@kernel
def evidence_bound(state: Cohort, node: int, g: int, variance: float, noise: float) -> float:
    """Return an upper bound of E: ``1/(2 sigma^2) [2 c'b - c'S c + g' A g]``.

    ``(A^-1 + S)^-1`` is at most A, and the log-determinants one_cohort are not negative. A is
    ``variance I``, plus ``M^-1`` if the model is a cohort's.
    """
    prior_mean, moment = state.ridge.weights[g], state.moment[node]
    residual, product = state.residual_work, state.product_work
    linear.times(state.gram[node], prior_mean, product)
    d = moment.shape[0]
    found = 0.0
    for f in range(d):
        found += prior_mean[f] * (2.0 * moment[f] - product[f])
        residual[f] = moment[f] - product[f]
    found += variance * linear.inner(residual, residual)
    if g > 0:
        linear.times(state.ridge.inverse[g], residual, product)
        found += linear.inner(residual, product)
    return found / (2.0 * noise)


@kernel
def isotropic_precision(state: Cohort, variance: float) -> float:
    """Write ``A^-1`` of ``A = variance I`` to ``precision_work``; return ``ln det A``."""
    d = state.moment.shape[1]
    for f in range(d):
        for g in range(d):
            state.precision_work[f, g] = 0.0
        state.precision_work[f, f] = 1.0 / variance
    return d * math.log(variance)


@kernel
def of_cohort(state: Cohort, node: int, g: int, noise: float) -> float:
    """Evidence of a cohort that the user is not in, or is a small share of."""
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
    """Evidence of a new cohort: c = a, the mean of everyone, and A = (tau_W + tau_B) I."""
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
    """Evidence of the user's own cohort, from which it is taken out."""
    g = state.label[node]
    ridge = state.ridge
    gram, moment = state.gram[node], state.moment[node]
    if state.count[node] <= SMALL_SHARE * ridge.count[g]:
        return of_cohort(state, node, g, noise)
    d = moment.shape[0]
    matrix, inverse, prior = state.matrix_work, state.inverse_work, state.precision_work
    others, prior_mean = state.product_work, state.mean_work
    for f in range(d):
        row, whole, own = matrix[f], ridge.gram[g, f], gram[f]
        for h in range(d):
            row[h] = whole[h] - own[h]
        others[f] = ridge.moment[g, f] - moment[f]
    factors.invert(matrix, ridge.reg, state.factor_work, inverse)
    linear.times(inverse, others, prior_mean)
    linear.add_ridge(inverse, state.within_variance, matrix)
    log_det = factors.invert(matrix, 0.0, state.factor_work, prior)
    return evidence(
        gram, moment, prior_mean, prior, log_det, noise, state.factor_work, state.residual_work
    )


@kernel
def split_gain(state: Cohort, small: int, large: int, noise: float) -> float:
    """Return by how much two cohorts make the small one's observations more probable than one."""
    ridge = state.ridge
    spread = state.within_variance * (1.0 / state.size[small] + 1.0 / state.size[large])
    linear.add_ridge(ridge.inverse[large], spread, state.matrix_work)
    log_det = factors.invert(state.matrix_work, 0.0, state.inverse_work, state.precision_work)
    one_cohort = evidence(
        ridge.gram[small],
        ridge.moment[small],
        ridge.weights[large],
        state.precision_work,
        log_det,
        noise,
        state.factor_work,
        state.residual_work,
    )
    log_det = isotropic_precision(state, state.between_variance + spread)
    two_cohorts = evidence(
        ridge.gram[small],
        ridge.moment[small],
        ridge.weights[0],
        state.precision_work,
        log_det,
        noise,
        state.factor_work,
        state.residual_work,
    )
    return two_cohorts - one_cohort


@kernel
def noise_of(state: Cohort) -> float:
    """Return sigma^2 as measured, bounded from below."""
    return max(state.noise_variance, LOWEST_NOISE)
