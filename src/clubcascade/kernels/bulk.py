"""Bulk learning: sums of users over a log of lists, and sweeps that find cohorts from sums."""

from __future__ import annotations

import numpy as np

from clubcascade.core import Floats, Ints
from clubcascade.kernels import cohort_assignment as assignment
from clubcascade.kernels import cohort_split
from clubcascade.kernels.cohort_state import Cohort
from clubcascade.kernels.jit import kernel
from clubcascade.kernels.prefetch import prefetch_row

AHEAD = 2
"""Models ahead of which sums are prefetched: with many users, memory is slow."""


@kernel
def group_observations(
    model: Ints,  # IN, per list: whose sums it is added to, 0 to n_models - 1
    n_models: int,
    starts: Ints,  # IN: list n shows rows[starts[n] : starts[n + 1]]
    rows: Ints,  # IN
    examined: Ints,  # IN, per list
    rewards: Floats,  # IN, per shown item
) -> tuple[Ints, Ints, Floats]:
    """Sort the examined items of lists by model, in the order of the lists: a counting sort.

    Returns where each model's items start, their rows, and their rewards. A model's sums are then
    read from memory once, however many lists it has.
    """
    first = np.zeros(n_models + 1, np.int64)
    for i in range(model.shape[0]):
        first[model[i] + 1] += examined[i]
    for m in range(n_models):
        first[m + 1] += first[m]
    end = first[:-1].copy()
    row, reward = np.empty(first[n_models], np.int64), np.empty(first[n_models])
    for i in range(model.shape[0]):
        at = end[model[i]]
        for place in range(starts[i], starts[i] + examined[i]):
            row[at], reward[at] = rows[place], rewards[place]
            at += 1
        end[model[i]] = at
    return first, row, reward


@kernel
def add_observations(
    models: Ints,  # IN: distinct
    first: Ints,  # IN: observations of models[m] are row[first[m] : first[m + 1]]
    row: Ints,  # IN
    reward: Floats,  # IN
    features: Floats,  # IN
    low: int,
    high: int,
    gram: Floats,  # OUT
    moment: Floats,  # OUT
    count: Ints,  # OUT
) -> None:
    """Add observations to the sums of ``models[low:high]``, one after another.

    ``gram += sum x x'``, ``moment += sum y x``, ``count += number``. The order of a model's
    observations is all that matters: neither chunks nor threads change a bit.
    """
    d = features.shape[1]
    for m in range(low, high):
        if m + AHEAD < high:
            prefetch_row(gram, models[m + AHEAD])
        g = models[m]
        s, b = gram[g], moment[g]
        for i in range(first[m], first[m + 1]):
            x, y = features[row[i]], reward[i]
            for j in range(d):  # whole rows: triangles are half the work in twice the time
                for k in range(d):
                    s[j, k] += x[j] * x[k]
            if y != 0.0:
                for j in range(d):
                    b[j] += y * x[j]
        count[g] += first[m + 1] - first[m]


@kernel
def sweep(state: Cohort, order: Ints) -> None:
    """Assign users to cohorts, one after another; a cohort may split when a user joins it."""
    for node in order:
        assignment.reassign(state, node, state.n_lists, 0)
        cohort_split.try_split(state, node)
        state.n_lists += 1
