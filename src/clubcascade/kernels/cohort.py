"""CohortCascade: how a list is ranked, and how feedback is learned.

What is believed of a user is in ``cohort_belief``, how much of it is trusted in ``cohort_judge``,
who is of one cohort in ``cohort_evidence`` (how probable), ``cohort_sets`` (moves) and
``cohort_split``.
"""

from __future__ import annotations

import math
from typing import Any

from clubcascade.core import Floats
from clubcascade.kernels import cohort_belief as belief
from clubcascade.kernels import cohort_evidence as evidence
from clubcascade.kernels import cohort_judge as ways
from clubcascade.kernels import cohort_sets as sets
from clubcascade.kernels import cohort_split, linear, rack
from clubcascade.kernels import ridge as models
from clubcascade.kernels.cohort_state import Cohort, CohortType
from clubcascade.kernels.jit import answer, kernel
from clubcascade.kernels.stubs import count_clusters, learn, rank_catalog, rank_items

FLATTEST = 4.0
"""Largest size of the inner product at which the logistic curve is taken for a straight line."""


@kernel
def straighten(state: Cohort, expected: Floats, x: Floats, y: float, out: Floats) -> float:
    """Make of a look in a logistic world one in a linear world, by the tangent at the expected z.

    With ``m = mu(z)`` and ``m' = m (1 - m)``, ``y`` is about ``m + m' (w.x - z)``: so
    ``z + (y - m) / m'`` is a look at ``w.x`` with the variance ``1 / m'``. Item and look are
    returned (in ``out``, and as a number) times ``2 sqrt(m')``, with variance 4. That variance is
    measured as well.
    """
    z = min(max(linear.dot(expected, x), -FLATTEST), FLATTEST)
    m = belief.chance(state, z)
    slope = m * (1.0 - m)
    scale = 2.0 * math.sqrt(slope)
    for f in range(x.shape[0]):
        out[f] = scale * x[f]
    rest = scale * (y - m) / slope
    step = state.rule[5] * (1.0 - ways.NOISE_FORGET)
    state.noise[0] += step * (min(rest * rest, 100.0) - state.noise[0])
    return scale * z + rest


@answer(rank_catalog, CohortType)
def _rank_catalog(state: Any, node: Any, shelf: Any, rows: Any, scores: Any) -> None:
    mean, shift = state.vectors[2], state.vectors[3]
    belief.draw(state, node, mean, shift)
    rack.rank(mean, shift, shelf, rows, scores)


@answer(rank_items, CohortType)
def _rank_items(state: Any, node: Any, features: Any, offered: Any, rows: Any, scores: Any) -> None:
    mean, shift = state.vectors[2], state.vectors[3]
    belief.draw(state, node, mean, shift)
    rack.rank_loose(mean, shift, features, offered, rows, scores)


@answer(learn, CohortType)
def _learn(state: Any, node: Any, features: Any, rows: Any, examined: Any, rewards: Any) -> None:
    t = state.tally[0]
    state.tally[0] += 1
    g = state.label[node]
    if ways.is_due(state, node, t):
        ways.judge(state, node, features, rows, examined, rewards)
    gram, moment = state.gram[node], state.moment[node]
    logistic = state.rule[6] > 0.0
    if logistic:
        belief.mean(state, node, state.vectors[2])
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
    evidence.keep_root(state, 0)
    if g > 0:
        models.settle(state.ridge, g)
        evidence.keep_root(state, g)
    state.count[node] += examined
    if sets.review(state, node, t):
        cohort_split.consider(state, node)


@answer(count_clusters, CohortType)
def _count_clusters(state: Any) -> Any:
    return state.tally[1] + (1 if state.tally[4] < state.tally[2] else 0)
