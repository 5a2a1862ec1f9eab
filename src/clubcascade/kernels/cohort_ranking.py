"""CohortCascade: a list chosen position by position.

The item at position two is examined only if the one at position one was passed. So it is chosen as
if it had been: the first item is learned as an observation y = 0, then the second is chosen, and so
on, from a shortlist of the items of the largest scores. With V = P^-1 and the item x at a position

    m <- m - V x (x . m) / (1 + x . V x)        V <- V - V x x' V / (1 + x . V x).
"""

from __future__ import annotations

import math

import numpy as np

from clubcascade.core import Floats, Ints
from clubcascade.kernels import cohort_posterior as posterior
from clubcascade.kernels import ranking, triangular
from clubcascade.kernels.cohort_constants import (
    LARGEST_SEQUENTIAL_PRECISION,
    SEQUENTIAL_POSITIONS,
    SHORTLIST_FACTOR,
)
from clubcascade.kernels.cohort_state import Cohort
from clubcascade.kernels.item_memory import Recalled
from clubcascade.kernels.jit import keep_whole, kernel


@kernel
def is_sequential(state: Cohort, node: int, rows: Ints) -> bool:
    """Tell whether a pass may change the rest of the list: more than one item, a weak prior.

    Where widths count, also a list of one item is chosen so, for its exact width.
    """
    if not state.sequential or (rows.shape[0] == 1 and posterior.width_bonus(state) == 0.0):
        return False
    precision = posterior.precision_of(posterior.predictor_of(state, node))
    return precision <= LARGEST_SEQUENTIAL_PRECISION


@kernel
def shortlist(rows: Ints, n: int) -> tuple[Ints, Floats]:
    """Return arrays for the rows and the scores of the candidates."""
    k = rows.shape[0]
    size = min(n, k + (SHORTLIST_FACTOR - 1) * min(k, SEQUENTIAL_POSITIONS))
    return np.empty(size, np.int64), np.empty(size)


@kernel
def rank_sequentially(
    state: Cohort,
    prior: float,
    mean: Floats,
    items: Floats,
    candidates: Ints,
    candidate_scores: Floats,
    recalled: Recalled,
    rows: Ints,
    scores: Floats,
) -> None:
    """Fill ``rows`` and ``scores`` from candidates, each position as if those before were passed.

    ``prior`` is the root of p, ``mean`` is m and ``factor_work`` the factor R of ``P = R' R``, as
    ``sample_weights`` left them; ``items`` are the candidates, a column each. Scores come with the
    bonus for an item's prior width, which is replaced by that for its width. ``items`` and
    ``candidate_scores`` are overwritten.
    """
    keep_whole()
    k, lanes = rows.shape[0], items.shape[1]
    learned = min(k, SEQUENTIAL_POSITIONS) - 1
    means = np.zeros(lanes)
    _add_products(mean, items, means)
    prior_widths = _prior_widths(items, prior)
    triangular.solve_half_each(state.factor_work, items)
    gains, chosen = np.zeros((learned, lanes)), np.zeros(lanes, np.bool_)
    modelled, root = _recalled_parts(recalled, candidates)
    bonus, width = posterior.width_bonus(state), np.zeros(lanes)
    if bonus > 0.0:
        _exact_widths(items, prior_widths, bonus, modelled, candidate_scores, width)
    for p in range(learned):
        top = -1
        for j in range(candidate_scores.shape[0]):  # each once, even where a score is NaN
            if not chosen[j] and (top < 0 or candidate_scores[j] > candidate_scores[top]):
                top = j
        rows[p], scores[p], chosen[top] = candidates[top], candidate_scores[top], True
        innovation = _condition_on_pass(state, items, means, root[top], gains, p, top)
        for j in range(candidate_scores.shape[0]):
            candidate_scores[j] += modelled[j] * innovation * gains[p, j]
            if bonus > 0.0:
                left = math.sqrt(max(width[j] ** 2 - gains[p, j] ** 2, 0.0))
                candidate_scores[j] += modelled[j] * bonus * (left - width[j])
                width[j] = left
    places, filled = np.empty(k - learned, np.int64), 0
    for j in range(candidate_scores.shape[0]):
        if not chosen[j]:
            filled = ranking.insert(scores[learned:], places, filled, candidate_scores[j], j)
    for p in range(learned, k):
        rows[p] = candidates[places[p - learned]]


@kernel
def _exact_widths(
    whitened: Floats,
    prior_widths: Floats,
    bonus: float,
    modelled: Floats,
    scores: Floats,
    width: Floats,
) -> None:
    """Write ``sqrt(x . P^-1 x)`` of the candidates, in the place of prior ones in their scores."""
    for j in range(scores.shape[0]):
        square = 0.0
        for f in range(whitened.shape[0]):
            square += whitened[f, j] * whitened[f, j]
        width[j] = math.sqrt(square)
        scores[j] += modelled[j] * bonus * (width[j] - prior_widths[j])


@kernel
def _recalled_parts(recalled: Recalled, candidates: Ints) -> tuple[Floats, Floats]:
    """Return how much of each candidate's score is the model's, and how much a pass tells of it.

    The second as the root of the weight of an observation; both are 1 for an item not yet met.
    """
    n = candidates.shape[0]
    modelled, root = np.ones(n), np.ones(n)
    for i in range(recalled.n):
        for j in range(n):
            if candidates[j] == recalled.rows[i]:
                modelled[j] = 1.0 - recalled.weight[i]
                root[j] = recalled.root[i]
    return modelled, root


@kernel
def _prior_widths(items: Floats, prior: float) -> Floats:
    """Return the prior widths ``|x| / sqrt(p)``."""
    widths = np.zeros(items.shape[1])
    for f in range(items.shape[0]):
        for j in range(items.shape[1]):
            widths[j] += items[f, j] * items[f, j]
    for j in range(items.shape[1]):
        widths[j] = math.sqrt(widths[j]) / prior
    return widths


@kernel
def _add_products(weights: Floats, items: Floats, out: Floats) -> None:
    """``out += weights @ items``."""
    for f in range(weights.shape[0]):
        scale, row = weights[f], items[f]
        for j in range(out.shape[0]):
            out[j] += scale * row[j]


@kernel
def _condition_on_pass(
    state: Cohort, whitened: Floats, means: Floats, root: float, gains: Floats, p: int, top: int
) -> float:
    """Condition on a pass of candidate ``top``: ``means += innovation * gains[p]``.

    ``whitened`` are the items times R'^-1, so that their inner products are ``x . P^-1 x'``. With V
    after the passes before, ``gains[p, j] = x . V x_j / sqrt(1 + x . V x)``, and this pass takes
    ``gains[p] gains[p]'`` off such products (a Kalman filter). ``root`` is that of the weight of
    the observation. Returns the normalized innovation.
    """
    scale, value = posterior.linearize(state, means[top], 0.0)
    scale, value = root * scale, root * value
    gain = gains[p]
    _add_products(whitened[:, top].copy(), whitened, gain)
    for q in range(p):
        part, before = gains[q, top], gains[q]
        for j in range(gain.shape[0]):
            gain[j] -= part * before[j]
    width = math.sqrt(1.0 + scale * scale * gain[top])
    innovation = (value - scale * means[top]) / width
    for j in range(gain.shape[0]):
        gain[j] *= scale / width
        means[j] += innovation * gain[j]
    return innovation
