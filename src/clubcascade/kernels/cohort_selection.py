"""CohortCascade: which way to predict a user's clicks is best, by what would have been best.

Before a list is learned, every way predicts it. Squared errors are added up per power of two of
the user's count, older ones fading, and users with such a count are served the best way.
"""

from __future__ import annotations

import math

from clubcascade.core import Floats, Ints
from clubcascade.kernels import cohort_posterior as posterior
from clubcascade.kernels import triangular
from clubcascade.kernels.cohort_posterior import (
    LOGISTIC_NOISE,
    N_BUCKETS,
    N_PREDICTORS,
    PRECISIONS,
    bucket,
    click_probability,
)
from clubcascade.kernels.cohort_state import Cohort
from clubcascade.kernels.jit import kernel

FIRST_PREDICTOR = 3
"""The way before anything is known: around everyone, with a pull of 4."""
HEAD_START = 1.0
"""Squared error that other ways have more than the first, while few looks are judged."""
HEAD_START_OBSERVATIONS = 100.0
"""Judged looks after which half of that is left."""
MARGIN = 0.001
"""How much better, of its error, a weaker pull must be to be preferred to the next stronger one."""
FIRST_PERSONAL = 3
"""Place of the strongest pull at which users are taken to have a taste of their own."""
TOLERANCE = 0.02
"""Share of the error by which a still weaker pull may be worse then, and is used all the same."""
EARLY_TOLERANCE = 0.5
"""The same, divided by the user's count, on top."""
FAIR_COIN_VARIANCE = 0.25
"""Squared error from which on all of it is allowed, that of a fair coin; below, in proportion."""
TOLERANCE_OBSERVATIONS = 2000.0
"""Looks, of everyone, after which half of it is."""
EVALUATED_FULLY = 900.0
"""Looks of a power of two that are judged without a gap; later one list in sixteen."""
EVALUATED_EVERY = 16
SHORTEST_WINDOW, LONGEST_WINDOW = 1000.0, 5000.0
"""Judged looks that are remembered, at the least and at the most; in between,"""
WINDOW_SHARE = 1.0 / 16.0
"""this share of all looks so far."""
NOISE_DECAY = 0.999
"""What an error weighs in the measured noise after the next one."""
INHERITED_OBSERVATIONS = 250.0
"""Looks from which a power of two knows what it begins with: those of the one below it."""


@kernel
def _squared_error(
    state: Cohort, guess: Floats, features: Floats, rows: Ints, examined: int, rewards: Floats
) -> float:
    """Squared error of the probabilities that weights predict, summed over a list."""
    logistic = state.logistic
    total = 0.0
    for p in range(examined):
        row, z = rows[p], 0.0  # no view of a row: it would cost as much as the product
        for f in range(guess.shape[0]):
            z += guess[f] * features[row, f]
        total += (rewards[p] - click_probability(logistic, z)) ** 2
    return total


@kernel
def _predictor_errors(
    state: Cohort, node: int, features: Floats, rows: Ints, examined: int, rewards: Floats
) -> None:
    """Write the error of every way on one list to ``error[-1]``; a pull's factor serves both."""
    missed, g, pulls = state.error[N_BUCKETS], state.label[node], PRECISIONS.shape[0]
    everyone, cohort = state.ridge.weights[0], state.ridge.weights[g]
    upper, one, other = state.factor_work, state.residual_work, state.product_work
    moment = state.moment[node]
    missed[pulls] = _squared_error(state, everyone, features, rows, examined, rewards)
    missed[N_PREDICTORS - 1] = _squared_error(state, cohort, features, rows, examined, rewards)
    for place in range(pulls):
        pull = PRECISIONS[place]
        posterior.factor_posterior(state, node, pull, everyone, upper, one)
        for f in range(other.shape[0]):
            other[f] = moment[f] + pull * cohort[f]
        triangular.solve_half_two(upper, one, other)
        triangular.solve_other_half_two(upper, one, other)
        missed[place] = _squared_error(state, one, features, rows, examined, rewards)
        missed[pulls + 1 + place] = missed[place]
        if g > 0:
            missed[pulls + 1 + place] = _squared_error(
                state, other, features, rows, examined, rewards
            )


@kernel
def _inherit(below: Floats, errors: Floats) -> None:
    """Begin with what a few looks of the power of two below have shown."""
    share = min(1.0, INHERITED_OBSERVATIONS / max(below[N_PREDICTORS], 1.0))
    for way in range(N_PREDICTORS + 1):
        errors[way] = share * below[way]


@kernel
def _tolerance(state: Cohort, place: int) -> float:
    """Return by how much of the error a weaker pull may be worse: little if clicks are certain."""
    noise = state.noise_variance / (LOGISTIC_NOISE if state.logistic else 1.0)
    looks = state.ridge.count[0]
    share = min(1.0, noise / FAIR_COIN_VARIANCE) * looks / (looks + TOLERANCE_OBSERVATIONS)
    return share * (TOLERANCE + EARLY_TOLERANCE / 2.0**place)


@kernel
def _select(errors: Floats, slack: float) -> int:
    """Return the way with the least error, all considered."""
    ways = PRECISIONS.shape[0] + 1
    ahead = HEAD_START / (1.0 + errors[N_PREDICTORS] / HEAD_START_OBSERVATIONS)
    best, least = FIRST_PREDICTOR, math.inf
    for way in range(N_PREDICTORS):
        steps = (way + 1) % ways  # 0 for the infinite pull, then 1 for 256, ...
        error = errors[way] * (1.0 + MARGIN * steps)
        if way != FIRST_PREDICTOR:
            error += ahead
        if error < least:
            best, least = way, error
    if FIRST_PERSONAL <= best % ways < ways - 1:  # rather explore too much than too little
        most = (1.0 + slack) * errors[best]
        for way in range(best + 1, best - best % ways + ways - 1):
            if errors[way] <= most:
                best = way
    return best


@kernel
def is_due(state: Cohort, node: int, t: int) -> bool:
    """Tell whether the ways are judged by the next list of a user."""
    judged = state.error[bucket(state.count[node]), N_PREDICTORS]
    return judged < EVALUATED_FULLY or t % EVALUATED_EVERY == 0


@kernel
def evaluate(
    state: Cohort, node: int, features: Floats, rows: Ints, examined: int, rewards: Floats
) -> None:
    """Let every way predict the feedback before it is learned; the best way is used from now on."""
    place = bucket(state.count[node])
    _predictor_errors(state, node, features, rows, examined, rewards)
    errors, missed = state.error[place], state.error[N_BUCKETS]
    if place > 0 and errors.sum() == 0.0:  # nobody has had such a count before
        _inherit(state.error[place - 1], errors)
    if state.measures_noise and not state.logistic:
        now = missed[state.predictor[place]] / examined
        state.noise_variance += (1.0 - NOISE_DECAY**examined) * (now - state.noise_variance)
    memory = min(max(WINDOW_SHARE * state.ridge.count[0], SHORTEST_WINDOW), LONGEST_WINDOW)
    weight = (1.0 - 1.0 / memory) ** examined
    missed[N_PREDICTORS] = examined
    for way in range(N_PREDICTORS + 1):
        errors[way] = weight * errors[way] + missed[way]
    state.predictor[place] = _select(errors, _tolerance(state, place))
