"""CohortCascade: what is believed of a user, and how weights are drawn from it.

Three levels: everyone, the cohort, the user. A user's weights are taken to lie around a *centre*
(everyone's weights or the cohort's) with a *pull* p: given a centre c they are

    (S + p I)^-1 (b + p c),

from the user's own Gram matrix S and moment b. An infinite pull is the centre itself, a weak one
the user alone. A centre and a pull are a *way* to predict; which one is used depends on how much
is known of a user (``cohort_selection``).
"""

from __future__ import annotations

import math

import numpy as np

from clubcascade.core import Floats
from clubcascade.kernels import factors, linear, prefetch, triangular, ziggurat
from clubcascade.kernels.cohort_state import Cohort
from clubcascade.kernels.jit import kernel

PRECISIONS = np.array([256.0, 64.0, 16.0, 4.0, 1.0, 0.25])
"""How strongly a user may be pulled to its centre, besides infinitely."""
N_PREDICTORS = 2 * len(PRECISIONS) + 2
"""Ways to predict: every pull and the infinite one, around everyone and around the cohort."""
LARGEST_LOGIT = 4.0
"""Largest size of the inner product at which the logistic curve is taken for a straight line."""
N_BUCKETS = 32
"""Powers of two of a user's count."""
LOGISTIC_NOISE = 16.0
"""Noise of straightened looks (see ``tangent``) for each unit of a probability's squared error."""
EARLY_USERS, WARM_UP_EVERY, WARM_UP_EVERY_LATER = 128, 16, 128
"""One user in 16 of the first 128, and one in 128 of the others, is a pioneer.

While it is new it follows its own taste, whatever is judged best. Else users who are alike in all
that is shown would never be shown what sets them apart. A few are enough to tell.
"""
WARM_UP_PREDICTOR = 11
"""How it is served then: around its cohort, with a pull of 1."""
WARM_UP_OBSERVATIONS = 128
"""Looks for which it is."""


@kernel
def bucket(count: int) -> int:
    """Return the power of two of a user's count."""
    return min(int(math.log2(count + 1.0)), N_BUCKETS - 1)


@kernel
def prior_model(state: Cohort, node: int, way: int) -> int:
    """Return the model around which a way predicts: 0 for everyone, else the cohort."""
    return state.label[node] if way > PRECISIONS.shape[0] else 0


@kernel
def precision_of(way: int) -> float:
    """Return the pull of a way, infinity for the centre itself."""
    place = way % (PRECISIONS.shape[0] + 1)
    return PRECISIONS[place] if place < PRECISIONS.shape[0] else math.inf


@kernel
def is_warm_up(node: int, count: int) -> bool:
    """Tell whether a user with this number and count is a pioneer."""
    every = WARM_UP_EVERY if node < EARLY_USERS else WARM_UP_EVERY_LATER
    return node % every == every - 1 and count < WARM_UP_OBSERVATIONS


@kernel
def predictor_of(state: Cohort, node: int) -> int:
    """Return the way in which a user is served: the best one, unless a pioneer's is weaker."""
    way = state.predictor[bucket(state.count[node])]
    if is_warm_up(node, state.count[node]) and precision_of(way) > precision_of(WARM_UP_PREDICTOR):
        return WARM_UP_PREDICTOR
    return way


@kernel
def prefetch_user(state: Cohort, node: int) -> None:
    """Have what is known of a user on its way: with many users it is far away."""
    prefetch.prefetch_row(state.gram, node)
    prefetch.prefetch_row(state.moment, node)


@kernel
def factor_posterior(
    state: Cohort, node: int, pull: float, centre: Floats, upper: Floats, out: Floats
) -> None:
    """``out = b + pull centre``, and ``upper`` the factor of ``S + pull I``."""
    linear.add_ridge(state.gram[node], pull, upper)
    factors.factor(upper)
    moment = state.moment[node]
    for f in range(out.shape[0]):
        out[f] = moment[f] + pull * centre[f]


@kernel
def posterior_mean(
    state: Cohort, node: int, pull: float, centre: Floats, upper: Floats, out: Floats
) -> None:
    """``out = (S + pull I)^-1 (b + pull centre)``; ``upper`` becomes the factor."""
    if pull == math.inf:
        for f in range(out.shape[0]):
            out[f] = centre[f]
        return
    factor_posterior(state, node, pull, centre, upper, out)
    triangular.solve(upper, out)


@kernel
def sample_weights(state: Cohort, node: int, out: Floats, shift: Floats) -> None:
    """Draw weights for a user: the expected ones to ``out``, how far off they are to ``shift``.

    First its centre is drawn, then the user around it. Without mirroring, ``out`` is the draw.
    """
    way = predictor_of(state, node)
    g = prior_model(state, node, way)
    pull = precision_of(way)
    scale = state.explore * math.sqrt(state.noise_variance)
    normals = state.residual_work
    t = state.n_drawn
    state.n_drawn += 1
    ziggurat.normals(state.draw_key, 2 * t, normals)
    triangular.solve_other_half(state.root[g], normals)
    for f in range(shift.shape[0]):
        shift[f] = scale * state.mean_widening * normals[f]
    centre, upper = state.ridge.weights[g], state.factor_work
    if pull == math.inf:
        for f in range(out.shape[0]):
            out[f] = centre[f]
    else:  # the shift is M^-1 (pull shift) + scale R^-1 z, where M = R' R
        factor_posterior(state, node, pull, centre, upper, out)
        for f in range(shift.shape[0]):
            shift[f] *= pull
        triangular.solve_half_two(upper, out, shift)
        ziggurat.normals(state.draw_key, 2 * t + 1, normals)
        for f in range(shift.shape[0]):
            shift[f] += scale * normals[f]
        triangular.solve_other_half_two(upper, out, shift)
    if not state.mirrors_draws:
        for f in range(shift.shape[0]):
            out[f] += shift[f]
            shift[f] = 0.0


@kernel
def mean_weights(state: Cohort, node: int, out: Floats) -> None:
    """Write the weights that are expected of a user, without a draw."""
    way = predictor_of(state, node)
    centre = state.ridge.weights[prior_model(state, node, way)]
    posterior_mean(state, node, precision_of(way), centre, state.factor_work, out)


@kernel
def click_probability(logistic: bool, z: float) -> float:
    """Return the probability of a click, given the inner product of weights and item."""
    if logistic:
        return 1.0 / (1.0 + math.exp(-z))
    return min(max(z, 0.0), 1.0)


@kernel
def clip_logit(z: float) -> float:
    """Return the inner product at which the curve is replaced by its tangent: not too far out."""
    return min(max(z, -LARGEST_LOGIT), LARGEST_LOGIT)


@kernel
def linearize(state: Cohort, z: float, y: float) -> tuple[float, float]:
    """Return by what an item is multiplied, and what to learn of it: a look in a linear world.

    In a logistic world the curve at the expected ``z`` is taken for its tangent: with
    ``m = mu(z)`` and ``m' = m (1 - m)``, ``y`` is about ``m + m' (w.x - z)``, so
    ``z + (y - m) / m'`` is a look at ``w.x`` with the variance ``1 / m'``. Item and look are taken
    times ``2 sqrt(m')``, for a variance of 4. That variance is measured as well.
    """
    if not state.logistic:
        return 1.0, y
    z = clip_logit(z)
    m = click_probability(True, z)
    slope = m * (1.0 - m)
    scale = 2.0 * math.sqrt(slope)
    return scale, scale * (z + (y - m) / slope)
