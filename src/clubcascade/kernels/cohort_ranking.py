"""CohortCascade: how a list is made of what is believed: place by place.

The item at the second place is looked at only if the one at the first was passed over. So it is
chosen as if it had been: the first item is learned as a pass, then the second is picked, and so on.
Else a list for a user who is hardly known is one guess made k times. It is picked from a shortlist
of the items that are best before anything is passed over.
"""

from __future__ import annotations

import math

import numpy as np

from clubcascade.core import Floats, Ints
from clubcascade.kernels import cohort_posterior as posterior
from clubcascade.kernels import triangular
from clubcascade.kernels.cohort_state import Cohort
from clubcascade.kernels.jit import kernel

SHORTLIST_FACTOR = 3
"""Items on the shortlist for each place of the list;"""
SEQUENTIAL_POSITIONS = 16
"""from this place on just one, and nothing more is learned: cost would grow with k squared."""
LARGEST_SEQUENTIAL_PRECISION = 16.0
"""Strongest pull at which it is done: a pass tells nothing of whom the centre tells all."""


@kernel
def is_sequential(state: Cohort, node: int, rows: Ints) -> bool:
    """Tell whether a user is believed to be so little known that a pass would change the list."""
    if not state.sequential or rows.shape[0] == 1:
        return False
    return (
        posterior.precision_of(posterior.predictor_of(state, node)) <= LARGEST_SEQUENTIAL_PRECISION
    )


@kernel
def shortlist(rows: Ints, n: int) -> tuple[Ints, Floats]:
    """Return room for the places of a shortlist and for what is hoped of them."""
    k = rows.shape[0]
    size = min(n, k + (SHORTLIST_FACTOR - 1) * min(k, SEQUENTIAL_POSITIONS))
    return np.empty(size, np.int64), np.empty(size)


@kernel
def rank_sequentially(
    state: Cohort,
    mean: Floats,
    items: Floats,
    places: Ints,
    hopes: Floats,
    rows: Ints,
    scores: Floats,
) -> None:
    """Fill ``rows`` and ``scores`` from a shortlist, each place as if those before were passed.

    ``mean`` are the weights expected of the user, ``factor_work`` the factor R of their inverse
    covariance (both as ``draw`` left them), ``items`` the shortlisted ones, a column each, and
    ``hopes`` what they are ranked by; the last two are changed.
    """
    k, lanes = rows.shape[0], items.shape[1]
    learned = min(k, SEQUENTIAL_POSITIONS) - 1
    guesses = np.zeros(lanes)
    _add_products(mean, items, guesses)
    triangular.solve_half_each(state.factor_work, items)
    steps = np.zeros((learned, lanes))
    for p in range(k):
        top = int(np.argmax(hopes))
        rows[p], scores[p] = places[top], hopes[top]
        hopes[top] = -math.inf
        if p < learned:
            surprise = _condition_on_pass(state, items, guesses, steps, p, top)
            for j in range(hopes.shape[0]):
                hopes[j] += surprise * steps[p, j]


@kernel
def _add_products(weights: Floats, items: Floats, out: Floats) -> None:
    """``out += weights @ items``."""
    for f in range(weights.shape[0]):
        scale, row = weights[f], items[f]
        for j in range(out.shape[0]):
            out[j] += scale * row[j]


@kernel
def _condition_on_pass(
    state: Cohort, halves: Floats, guesses: Floats, steps: Floats, p: int, top: int
) -> float:
    """Learn that an item was passed over: ``guesses += surprise * steps[p]``; return the surprise.

    ``halves`` are the items times the inverse of R', so that their products are those of items
    through the covariance V of the weights. With V after the passes before, ``steps[p]`` is
    ``x.V items / sqrt(1 + x.Vx)``: what each pass takes off such products is that of its step.
    """
    scale, look = posterior.linearize(state, guesses[top], 0.0)
    step = steps[p]
    _add_products(halves[:, top].copy(), halves, step)
    for q in range(p):
        part, before = steps[q, top], steps[q]
        for j in range(step.shape[0]):
            step[j] -= part * before[j]
    width = math.sqrt(1.0 + scale * scale * step[top])
    surprise = (look - scale * guesses[top]) / width
    for j in range(step.shape[0]):
        step[j] *= scale / width
        guesses[j] += surprise * step[j]
    return surprise
