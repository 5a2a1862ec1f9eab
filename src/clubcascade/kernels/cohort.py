"""CohortCascade: ranking and learning.

The posterior of a user's weights is in ``cohort_posterior``, the prequential selection of its prior
in ``cohort_selection``, the ranking position by position in ``cohort_ranking``; the partition of
the users in ``cohort_evidence`` (likelihood), ``cohort_assignment`` (Gibbs steps) and
``cohort_split``.
"""

from __future__ import annotations

from typing import Any

from clubcascade.core import Floats, Ints
from clubcascade.kernels import cohort_assignment as assignment
from clubcascade.kernels import cohort_models, cohort_ranking, cohort_split, linear, packed_items
from clubcascade.kernels import cohort_posterior as posterior
from clubcascade.kernels import cohort_selection as selection
from clubcascade.kernels.cohort_constants import LARGEST_SQUARED_RESIDUAL, NOISE_DECAY
from clubcascade.kernels.cohort_state import Cohort
from clubcascade.kernels.jit import implements, kernel
from clubcascade.kernels.protocol import count_clusters, learn, rank_catalog, rank_items


@kernel
def _linearize_observation(
    state: Cohort, weights: Floats, x: Floats, y: float, out: Floats
) -> float:
    """Write the linearized item to ``out``, update the noise, return the linearized value."""
    z = linear.dot(weights, x)
    scale, value = posterior.linearize(state, z, y)
    for f in range(x.shape[0]):
        out[f] = scale * x[f]
    residual = value - scale * posterior.clip_logit(z)
    step = (1.0 - NOISE_DECAY) if state.measures_noise else 0.0
    square = min(residual * residual, LARGEST_SQUARED_RESIDUAL)
    state.noise_variance += step * (square - state.noise_variance)
    return value


@kernel
def _list_statistics(
    state: Cohort,
    node: int,
    features: Floats,
    rows: Ints,
    examined: int,
    rewards: Floats,
    gram: Floats,
    moment: Floats,
) -> None:
    """``gram = sum x x'`` and ``moment = sum y x`` over the observations of one list."""
    d = moment.shape[0]
    for f in range(d):
        row = gram[f]
        for h in range(d):
            row[h] = 0.0
        moment[f] = 0.0
    weights, scaled = state.mean_work, state.deviation_work
    if state.logistic:
        posterior.mean_weights(state, node, weights)
    for p in range(examined):
        x = features[rows[p]]
        y = rewards[p]
        if state.logistic:
            y = _linearize_observation(state, weights, x, y, scaled)
            x = scaled
        linear.add_outer(gram, 1.0, x)
        if y != 0.0:
            for f in range(d):
                moment[f] += y * x[f]


@implements(rank_catalog, Cohort)
def _rank_catalog(state: Any, node: Any, catalog: Any, rows: Any, scores: Any) -> None:
    posterior.prefetch_user(state, node)
    mean, deviation = state.mean_work, state.deviation_work
    posterior.sample_weights(state, node, mean, deviation)
    if not cohort_ranking.is_sequential(state, node, rows):
        packed_items.rank(mean, deviation, catalog, rows, scores)
        return
    candidates, candidate_scores = cohort_ranking.shortlist(rows, catalog.n_items)
    packed_items.rank(mean, deviation, catalog, candidates, candidate_scores)
    items = packed_items.unpack(catalog, candidates)
    cohort_ranking.rank_sequentially(state, mean, items, candidates, candidate_scores, rows, scores)


@implements(rank_items, Cohort)
def _rank_items(state: Any, node: Any, features: Any, offered: Any, rows: Any, scores: Any) -> None:
    rank_catalog(state, node, packed_items.pack(features, offered), rows, scores)


@implements(learn, Cohort)
def _learn(state: Any, node: Any, features: Any, rows: Any, examined: Any, rewards: Any) -> None:
    t = state.n_lists
    state.n_lists += 1
    g = state.label[node]
    other = assignment.other_user(state, t)
    if other >= 0:
        posterior.prefetch_user(state, other)
    if selection.is_due(state, node, t):  # every prediction precedes its outcome
        selection.evaluate(state, node, features, rows, examined, rewards)
    gram, moment = state.list_gram, state.list_moment
    _list_statistics(state, node, features, rows, examined, rewards, gram, moment)
    linear.add_both(state.gram[node], state.moment[node], 1.0, gram, moment)  # S and b
    cohort_models.add(state, 0, gram, moment, examined, 1.0)
    if g > 0:
        cohort_models.add(state, g, gram, moment, examined, 1.0)
    state.count[node] += examined
    if assignment.reassign_due(state, node, other, t):
        cohort_split.try_split(state, node)


@implements(count_clusters, Cohort)
def _count_clusters(state: Any) -> Any:
    return state.n_cohorts + (1 if state.n_assigned < state.n_users else 0)
