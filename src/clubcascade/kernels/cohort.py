"""CohortCascade: how a list is ranked, and how feedback is learned.

What is believed of a user is in ``cohort_belief``, how much of it is trusted in ``cohort_judge``,
how a list is made of it in ``cohort_list``; who is of one cohort in ``cohort_evidence`` (how
probable), ``cohort_sets`` (moves) and ``cohort_split``.
"""

from __future__ import annotations

from typing import Any

from clubcascade.core import Floats, Ints
from clubcascade.kernels import cohort_belief as belief
from clubcascade.kernels import cohort_judge as ways
from clubcascade.kernels import cohort_list as lists
from clubcascade.kernels import cohort_models, cohort_split, linear, rack
from clubcascade.kernels import cohort_sets as sets
from clubcascade.kernels.cohort_state import Cohort
from clubcascade.kernels.jit import implements, kernel
from clubcascade.kernels.protocol import count_clusters, learn, rank_catalog, rank_items


@kernel
def _straighten(state: Cohort, expected: Floats, x: Floats, y: float, out: Floats) -> float:
    """Make of a look in a logistic world one in a linear world, and measure its noise."""
    z = linear.dot(expected, x)
    scale, look = belief.tangent(state, z, y)
    for f in range(x.shape[0]):
        out[f] = scale * x[f]
    rest = look - scale * belief.within_reach(z)
    step = (1.0 - ways.NOISE_FORGET) if state.measures_noise else 0.0
    state.noise_variance += step * (min(rest * rest, 100.0) - state.noise_variance)
    return look


@kernel
def _sum_up(
    state: Cohort,
    node: int,
    features: Floats,
    rows: Ints,
    examined: int,
    rewards: Floats,
    gram: Floats,
    moment: Floats,
) -> None:
    """Write Gram matrix and moment of one list."""
    d = moment.shape[0]
    for f in range(d):
        row = gram[f]
        for h in range(d):
            row[h] = 0.0
        moment[f] = 0.0
    expected, straight = state.mean_work, state.deviation_work
    if state.logistic:
        belief.mean(state, node, expected)
    for p in range(examined):
        x = features[rows[p]]
        y = rewards[p]
        if state.logistic:
            y = _straighten(state, expected, x, y, straight)
            x = straight
        linear.add_outer(gram, 1.0, x)
        if y != 0.0:
            for f in range(d):
                moment[f] += y * x[f]


@implements(rank_catalog, Cohort)
def _rank_catalog(state: Any, node: Any, shelf: Any, rows: Any, scores: Any) -> None:
    belief.ask_for(state, node)
    mean, shift = state.mean_work, state.deviation_work
    belief.draw(state, node, mean, shift)
    if not lists.pays(state, node, rows):
        rack.rank(mean, shift, shelf, rows, scores)
        return
    places, hopes = lists.shortlist(rows, shelf.n_items)
    rack.rank(mean, shift, shelf, places, hopes)
    items = rack.fetch(shelf, places)
    lists.build(state, mean, items, places, hopes, rows, scores)


@implements(rank_items, Cohort)
def _rank_items(state: Any, node: Any, features: Any, offered: Any, rows: Any, scores: Any) -> None:
    rank_catalog(state, node, rack.lay_out(features, offered), rows, scores)


@implements(learn, Cohort)
def _learn(state: Any, node: Any, features: Any, rows: Any, examined: Any, rewards: Any) -> None:
    t = state.n_lists
    state.n_lists += 1
    g = state.label[node]
    other = sets.somebody(state, t)
    if other >= 0:
        belief.ask_for(state, other)
    if ways.is_due(state, node, t):
        ways.judge(state, node, features, rows, examined, rewards)
    gram, moment = state.list_gram, state.list_moment
    _sum_up(state, node, features, rows, examined, rewards, gram, moment)
    linear.add_both(state.gram[node], state.moment[node], 1.0, gram, moment)
    cohort_models.add(state, 0, gram, moment, examined, 1.0)
    if g > 0:
        cohort_models.add(state, g, gram, moment, examined, 1.0)
    state.count[node] += examined
    if sets.review(state, node, other, t):
        cohort_split.consider(state, node)


@implements(count_clusters, Cohort)
def _count_clusters(state: Any) -> Any:
    return state.n_cohorts + (1 if state.n_assigned < state.n_users else 0)
