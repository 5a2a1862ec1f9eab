"""CohortCascade: prequential selection of a user's predictor.

Before a list is learned, every predictor predicts it. Squared errors are summed per predictor and
per power of two of the user's number of observations, older ones decaying. Users with such a number
are then served by the predictor of least error.
"""

from __future__ import annotations

import math

import numpy as np

from clubcascade.core import Floats, Ints
from clubcascade.kernels import cohort_posterior as posterior
from clubcascade.kernels import factors, linear, low_rank, triangular
from clubcascade.kernels.cohort_constants import (
    EARLY_TOLERANCE,
    EVALUATED_EVERY,
    EVALUATED_FULLY,
    FIRST_PREDICTOR,
    HEAD_START_OBSERVATIONS,
    INHERITED_OBSERVATIONS,
    LOGISTIC_NOISE,
    LONGEST_WINDOW,
    MARGIN,
    N_BUCKETS,
    N_PREDICTORS,
    NOISE_DECAY,
    PRECISIONS,
    SHORTEST_WINDOW,
    TOLERANCE,
    TOLERANCE_OBSERVATIONS,
    WINDOW_SHARE,
)
from clubcascade.kernels.cohort_posterior import bucket, click_probability
from clubcascade.kernels.cohort_state import Cohort
from clubcascade.kernels.jit import keep_whole, kernel

FEW = 2
"""Observations count as few up to the number of features divided by this."""


@kernel
def _squared_error(
    state: Cohort, weights: Floats, features: Floats, rows: Ints, examined: int, rewards: Floats
) -> float:
    """Sum of ``(y - mu(w . x))^2`` over the observations of a list."""
    keep_whole()
    logistic = state.logistic
    total = 0.0
    for p in range(examined):
        row, z = rows[p], 0.0  # no view of a row: it would cost as much as the product
        for f in range(weights.shape[0]):
            z += weights[f] * features[row, f]
        total += (rewards[p] - click_probability(logistic, z)) ** 2
    return total


@kernel
def _predictor_errors(
    state: Cohort, node: int, features: Floats, rows: Ints, examined: int, rewards: Floats
) -> None:
    """Write each predictor's error on a list to ``error[-1]``; a factor of P serves both means."""
    keep_whole()
    errors, n = state.error[N_BUCKETS], PRECISIONS.shape[0]
    everyone = state.ridge.weights[0]
    cohort = posterior.prior_mean_of(state, node, N_PREDICTORS - 1)
    upper, one, other = state.factor_work, state.residual_work, state.product_work
    gram, moment, most = state.gram[node], state.moment[node], everyone.shape[0] // FEW
    errors[n] = _squared_error(state, everyone, features, rows, examined, rewards)
    errors[N_PREDICTORS - 1] = _squared_error(state, cohort, features, rows, examined, rewards)
    if state.count[node] <= most:
        found, x, h = low_rank.observations(gram, moment, most)
        if found:
            _few_errors(state, x, h, everyone, cohort, features, rows, examined, rewards)
            return
    for place in range(n):
        precision = PRECISIONS[place]
        posterior.factor_posterior(state, node, precision, everyone, upper, one)
        for f in range(other.shape[0]):
            other[f] = moment[f] + precision * cohort[f]
        triangular.solve_half_two(upper, one, other)
        triangular.solve_other_half_two(upper, one, other)
        errors[place] = _squared_error(state, one, features, rows, examined, rewards)
        errors[n + 1 + place] = _squared_error(state, other, features, rows, examined, rewards)


@kernel
def _few_errors(
    state: Cohort,
    x: Floats,
    h: Floats,
    everyone: Floats,
    cohort: Floats,
    features: Floats,
    rows: Ints,
    examined: int,
    rewards: Floats,
) -> None:
    """Do so from few observations: ``m(c) = c + X' (X X' + p I)^-1 (h - X c)``."""
    keep_whole()
    errors, n, r = state.error[N_BUCKETS], PRECISIONS.shape[0], h.shape[0]
    products, shown = low_rank.products(x), np.empty((examined, r))
    upper, one, other = np.empty((r, r)), np.empty(r), np.empty(r)
    rest, cohort_rest = low_rank.residuals(x, h, everyone), low_rank.residuals(x, h, cohort)
    for p in range(examined):
        for i in range(r):
            shown[p, i] = linear.inner(x[i], features[rows[p]])
    for place in range(n):
        linear.add_ridge(products, PRECISIONS[place], upper)
        factors.factor(upper)
        for i in range(r):
            one[i], other[i] = rest[i], cohort_rest[i]
        triangular.solve_half_two(upper, one, other)
        triangular.solve_other_half_two(upper, one, other)
        errors[place] = errors[n + 1 + place] = 0.0
        for p in range(examined):
            item, y = features[rows[p]], rewards[p]
            z = linear.inner(everyone, item) + linear.inner(one, shown[p])
            errors[place] += (y - click_probability(state.logistic, z)) ** 2
            z = linear.inner(cohort, item) + linear.inner(other, shown[p])
            errors[n + 1 + place] += (y - click_probability(state.logistic, z)) ** 2


@kernel
def _mixture_errors(
    state: Cohort, node: int, features: Floats, rows: Ints, examined: int, rewards: Floats
) -> tuple[float, float]:
    """Return the errors on a list: of the cohort's mean, and under the posterior over cohorts."""
    cohort, mixed = state.ridge.weights[state.label[node]], state.prior_work
    error = _squared_error(state, cohort, features, rows, examined, rewards)
    if not posterior.mixture_mean(state, node, mixed):
        return error, error
    return error, _squared_error(state, mixed, features, rows, examined, rewards)


@kernel
def _inherit(state: Cohort, power: int) -> None:
    """Start with some observations' worth of the errors of the power of two below."""
    below = state.error[power - 1]
    share = min(1.0, INHERITED_OBSERVATIONS / max(below[N_PREDICTORS], 1.0))
    for predictor in range(N_PREDICTORS + 1):
        state.error[power, predictor] = share * below[predictor]
    for kind in range(2):
        state.mixture_error[power, kind] = share * state.mixture_error[power - 1, kind]


@kernel
def _tolerance(state: Cohort, power: int) -> float:
    """Return the share of the error by which a weaker precision may be worse.

    In proportion to the noise, up to that of a fair coin, and to ``n / (n + 2000)`` for the n
    observations of everyone.
    """
    noise = state.noise_variance / (LOGISTIC_NOISE if state.logistic else 1.0)
    n = state.ridge.count[0]
    share = min(1.0, 4.0 * noise) * n / (n + TOLERANCE_OBSERVATIONS)
    return share * (TOLERANCE + EARLY_TOLERANCE / 2.0**power)


@kernel
def _select(errors: Floats, tolerance: float) -> int:
    """Return the predictor of least error, after margin, head start and tolerance."""
    per_mean = PRECISIONS.shape[0] + 1
    ahead = 1.0 / (1.0 + errors[N_PREDICTORS] / HEAD_START_OBSERVATIONS)
    best, least = FIRST_PREDICTOR, math.inf
    for predictor in range(N_PREDICTORS):
        steps = (predictor + 1) % per_mean  # 0 for the infinite precision, then 1 for 256, ...
        error = errors[predictor] * (1.0 + MARGIN * steps)
        if predictor != FIRST_PREDICTOR:
            error += ahead
        if error < least:
            best, least = predictor, error
    if FIRST_PREDICTOR <= best % per_mean < per_mean - 1:  # rather explore too much than too little
        most = (1.0 + tolerance) * errors[best]
        for predictor in range(best + 1, best - best % per_mean + per_mean - 1):
            if errors[predictor] <= most:
                best = predictor
    return best


@kernel
def is_due(state: Cohort, node: int, t: int) -> bool:
    """Tell whether the predictors are evaluated on the next list of a user."""
    evaluated = state.error[bucket(state.count[node]), N_PREDICTORS]
    calibrated = state.promised < 0.0
    return calibrated and (evaluated < EVALUATED_FULLY or t % EVALUATED_EVERY == 0)


@kernel
def evaluate(
    state: Cohort, node: int, features: Floats, rows: Ints, examined: int, rewards: Floats
) -> None:
    """Add the predictors' errors on a list that is not yet learned, and select anew."""
    keep_whole()
    power = bucket(state.count[node])
    _predictor_errors(state, node, features, rows, examined, rewards)
    errors, new = state.error[power], state.error[N_BUCKETS]
    if power > 0 and errors.sum() == 0.0:  # no user had so many observations before
        _inherit(state, power)
    if state.measures_noise and not state.logistic:
        now = new[state.predictor[power]] / examined
        state.noise_variance += (1.0 - NOISE_DECAY**examined) * (now - state.noise_variance)
    window = min(max(WINDOW_SHARE * state.ridge.count[0], SHORTEST_WINDOW), LONGEST_WINDOW)
    decay = (1.0 - 1.0 / window) ** examined
    new[N_PREDICTORS] = examined
    for predictor in range(N_PREDICTORS + 1):
        errors[predictor] = decay * errors[predictor] + new[predictor]
    of_cohort, mixed = _mixture_errors(state, node, features, rows, examined, rewards)
    known = state.mixture_error[power]
    known[0] = decay * known[0] + of_cohort
    known[1] = decay * known[1] + mixed
    state.predictor[power] = _select(errors, _tolerance(state, power))
