"""CohortCascade: the posterior of a user's weights, and Thompson draws from it.

A user's prior is N(c, sigma^2 / p I): c is the mean of everyone or of the user's cohort, p the
prior precision. With the user's Gram matrix S and moment b, and P = S + p I, the posterior has

    mean        m(c) = P^-1 (b + p c)
    covariance  sigma^2 P^-1.

An infinite p gives the prior mean itself. A prior mean and a precision are a *predictor*; which one
serves a user is selected prequentially (``cohort_selection``).

Of the first observations of a user one cannot tell which cohort it belongs to. Given the means c_g
of the cohorts, n_g users in each, and the user's S and b,

    pr(g) ~ n_g exp((b . c_g - c_g . S c_g / 2) / sigma^2),

and ``sum of pr(g) c_g`` takes the place of the cohort's mean where it predicted better.
"""

from __future__ import annotations

import math

import numpy as np

from clubcascade.core import Floats
from clubcascade.kernels import factors, linear, prefetch, triangular, ziggurat
from clubcascade.kernels.cohort_constants import (
    EARLY_OBSERVATIONS,
    EARLY_USERS,
    LOWEST_NOISE,
    MIXTURE_MARGIN,
    MOST_MIXED,
    N_BUCKETS,
    PRECISIONS,
    REMEMBERED_EXPLORE,
    WARM_UP_EVERY,
    WARM_UP_PREDICTOR,
)
from clubcascade.kernels.cohort_state import Cohort
from clubcascade.kernels.item_memory import LARGEST_LOGIT
from clubcascade.kernels.jit import keep_whole, kernel


@kernel
def bucket(count: int) -> int:
    """Return the power of two of a user's number of observations."""
    return min(int(math.log2(count + 1.0)), N_BUCKETS - 1)


@kernel
def prior_model(state: Cohort, node: int, predictor: int) -> int:
    """Return the model whose weights are a predictor's prior mean: 0 (everyone), or the cohort."""
    return state.label[node] if predictor > PRECISIONS.shape[0] else 0


@kernel
def precision_of(predictor: int) -> float:
    """Return the prior precision p of a predictor."""
    place = predictor % (PRECISIONS.shape[0] + 1)
    return PRECISIONS[place] if place < PRECISIONS.shape[0] else math.inf


@kernel
def is_warm_up(node: int, count: int) -> bool:
    """Tell whether a user with this number and count is a warm-up user."""
    every = WARM_UP_EVERY if node < EARLY_USERS else EARLY_USERS
    return node % every == every - 1 and count < EARLY_OBSERVATIONS


@kernel
def predictor_of(state: Cohort, node: int) -> int:
    """Return the selected predictor; a warm-up user's has precision 1 at most."""
    predictor = state.predictor[bucket(state.count[node])]
    if is_warm_up(node, state.count[node]) and precision_of(predictor) > precision_of(
        WARM_UP_PREDICTOR
    ):
        return WARM_UP_PREDICTOR
    return predictor


@kernel
def prefetch_user(state: Cohort, node: int) -> None:
    """Prefetch S and b of a user."""
    prefetch.prefetch_row(state.gram, node)
    prefetch.prefetch_row(state.moment, node)


@kernel
def factor_posterior(
    state: Cohort, node: int, precision: float, prior_mean: Floats, upper: Floats, out: Floats
) -> None:
    """``out = b + p c``, and ``upper`` the Cholesky factor R of ``P = S + p I = R' R``."""
    linear.add_ridge(state.gram[node], precision, upper)
    factors.factor(upper)
    moment = state.moment[node]
    for f in range(out.shape[0]):
        out[f] = moment[f] + precision * prior_mean[f]


@kernel
def posterior_mean(
    state: Cohort, node: int, precision: float, prior_mean: Floats, upper: Floats, out: Floats
) -> None:
    """``out = m(c) = P^-1 (b + p c)``; ``upper`` becomes the factor of P."""
    if precision == math.inf:
        for f in range(out.shape[0]):
            out[f] = prior_mean[f]
        return
    factor_posterior(state, node, precision, prior_mean, upper, out)
    triangular.solve(upper, out)


@kernel
def mixture_mean(state: Cohort, node: int, out: Floats) -> bool:
    """Write ``sum of pr(g) c_g``; False, and nothing, where that is not done."""
    keep_whole()
    n = state.n_cohorts
    if n < 2 or n > MOST_MIXED or state.count[node] >= EARLY_OBSERVATIONS:
        return False
    noise, top, value = max(state.noise_variance, LOWEST_NOISE), -math.inf, np.empty(n)
    label, place = np.empty(n, np.int64), 0
    for g in range(1, state.last_model + 1):
        if state.size[g] > 0:
            mean = state.ridge.weights[g]
            linear.times(state.gram[node], mean, out)
            fit = linear.dot(mean, state.moment[node]) - 0.5 * linear.dot(mean, out)
            label[place], value[place] = g, math.log(state.size[g]) + fit / noise
            top = max(top, value[place])
            place += 1
    total = 0.0
    for f in range(out.shape[0]):
        out[f] = 0.0
    for place in range(n):
        weight = math.exp(value[place] - top)
        total += weight
        mean = state.ridge.weights[label[place]]
        for f in range(out.shape[0]):
            out[f] += weight * mean[f]
    for f in range(out.shape[0]):
        out[f] /= total
    return True


@kernel
def prior_mean_of(state: Cohort, node: int, predictor: int) -> Floats:
    """Return a predictor's prior mean; in ``prior_work`` if it is one over cohorts."""
    if predictor > PRECISIONS.shape[0]:
        error = state.mixture_error[bucket(state.count[node])]
        better = error[1] < (1.0 - MIXTURE_MARGIN) * error[0]
        if better and mixture_mean(state, node, state.prior_work):
            return state.prior_work
    return state.ridge.weights[prior_model(state, node, predictor)]


@kernel
def draw_scale(state: Cohort) -> float:
    """Return v sigma; v is smaller where a good item, once found, stays good (``item_share``)."""
    narrowing = 1.0 - (1.0 - REMEMBERED_EXPLORE) * state.item_share
    return state.explore * narrowing * math.sqrt(state.noise_variance)


@kernel
def width_bonus(state: Cohort) -> float:
    """Return what a posterior standard deviation (in units of sigma) adds to an item's score.

    Nothing where clicks are drawn anew; where a click is found once and for all, optimism pays.
    Tried on four sets of real clicks, new users' first five lists: none (8 to 20% more misses),
    half of it (2 to 9% more on three).
    """
    return state.item_share * math.sqrt(state.noise_variance)


@kernel
def sample_weights(state: Cohort, node: int, mean: Floats, deviation: Floats) -> None:
    """Thompson draw in two stages, the prior mean and the user around it: mean + deviation.

    With ``M = Q' Q`` of the prior's model, ``P = R' R``, omega = mean_widening and ``draw_scale``
    for v sigma:

        mean       = P^-1 (b + p c)
        deviation  = P^-1 p (omega v sigma Q^-1 z1) + v sigma R^-1 z2,    z1, z2 ~ N(0, I)
                   = R^-1 (R'^-1 p (omega v sigma Q^-1 z1) + v sigma z2)

    Without mirroring, the whole draw is written to ``mean``.
    """
    keep_whole()
    predictor = predictor_of(state, node)
    g = prior_model(state, node, predictor)
    precision = precision_of(predictor)
    scale = draw_scale(state)
    normals = state.residual_work
    t = state.n_drawn
    state.n_drawn += 1
    ziggurat.normals(state.draw_key, 2 * t, normals)
    triangular.solve_other_half(state.root[g], normals)
    for f in range(deviation.shape[0]):
        deviation[f] = scale * state.mean_widening * normals[f]
    prior_mean, upper = prior_mean_of(state, node, predictor), state.factor_work
    if precision == math.inf:
        for f in range(mean.shape[0]):
            mean[f] = prior_mean[f]
    else:
        factor_posterior(state, node, precision, prior_mean, upper, mean)
        for f in range(deviation.shape[0]):
            deviation[f] *= precision
        triangular.solve_half_two(upper, mean, deviation)
        ziggurat.normals(state.draw_key, 2 * t + 1, normals)
        for f in range(deviation.shape[0]):
            deviation[f] += scale * normals[f]
        triangular.solve_other_half_two(upper, mean, deviation)
    if not state.mirrors_draws:
        for f in range(deviation.shape[0]):
            mean[f] += deviation[f]
            deviation[f] = 0.0


@kernel
def mean_weights(state: Cohort, node: int, out: Floats) -> None:
    """Write the posterior mean of a user's weights under its predictor."""
    keep_whole()
    predictor = predictor_of(state, node)
    prior_mean = prior_mean_of(state, node, predictor)
    posterior_mean(state, node, precision_of(predictor), prior_mean, state.factor_work, out)


@kernel
def click_probability(logistic: bool, z: float) -> float:
    """Return mu(z), the probability of a click where ``z = w . x``."""
    if logistic:
        return 1.0 / (1.0 + math.exp(-z))
    return min(max(z, 0.0), 1.0)


@kernel
def clip_logit(z: float) -> float:
    """Return the point at which the logistic link is linearized: z, but not too far out."""
    return min(max(z, -LARGEST_LOGIT), LARGEST_LOGIT)


@kernel
def linearize(state: Cohort, z: float, y: float) -> tuple[float, float]:
    """Return (scale, value): a click y of item x is an observation ``value`` of ``w . (scale x)``.

    With m = mu(z) and m' = m (1 - m), ``z + (y - m) / m'`` is an observation of w.x with variance
    1 / m'. Item and value are multiplied by ``scale = 2 sqrt(m')``, for a variance of 4.
    """
    if not state.logistic:
        return 1.0, y
    z = clip_logit(z)
    m = click_probability(True, z)
    slope = m * (1.0 - m)
    scale = 2.0 * math.sqrt(slope)
    return scale, scale * (z + (y - m) / slope)
