"""CohortCascade: ranking and learning.

The posterior of a user's weights is in ``cohort_posterior``, the prequential selection of its prior
in ``cohort_selection``, the ranking position by position in ``cohort_ranking``; the partition of
the users in ``cohort_evidence`` (likelihood), ``cohort_assignment`` (Gibbs steps) and
``cohort_split``.
"""

from __future__ import annotations

import math
from typing import Any

from clubcascade.core import Floats, Ints
from clubcascade.kernels import cohort_assignment as assignment
from clubcascade.kernels import cohort_models, cohort_ranking, cohort_split, linear, packed_items
from clubcascade.kernels import cohort_posterior as posterior
from clubcascade.kernels import cohort_selection as selection
from clubcascade.kernels.cohort_constants import (
    CALIBRATION_CLICKS,
    LARGEST_SQUARED_RESIDUAL,
    NOISE_DECAY,
)
from clubcascade.kernels.cohort_state import Cohort
from clubcascade.kernels.item_memory import Recalled, blended
from clubcascade.kernels.jit import implements, keep_whole, kernel
from clubcascade.kernels.protocol import (
    count_clusters,
    expect_click,
    learn,
    note_share,
    rank_catalog,
    rank_catalog_recalled,
    rank_items,
    rank_items_recalled,
    skip_list,
)


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
    keep_whole()
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


@kernel
def _rank(
    state: Cohort, node: int, items: Any, recalled: Recalled, rows: Ints, scores: Floats
) -> None:
    """Rank packed items, some of which the user has met."""
    keep_whole()
    posterior.prefetch_user(state, node)
    mean, deviation = state.mean_work, state.deviation_work
    posterior.sample_weights(state, node, mean, deviation)
    packed_items.score(mean, deviation, items)
    sequential = cohort_ranking.is_sequential(state, node, rows)
    prior = bonus = 0.0
    if sequential:
        prior = math.sqrt(posterior.precision_of(posterior.predictor_of(state, node)))
        bonus = posterior.width_bonus(state) / prior
    for i in range(recalled.n):
        block, place = divmod(recalled.rows[i], packed_items.BLOCK)
        known = blended(recalled, i, items.found[block, place])
        items.found[block, place] = known - recalled.weight[i] * bonus * items.norm[block, place]
    if bonus > 0.0:  # no item is less certain than it was a priori
        packed_items.add_norms(items, bonus)
    if not sequential:
        packed_items.select(items, rows, scores)
        return
    candidates, candidate_scores = cohort_ranking.shortlist(rows, items.n_items)
    packed_items.select(items, candidates, candidate_scores)
    columns = packed_items.unpack(items, candidates)
    cohort_ranking.rank_sequentially(
        state, prior, mean, columns, candidates, candidate_scores, recalled, rows, scores
    )


@implements(rank_catalog, Cohort)
def _rank_catalog(state: Any, node: Any, catalog: Any, rows: Any, scores: Any) -> None:
    _rank(state, node, catalog, state.nothing_recalled, rows, scores)


@implements(rank_catalog_recalled, Cohort)
def _rank_catalog_recalled(
    state: Any, node: Any, catalog: Any, recalled: Any, n_items: Any, rows: Any, scores: Any
) -> None:
    _rank(state, node, catalog, recalled, rows, scores)


@implements(rank_items, Cohort)
def _rank_items(state: Any, node: Any, features: Any, offered: Any, rows: Any, scores: Any) -> None:
    items = packed_items.pack(features, offered)
    _rank(state, node, items, state.nothing_recalled, rows, scores)


@implements(rank_items_recalled, Cohort)
def _rank_items_recalled(
    state: Any, node: Any, features: Any, offered: Any, recalled: Any, rows: Any, scores: Any
) -> None:
    _rank(state, node, packed_items.pack(features, offered), recalled, rows, scores)


@implements(expect_click, Cohort)
def _expect_click(state: Any, node: Any, features: Any, row: Any) -> Any:
    weights = state.expected_work
    if state.expected_for != node:
        posterior.mean_weights(state, node, weights)
        state.expected_for = node
    z = linear.dot(weights, features[row])
    if state.promised >= 0.0:
        z *= (1.0 + state.answered) / (1.0 + state.promised)
    return posterior.click_probability(state.logistic, z)


@implements(note_share, Cohort)
def _note_share(state: Any, share: Any) -> None:
    state.item_share = share


@implements(skip_list, Cohort)
def _skip_list(state: Any, node: Any) -> None:
    state.expected_for = -1
    cohort_models.forget(state, node)


@kernel
def _calibrate(
    state: Cohort, node: int, features: Floats, rows: Ints, examined: int, rewards: Floats
) -> None:
    """Compare what a warm start promises of a list with its clicks; after enough, scale outcomes.

    Clicks without lists say which items a user likes best, not how often it clicks what it sees.
    """
    weights = state.mean_work
    posterior.mean_weights(state, node, weights)
    for p in range(examined):
        z = linear.dot(weights, features[rows[p]])
        state.promised += posterior.click_probability(state.logistic, z)
        state.answered += rewards[p]
    if state.answered >= CALIBRATION_CLICKS:
        if state.promised > state.answered:
            cohort_models.scale_outcomes(state, state.answered / state.promised)
        state.promised = -1.0


@implements(learn, Cohort)
def _learn(state: Any, node: Any, features: Any, rows: Any, examined: Any, rewards: Any) -> None:
    t = state.n_lists
    state.n_lists += 1
    state.expected_for = -1
    if state.promised >= 0.0:
        _calibrate(state, node, features, rows, examined, rewards)
    g = state.label[node]
    cohort_models.forget(state, node)
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
