"""CohortCascade: which way to predict a user's clicks is best, by what would have been best.

Before a list is learned, every way predicts it. Squared errors are added up per power of two of
the user's count, older ones fading, and users with such a count are served the best way.
"""

from __future__ import annotations

import math

from clubcascade.core import Floats, Ints
from clubcascade.kernels import cohort_belief as belief
from clubcascade.kernels import triangular
from clubcascade.kernels.cohort_belief import (
    BUCKETS,
    PULLS,
    STEEPEST,
    WAYS,
    bucket,
    chance,
)
from clubcascade.kernels.cohort_state import Cohort
from clubcascade.kernels.jit import kernel

FIRST_WAY = 3
"""The way before anything is known: around everyone, with a pull of 4."""
HEAD_START = 1.0
"""Squared error that other ways have more than the first, while few looks are judged."""
HEAD_START_LOOKS = 100.0
"""Judged looks after which half of that is left."""
MARGIN = 0.001
"""How much better, of its error, a weaker pull must be to be preferred to the next stronger one."""
OWN_TASTE = 3
"""Place of the strongest pull at which users are taken to have a taste of their own."""
SLACK = 0.02
"""Share of the error by which a still weaker pull may be worse then, and is used all the same."""
EARLY_SLACK = 0.5
"""The same, divided by the user's count, on top."""
COIN = 0.25
"""Squared error from which on all of it is allowed, that of a fair coin; below, in proportion."""
SLACK_LOOKS = 2000.0
"""Looks, of everyone, after which half of it is."""
JUDGED_FULLY = 900.0
"""Looks of a power of two that are judged without a gap; later one list in sixteen."""
JUDGED_LATER = 16
SHORTEST, LONGEST = 1000.0, 5000.0
"""Judged looks that are remembered, at the least and at the most; in between,"""
REMEMBERED = 1.0 / 16.0
"""this share of all looks so far."""
NOISE_FORGET = 0.999
"""What an error weighs in the measured noise after the next one."""
INHERITED = 250.0
"""Looks from which a power of two knows what it begins with: those of the one below it."""


@kernel
def _miss(
    state: Cohort, guess: Floats, features: Floats, rows: Ints, examined: int, rewards: Floats
) -> float:
    """Squared error of the probabilities that weights predict, summed over a list."""
    logistic = state.logistic
    total = 0.0
    for p in range(examined):
        row, z = rows[p], 0.0  # no view of a row: it would cost as much as the product
        for f in range(guess.shape[0]):
            z += guess[f] * features[row, f]
        total += (rewards[p] - chance(logistic, z)) ** 2
    return total


@kernel
def _miss_all(
    state: Cohort, node: int, features: Floats, rows: Ints, examined: int, rewards: Floats
) -> None:
    """Write the error of every way on one list to ``error[-1]``; a pull's factor serves both."""
    missed, g, pulls = state.error[BUCKETS], state.label[node], PULLS.shape[0]
    everyone, cohort = state.ridge.weights[0], state.ridge.weights[g]
    upper, one, other = state.factor_work, state.residual_work, state.product_work
    moment = state.moment[node]
    missed[pulls] = _miss(state, everyone, features, rows, examined, rewards)
    missed[WAYS - 1] = _miss(state, cohort, features, rows, examined, rewards)
    for place in range(pulls):
        pull = PULLS[place]
        belief.lean(state, node, pull, everyone, upper, one)
        for f in range(other.shape[0]):
            other[f] = moment[f] + pull * cohort[f]
        triangular.solve_half_two(upper, one, other)
        triangular.solve_other_half_two(upper, one, other)
        missed[place] = _miss(state, one, features, rows, examined, rewards)
        missed[pulls + 1 + place] = missed[place]
        if g > 0:
            missed[pulls + 1 + place] = _miss(state, other, features, rows, examined, rewards)


@kernel
def _inherit(below: Floats, errors: Floats) -> None:
    """Begin with what a few looks of the power of two below have shown."""
    share = min(1.0, INHERITED / max(below[WAYS], 1.0))
    for way in range(WAYS + 1):
        errors[way] = share * below[way]


@kernel
def _slack(state: Cohort, place: int) -> float:
    """Return by how much of the error a weaker pull may be worse: little if clicks are certain."""
    noise = state.noise_variance / (STEEPEST if state.logistic else 1.0)
    looks = state.ridge.count[0]
    share = min(1.0, noise / COIN) * looks / (looks + SLACK_LOOKS)
    return share * (SLACK + EARLY_SLACK / 2.0**place)


@kernel
def _best(errors: Floats, slack: float) -> int:
    """Return the way with the least error, all considered."""
    ways = PULLS.shape[0] + 1
    ahead = HEAD_START / (1.0 + errors[WAYS] / HEAD_START_LOOKS)
    best, least = FIRST_WAY, math.inf
    for way in range(WAYS):
        steps = (way + 1) % ways  # 0 for the infinite pull, then 1 for 256, ...
        error = errors[way] * (1.0 + MARGIN * steps)
        if way != FIRST_WAY:
            error += ahead
        if error < least:
            best, least = way, error
    if OWN_TASTE <= best % ways < ways - 1:  # rather explore too much than too little
        most = (1.0 + slack) * errors[best]
        for way in range(best + 1, best - best % ways + ways - 1):
            if errors[way] <= most:
                best = way
    return best


@kernel
def is_due(state: Cohort, node: int, t: int) -> bool:
    """Tell whether the ways are judged by the next list of a user."""
    judged = state.error[bucket(state.count[node]), WAYS]
    return judged < JUDGED_FULLY or t % JUDGED_LATER == 0


@kernel
def judge(
    state: Cohort, node: int, features: Floats, rows: Ints, examined: int, rewards: Floats
) -> None:
    """Let every way predict the feedback before it is learned; the best way is used from now on."""
    place = bucket(state.count[node])
    _miss_all(state, node, features, rows, examined, rewards)
    errors, missed = state.error[place], state.error[BUCKETS]
    if place > 0 and errors.sum() == 0.0:  # nobody has had such a count before
        _inherit(state.error[place - 1], errors)
    if state.measures_noise and not state.logistic:
        now = missed[state.way[place]] / examined
        state.noise_variance += (1.0 - NOISE_FORGET**examined) * (now - state.noise_variance)
    memory = min(max(REMEMBERED * state.ridge.count[0], SHORTEST), LONGEST)
    weight = (1.0 - 1.0 / memory) ** examined
    missed[WAYS] = examined
    for way in range(WAYS + 1):
        errors[way] = weight * errors[way] + missed[way]
    state.way[place] = _best(errors, _slack(state, place))
