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
from clubcascade.kernels import triangular
from clubcascade.kernels.cohort_constants import (
    LARGEST_SEQUENTIAL_PRECISION,
    SEQUENTIAL_POSITIONS,
    SHORTLIST_FACTOR,
)
from clubcascade.kernels.cohort_state import Cohort
from clubcascade.kernels.jit import kernel


@kernel
def is_sequential(state: Cohort, node: int, rows: Ints) -> bool:
    """Tell whether a pass may change the rest of the list: more than one item, a weak prior."""
    if not state.sequential or rows.shape[0] == 1:
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
    mean: Floats,
    items: Floats,
    candidates: Ints,
    candidate_scores: Floats,
    rows: Ints,
    scores: Floats,
) -> None:
    """Fill ``rows`` and ``scores`` from candidates, each position as if those before were passed.

    ``mean`` is m and ``factor_work`` the factor R of ``P = R' R``, as ``sample_weights`` left them;
    ``items`` are the candidates, a column each. ``items`` and ``candidate_scores`` are overwritten.
    """
    k, lanes = rows.shape[0], items.shape[1]
    learned = min(k, SEQUENTIAL_POSITIONS) - 1
    means = np.zeros(lanes)
    _add_products(mean, items, means)
    triangular.solve_half_each(state.factor_work, items)
    gains, chosen = np.zeros((learned, lanes)), np.zeros(lanes, np.bool_)
    for p in range(k):
        top = -1
        for j in range(candidate_scores.shape[0]):  # each once, even where a score is NaN
            if not chosen[j] and (top < 0 or candidate_scores[j] > candidate_scores[top]):
                top = j
        rows[p], scores[p], chosen[top] = candidates[top], candidate_scores[top], True
        if p < learned:
            innovation = _condition_on_pass(state, items, means, gains, p, top)
            for j in range(candidate_scores.shape[0]):
                candidate_scores[j] += innovation * gains[p, j]


@kernel
def _add_products(weights: Floats, items: Floats, out: Floats) -> None:
    """``out += weights @ items``."""
    for f in range(weights.shape[0]):
        scale, row = weights[f], items[f]
        for j in range(out.shape[0]):
            out[j] += scale * row[j]


@kernel
def _condition_on_pass(
    state: Cohort, whitened: Floats, means: Floats, gains: Floats, p: int, top: int
) -> float:
    """Condition on a pass of candidate ``top``: ``means += innovation * gains[p]``.

    ``whitened`` are the items times R'^-1, so that their inner products are ``x . P^-1 x'``. With V
    after the passes before, ``gains[p, j] = x . V x_j / sqrt(1 + x . V x)``, and this pass takes
    ``gains[p] gains[p]'`` off such products (a Kalman filter). Returns the normalized innovation.
    """
    scale, value = posterior.linearize(state, means[top], 0.0)
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
