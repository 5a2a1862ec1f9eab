"""CohortCascade: how a list is made of what is believed: place by place.

The item at the second place is looked at only if the one at the first was passed over. So it is
chosen as if it had been: the first item is learned as a pass, then the second is picked, and so on.
Else a list for a user who is hardly known is one guess made k times. It is picked from a shortlist
of the items that are best before anything is passed over.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clubcascade.core import Floats, Ints
from clubcascade.kernels import cohort_belief as belief
from clubcascade.kernels import linear
from clubcascade.kernels.cohort_state import Cohort
from clubcascade.kernels.jit import kernel

SHORTLIST = 3
"""Items on the shortlist for each place of the list;"""
PASSED = 16
"""from this place on just one, and nothing more is learned: cost would grow with k squared."""
FIRM = 64.0
"""Strongest pull at which it is done: a pass tells nothing of whom the centre tells all."""


@kernel
def pays(state: Cohort, node: int, rows: Ints) -> bool:
    """Tell whether a user is believed to be so little known that a pass would change the list."""
    if state.rule[8] == 0.0 or rows.shape[0] == 1:
        return False
    return belief.pull_of(belief.way_of(state, node)) <= FIRM


@kernel
def shortlist(rows: Ints, n: int) -> tuple[Ints, Floats]:
    """Return room for the places of a shortlist and for what is hoped of them."""
    k = rows.shape[0]
    size = min(n, k + (SHORTLIST - 1) * min(k, PASSED))
    return np.empty(size, np.int64), np.empty(size)


@kernel
def build(
    state: Cohort,
    mean: Floats,
    items: Any,
    places: Ints,
    hopes: Floats,
    rows: Ints,
    scores: Floats,
) -> None:
    """Fill ``rows`` and ``scores`` from a shortlist, each place as if those before were passed.

    ``mean`` are the weights expected of the user, ``matrices[0]`` the factor of their inverse
    covariance (both as ``draw`` left them), ``hopes`` what shortlisted items are ranked by; of
    these three the first and the last are changed.
    """
    k, n, d = rows.shape[0], places.shape[0], mean.shape[0]
    steps = np.empty((min(k, PASSED), d))
    x = np.empty(d)
    for p in range(k):
        top = np.argmax(hopes)
        rows[p], scores[p] = places[top], hopes[top]
        hopes[top] = -math.inf
        if p >= min(k, PASSED) - 1:
            continue
        for f in range(d):
            x[f] = items[top, f]
        surprise = _pass_over(state, mean, x, steps, p)
        for j in range(n):
            total = 0.0
            for f in range(d):
                total += steps[p, f] * items[j, f]
            hopes[j] += surprise * total


@kernel
def _pass_over(state: Cohort, mean: Floats, x: Floats, steps: Floats, p: int) -> float:
    """Learn a pass: ``mean += surprise * steps[p]``; return the surprise.

    With V the covariance after the passes before, ``steps[p]`` is ``V x / sqrt(1 + x.Vx)``: what
    each pass takes off V is the outer product of its step.
    """
    d = x.shape[0]
    scale, look = belief.tangent(state, linear.dot(mean, x), 0.0)
    for f in range(d):
        x[f] *= scale
    step = steps[p]
    for f in range(d):
        step[f] = x[f]
    linear.solve(state.matrices[0], step)
    for q in range(p):
        part = linear.dot(steps[q], x)
        for f in range(d):
            step[f] -= part * steps[q, f]
    width = math.sqrt(1.0 + linear.dot(x, step))
    for f in range(d):
        step[f] /= width
    surprise = (look - linear.dot(mean, x)) / width
    for f in range(d):
        mean[f] += surprise * step[f]
    return surprise
