"""CohortCascade: the evidence of a cohort, ln p(observations of a user | the cohort).

A user's weights are N(c, sigma^2 A) with the cohort mean c and A = M^-1 + tau_W I: the uncertainty
of the mean plus the spread of users around it. Up to terms that all cohorts share, with
g = b - S c,

    E = -1/2 [ln det A + ln det(A^-1 + S)] - 1/(2 sigma^2) [c'S c - 2 c'b - g' (A^-1 + S)^-1 g].

The same from observations X, h with these sums (``low_rank``), if there are few: with
r = h - X c and K = I + X A X',

    E = h'h / (2 sigma^2) - 1/2 [ln det K + r' K^-1 r / sigma^2].
"""

from __future__ import annotations

import math

from clubcascade.core import Floats
from clubcascade.kernels import cohort_models, factors, linear, low_rank, triangular
from clubcascade.kernels.cohort_constants import LOWEST_NOISE, RENEW_GROWTH
from clubcascade.kernels.cohort_state import Cohort
from clubcascade.kernels.jit import keep_whole, kernel

FEW = 3
"""Observations count as few up to the number of features divided by this."""


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
    keep_whole()
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
def _evidence_of_few(
    x: Floats, h: Floats, mean: Floats, root: Floats, certain: bool, variance: float, noise: float
) -> float:
    """Return E from observations; ``A = M^-1 + variance I``, M by its factor unless ``certain``."""
    keep_whole()
    n = h.shape[0]
    upper, rest = low_rank.products(x), low_rank.residuals(x, h, mean)
    for i in range(n):
        for j in range(i, n):
            upper[i, j] *= variance
        upper[i, i] += 1.0
    if not certain:
        for i in range(0, n - 1, 2):
            triangular.solve_half_two(root, x[i], x[i + 1])
        if n % 2 == 1:
            triangular.solve_half(root, x[n - 1])
        more = low_rank.products(x)
        for i in range(n):
            for j in range(i, n):
                upper[i, j] += more[i, j]
    factors.factor(upper)
    triangular.solve_half(upper, rest)
    log_det = 0.0
    for i in range(n):
        log_det += 2.0 * math.log(upper[i, i])
    return -0.5 * ((linear.inner(rest, rest) - linear.inner(h, h)) / noise + log_det)


@kernel
def _evidence_around(
    state: Cohort,
    gram: Floats,
    moment: Floats,
    count: int,
    mean: Floats,
    root: Floats,
    certain: bool,
    variance: float,
    noise: float,
) -> float:
    """Return E for ``A = M^-1 + variance I``, M by its factor; ``variance I`` if ``certain``."""
    keep_whole()
    most = moment.shape[0] // FEW
    if count <= most:
        found, x, h = low_rank.observations(gram, moment, most)
        if found:
            return _evidence_of_few(x, h, mean, root, certain, variance, noise)
    if certain:
        log_det = isotropic_precision(state, variance)
    else:
        log_det = cohort_models.prior_around(state, root, variance, state.inverse_work)
    prior, upper, residual = state.precision_work, state.factor_work, state.residual_work
    return evidence(gram, moment, mean, prior, log_det, noise, upper, residual)


@kernel
def evidence_bound(state: Cohort, node: int, g: int, variance: float, noise: float) -> float:
    """Return an upper bound of E: ``1/(2 sigma^2) [2 c'b - c'S c + g' A g]``.

    ``(A^-1 + S)^-1`` is at most A, and the log-determinants together are not negative. A is
    ``variance I``, plus ``M^-1`` if the model is a cohort's.
    """
    keep_whole()
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
        triangular.solve_half(state.root[g], residual)
        found += linear.inner(residual, residual)
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
    keep_whole()
    gram, moment, mean = state.gram[node], state.moment[node], state.ridge.weights[g]
    most = moment.shape[0] // FEW
    if state.count[node] <= most:
        found, x, h = low_rank.observations(gram, moment, most)
        if found:
            within = state.within_variance
            return _evidence_of_few(x, h, mean, state.root[g], False, within, noise)
    cohort_models.settle(state, g)
    prior, log_det = state.prior[g], state.prior_log_det[g]
    return evidence(
        gram, moment, mean, prior, log_det, noise, state.factor_work, state.residual_work
    )


@kernel
def of_new_cohort(state: Cohort, node: int, noise: float) -> float:
    """Evidence of a new cohort: c = a, the mean of everyone, and A = (tau_W + tau_B) I."""
    everyone, root = state.ridge.weights[0], state.root[0]
    gram, moment, count = state.gram[node], state.moment[node], state.count[node]
    variance = state.within_variance + state.between_variance
    return _evidence_around(state, gram, moment, count, everyone, root, True, variance, noise)


@kernel
def of_own_cohort(state: Cohort, node: int, noise: float) -> float:
    """Evidence of the user's own cohort, from which it is taken out."""
    keep_whole()
    g = state.label[node]
    ridge = state.ridge
    gram, moment, count = state.gram[node], state.moment[node], state.count[node]
    if count <= (RENEW_GROWTH - 1.0) * ridge.count[g]:
        return of_cohort(state, node, g, noise)
    d = moment.shape[0]
    root, mean = state.matrix_work, state.mean_work
    for f in range(d):
        row, whole, own = root[f], ridge.gram[g, f], gram[f]
        for h in range(d):
            row[h] = whole[h] - own[h]
        row[f] += ridge.reg
        mean[f] = ridge.moment[g, f] - moment[f]
    factors.factor(root)
    triangular.solve(root, mean)
    within = state.within_variance
    return _evidence_around(state, gram, moment, count, mean, root, False, within, noise)


@kernel
def split_gain(state: Cohort, small: int, large: int, noise: float) -> float:
    """Return by how much two cohorts make the small one's observations more probable than one."""
    ridge, root = state.ridge, state.root[large]
    gram, moment, count = ridge.gram[small], ridge.moment[small], ridge.count[small]
    means, spread = ridge.weights, state.within_variance / state.size[small]
    spread += state.within_variance / state.size[large]
    one_cohort = _evidence_around(
        state, gram, moment, count, means[large], root, False, spread, noise
    )
    spread += state.between_variance
    two_cohorts = _evidence_around(state, gram, moment, count, means[0], root, True, spread, noise)
    return two_cohorts - one_cohort


@kernel
def noise_of(state: Cohort) -> float:
    """Return sigma^2 as measured, bounded from below."""
    return max(state.noise_variance, LOWEST_NOISE)
