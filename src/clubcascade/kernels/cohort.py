"""CohortCascade: what is believed of a user, and how a list is drawn from it.

Three levels: everyone, the cohort, the user. A user's weights are taken to lie around a *centre*
(everyone's weights or the cohort's) with a *pull* p: given a centre c they are

    (S + p I)^-1 (b + p c),

from the user's own Gram matrix S and moment b. An infinite pull is the centre itself, a weak one
the user alone. Which centre and which pull predict the clicks best is a matter of how much is
known of a user, so it is judged on the go, per power of two of the user's count (``judge``).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clubcascade.core import Floats, Ints
from clubcascade.kernels import cohort_sets as sets
from clubcascade.kernels import cohort_split, linear, luck, rack
from clubcascade.kernels import ridge as models
from clubcascade.kernels.cohort_state import Cohort, CohortType
from clubcascade.kernels.jit import answer, kernel
from clubcascade.kernels.stubs import count_clusters, learn, rank_catalog, rank_items

PULLS = np.array([256.0, 64.0, 16.0, 4.0, 1.0, 0.25])
"""How strongly a user may be pulled to its centre, besides infinitely."""
WAYS = 2 * len(PULLS) + 2
"""Ways to predict: every pull and the infinite one, around everyone and around the cohort."""
FIRST_WAY = 3
"""The way before anything is known: around everyone, with a pull of 4."""
MARGIN = 0.001
"""How much better, of its error, a weaker pull must be to be preferred to the next stronger one."""
BUCKETS = 32
"""Powers of two of a user's count."""
FORGET = 0.9998
"""What an error weighs after the next one: about the last 5,000 count."""
NOISE_FORGET = 0.999
"""The same for the measured noise, which is a mean and needs fewer."""
INHERITED = 0.25
"""Share of its errors that a power of two has from the one below it, to begin with."""
FLATTEST = 4.0
"""Largest size of the inner product at which the logistic curve is taken for a straight line."""
JUDGED_ALWAYS = 8
"""Up to this count, every list of a user is judged; later one in four, then one in eight."""
JUDGED_OFTEN = 64
STALE = 1.05
"""Growth of a model's count after which its root, from which is drawn, is computed anew."""


@kernel
def bucket(count: int) -> int:
    """Return the power of two of a user's count."""
    return min(int(math.log2(count + 1.0)), BUCKETS - 1)


@kernel
def centre_of(state: Cohort, node: int, way: int) -> int:
    """Return the model around which a way predicts: 0 for everyone, else the cohort."""
    return state.label[node] if way > PULLS.shape[0] else 0


@kernel
def pull_of(way: int) -> float:
    """Return the pull of a way, infinity for the centre itself."""
    place = way % (PULLS.shape[0] + 1)
    return PULLS[place] if place < PULLS.shape[0] else math.inf


@kernel
def personal(
    state: Cohort, node: int, pull: float, centre: Floats, upper: Floats, out: Floats
) -> None:
    """``out = (S + pull I)^-1 (b + pull centre)``; ``upper`` becomes the factor."""
    if pull == math.inf:
        for f in range(out.shape[0]):
            out[f] = centre[f]
        return
    linear.add_ridge(state.gram[node], pull, upper)
    linear.factor(upper)
    moment = state.moment[node]
    for f in range(out.shape[0]):
        out[f] = moment[f] + pull * centre[f]
    linear.solve(upper, out)


@kernel
def _scatter(upper: Floats, normals: Floats, scale: float, out: Floats) -> None:
    """``out += scale R^-1 z``: a draw with the covariance ``scale^2 (R' R)^-1``."""
    d = out.shape[0]
    for f in range(d - 1, -1, -1):
        row = upper[f]
        total = normals[f]
        for g in range(f + 1, d):
            total -= row[g] * normals[g]
        normals[f] = total / row[f]
    for f in range(d):
        out[f] += scale * normals[f]


@kernel
def draw(state: Cohort, node: int, out: Floats) -> None:
    """Draw weights for a user: first its centre, then the user around it."""
    way = state.way[bucket(state.count[node])]
    g = centre_of(state, node, way)
    pull = pull_of(way)
    scale = state.rule[0] * math.sqrt(state.noise[0])
    normals, centre = state.vectors[0], state.vectors[1]
    t = state.draws[0]
    state.draws[0] += 1
    luck.normals(state.keys[0], 2 * t, normals)
    weights = state.ridge.weights[g]
    for f in range(centre.shape[0]):
        centre[f] = weights[f]
    _scatter(state.root[g], normals, scale * state.rule[3], centre)
    personal(state, node, pull, centre, state.matrices[0], out)
    if pull < math.inf:
        luck.normals(state.keys[0], 2 * t + 1, normals)
        _scatter(state.matrices[0], normals, scale, out)


@kernel
def mean(state: Cohort, node: int, out: Floats) -> None:
    """Write the weights that are expected of a user, without a draw."""
    way = state.way[bucket(state.count[node])]
    centre = state.ridge.weights[centre_of(state, node, way)]
    personal(state, node, pull_of(way), centre, state.matrices[0], out)


@kernel
def chance(state: Cohort, z: float) -> float:
    """Return the probability of a click, given the inner product of weights and item."""
    if state.rule[6] == 0.0:
        return min(max(z, 0.0), 1.0)
    return 1.0 / (1.0 + math.exp(-z))


@kernel
def _miss(
    state: Cohort, guess: Floats, features: Floats, rows: Ints, examined: int, rewards: Floats
) -> float:
    """Squared error of the probabilities that weights predict, summed over a list."""
    total = 0.0
    for p in range(examined):
        total += (rewards[p] - chance(state, linear.dot(guess, features[rows[p]]))) ** 2
    return total


@kernel
def _miss_all(
    state: Cohort, node: int, features: Floats, rows: Ints, examined: int, rewards: Floats
) -> None:
    """Write the error of every way on one list to ``errors[-1]``; a pull's factor serves both."""
    missed = state.error[BUCKETS]
    upper, guess = state.matrices[0], state.vectors[1]
    moment = state.moment[node]
    ways = PULLS.shape[0] + 1
    for place in range(ways):
        pull = pull_of(place)
        if pull < math.inf:
            linear.add_ridge(state.gram[node], pull, upper)
            linear.factor(upper)
        for which in range(2):
            way = which * ways + place
            g = centre_of(state, node, way)
            if which == 1 and g == 0:
                missed[way] = missed[place]
                continue
            centre = state.ridge.weights[g]
            if pull < math.inf:
                for f in range(guess.shape[0]):
                    guess[f] = moment[f] + pull * centre[f]
                linear.solve(upper, guess)
                missed[way] = _miss(state, guess, features, rows, examined, rewards)
            else:
                missed[way] = _miss(state, centre, features, rows, examined, rewards)


@kernel
def judge(
    state: Cohort, node: int, features: Floats, rows: Ints, examined: int, rewards: Floats
) -> None:
    """Let every way predict the feedback before it is learned; the best way is used from now on."""
    place = bucket(state.count[node])
    _miss_all(state, node, features, rows, examined, rewards)
    errors, missed = state.error[place], state.error[BUCKETS]
    if place > 0 and errors.sum() == 0.0:  # nobody has had such a count before
        for way in range(WAYS):
            errors[way] = INHERITED * state.error[place - 1, way]
    weight = FORGET**examined
    if state.rule[6] == 0.0:
        now = missed[state.way[place]] / examined
        state.noise[0] += state.rule[5] * (1.0 - NOISE_FORGET**examined) * (now - state.noise[0])
    best, least = state.way[place], math.inf
    for way in range(WAYS):
        errors[way] = weight * errors[way] + missed[way]
        steps = (way + 1) % (PULLS.shape[0] + 1)  # 0 for the infinite pull, then 1 for 256, ...
        error = errors[way] * (1.0 + MARGIN * steps)
        if error < least:
            best, least = way, error
    state.way[place] = best


@kernel
def straighten(state: Cohort, expected: Floats, x: Floats, y: float, out: Floats) -> float:
    """Make of a look in a logistic world one in a linear world, by the tangent at the expected z.

    With ``m = mu(z)`` and ``m' = m (1 - m)``, ``y`` is about ``m + m' (w.x - z)``: so
    ``z + (y - m) / m'`` is a look at ``w.x`` with the variance ``1 / m'``. Item and look are
    returned (in ``out``, and as a number) times ``2 sqrt(m')``, with variance 4. That variance is
    measured as well.
    """
    z = min(max(linear.dot(expected, x), -FLATTEST), FLATTEST)
    m = chance(state, z)
    slope = m * (1.0 - m)
    scale = 2.0 * math.sqrt(slope)
    for f in range(x.shape[0]):
        out[f] = scale * x[f]
    rest = scale * (y - m) / slope
    step = state.rule[5] * (1.0 - NOISE_FORGET)
    state.noise[0] += step * (min(rest * rest, 100.0) - state.noise[0])
    return scale * z + rest


@kernel
def keep_root(state: Cohort, g: int) -> None:
    """Have the factor that draws are made from follow its model, from far enough behind."""
    count = state.ridge.count[g]
    if count >= STALE * state.root_count[g] or count < state.root_count[g]:
        sets.renew_root(state, g)


@answer(rank_catalog, CohortType)
def _rank_catalog(state: Any, node: Any, shelf: Any, rows: Any, scores: Any) -> None:
    weights = state.vectors[2]
    draw(state, node, weights)
    rack.rank(weights, shelf, rows, scores)


@answer(rank_items, CohortType)
def _rank_items(state: Any, node: Any, features: Any, offered: Any, rows: Any, scores: Any) -> None:
    weights = state.vectors[2]
    draw(state, node, weights)
    rack.rank_loose(weights, features, offered, rows, scores)


@answer(learn, CohortType)
def _learn(state: Any, node: Any, features: Any, rows: Any, examined: Any, rewards: Any) -> None:
    t = state.tally[0]
    state.tally[0] += 1
    g = state.label[node]
    every = 4 if state.count[node] < JUDGED_OFTEN else 8
    if state.count[node] < JUDGED_ALWAYS or t % every == 0:
        judge(state, node, features, rows, examined, rewards)
    gram, moment = state.gram[node], state.moment[node]
    logistic = state.rule[6] > 0.0
    if logistic:
        mean(state, node, state.vectors[2])
    for p in range(examined):
        x = features[rows[p]]
        y = rewards[p]
        if logistic:
            y = straighten(state, state.vectors[2], x, y, state.vectors[3])
            x = state.vectors[3]
        models.observe(state.ridge, 0, x, y)
        if g > 0:
            models.observe(state.ridge, g, x, y)
        linear.add_outer(gram, 1.0, x)
        if y != 0.0:
            for f in range(x.shape[0]):
                moment[f] += y * x[f]
    models.settle(state.ridge, 0)
    keep_root(state, 0)
    if g > 0:
        models.settle(state.ridge, g)
        keep_root(state, g)
    state.count[node] += examined
    if sets.review(state, node, t):
        cohort_split.consider(state, node)


@answer(count_clusters, CohortType)
def _count_clusters(state: Any) -> Any:
    return state.tally[1] + (1 if state.tally[4] < state.tally[2] else 0)
