"""Warm starts: learners take over sums of observations that came without lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from clubcascade.core import Floats, Ints
from clubcascade.kernels import bulk, cohort_models
from clubcascade.kernels import cohort_constants as constants
from clubcascade.learners.cohort import CohortModels
from clubcascade.learners.grouped import GroupedModels

Sums = Iterable[tuple[Floats, Floats, Ints]]
"""Gram matrices, moments and numbers of observations of the next users, some users at a time."""
SWEEPS = 3
"""How often every user is assigned to a cohort."""


def fill_groups(learner: GroupedModels, sums: Sums) -> None:
    """Add the sums of users to their models: one each, or one for all."""
    models, first = learner.models, 0
    for gram, moment, count in sums:
        group = learner.group[first : first + len(gram)]
        np.add.at(models.arrays["gram"], group, gram)
        np.add.at(models.arrays["moment"], group, moment)
        np.add.at(models.arrays["count"], group, count)
        first += len(gram)
    for g in range(learner.n_models):
        models.renew(g)


def fill_users(learner: CohortModels, sums: Sums) -> int:
    """Write the sums of users, and those of everyone; return how many users there are."""
    a, first = learner.arrays, 0
    whole = {name: learner.models.arrays[name] for name in ("gram", "moment", "count")}
    for part in sums:
        last = first + len(part[0])
        for name, values in zip(whole, part, strict=True):
            a[name][first:last] = values
            whole[name][0] += values.sum(axis=0)
        first = last
    cohort_models.renew(learner.compiled, 0)
    return first


def assign_cohorts(learner: CohortModels, n_users: int, clicks: float, seed: int) -> None:
    """Find cohorts: every user is assigned a few times, in random order, and cohorts may split.

    Items that were not clicked are no observations: most were never seen. So the noise that
    assignments are judged by is the squared error of the sums by the geometric mean of all that is
    counted and of the clicks. Tried on MovieLens 1M, a sample of Yelp, and Jester: by all that is
    counted (lists as good from three times as many cohorts), by the clicks alone (cohorts that say
    little). The noise of lists is not known yet, and starts as ever.
    """
    state, count = learner.compiled, float(learner.models.arrays["count"][0])
    first_noise = state.noise_variance
    error = _squared_error(learner, clicks)
    number = np.sqrt(max(count, 1.0) * max(clicks, 1.0))
    state.noise_variance = max(error / number, constants.LOWEST_NOISE)
    clicked = learner.arrays["moment"][:n_users].any(axis=1)
    _sweep(learner, np.flatnonzero(clicked), seed)
    state.noise_variance = first_noise
    state.promised = 0.0


def find_cohorts(learner: CohortModels, n_users: int, clicks: float, seed: int) -> None:
    """Find cohorts from sums over lists: every examined item is an observation, and counts."""
    a, models, state = learner.arrays, learner.models.arrays, learner.compiled
    for name in ("gram", "moment", "count"):
        models[name][0] = a[name][:n_users].sum(axis=0)
    cohort_models.renew(state, 0)
    error = _squared_error(learner, clicks)
    state.noise_variance = max(error / max(float(models["count"][0]), 1.0), constants.LOWEST_NOISE)
    known = a["count"][:n_users] >= constants.FIRST_ASSIGNMENT
    _sweep(learner, np.flatnonzero(known), seed)


def _squared_error(learner: CohortModels, clicks: float) -> float:
    """Return the squared error of everyone's weights on all observations."""
    everyone = learner.models.arrays
    weights, gram, moment = (everyone[name][0] for name in ("weights", "gram", "moment"))
    return float(clicks - 2.0 * weights @ moment + weights @ gram @ weights)


def _sweep(learner: CohortModels, ready: Ints, seed: int) -> None:
    rng, a, state = np.random.default_rng(seed), learner.arrays, learner.compiled
    for _ in range(SWEEPS):
        bulk.sweep(state, rng.permutation(ready))
    due = constants.REASSIGNMENT_GROWTH * a["count"][ready]
    a["due"][ready] = due.astype(np.int64) + constants.FIRST_ASSIGNMENT // 2
    state.move_rate = constants.LOWEST_MOVE_RATE


def select_predictor(learner: CohortModels, n_users: int, losses: Mapping[int, float]) -> None:
    """Serve users with that much history by the predictor of least loss on held-out clicks.

    Later lists are predicted by all predictors as ever, and may select another one. The held-out
    part counts as many observations as a bin inherits.

    Parameters
    ----------
    learner
        The learner.
    n_users
        How many users there are.
    losses
        For each predictor the share by which it is worse than the best one.
    """
    a = learner.arrays
    count = a["count"][:n_users]
    least = int(np.log2(max(float(count[count > 0].min(initial=1)), 1.0) + 1.0))
    best = min(losses, key=lambda predictor: losses[predictor])
    errors = np.array([1.0 + losses.get(p, 1.0) for p in range(constants.N_PREDICTORS)])
    a["predictor"][least:] = best
    a["error"][least : constants.N_BUCKETS, :-1] = (
        constants.INHERITED_OBSERVATIONS * constants.INITIAL_NOISE * errors
    )
    a["error"][least : constants.N_BUCKETS, -1] = constants.INHERITED_OBSERVATIONS
