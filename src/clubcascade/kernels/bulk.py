"""Bulk learning: sums of users over a log of lists, and sweeps that find cohorts from sums."""

from __future__ import annotations

from clubcascade.core import Floats, Ints
from clubcascade.kernels import cohort_assignment as assignment
from clubcascade.kernels import cohort_split
from clubcascade.kernels.cohort_state import Cohort
from clubcascade.kernels.jit import kernel
from clubcascade.kernels.prefetch import prefetch_row

AHEAD = 8
"""Lists ahead of which a user's sums are prefetched: with many users, memory is slow."""


@kernel
def add_lists(
    model: Ints,  # IN, per list: whose sums it is added to
    starts: Ints,  # IN: list n shows rows[starts[n] : starts[n + 1]]
    rows: Ints,  # IN
    examined: Ints,  # IN, per list
    rewards: Floats,  # IN, per shown item
    features: Floats,  # IN
    part: int,
    parts: int,
    gram: Floats,  # OUT: upper triangles
    moment: Floats,  # OUT
    count: Ints,  # OUT
) -> None:
    """Add the examined items of lists to the sums of the models ``part``, ``part + parts``, ...

    ``gram += sum x x'`` (upper triangle), ``moment += sum y x``, ``count += examined``, in the
    order of the lists: the same bits, whatever the number of parts.
    """
    n, d = model.shape[0], features.shape[1]
    for i in range(n):
        if i + AHEAD < n and model[i + AHEAD] % parts == part:
            prefetch_row(gram, model[i + AHEAD])
        g = model[i]
        if g % parts != part:
            continue
        s, b = gram[g], moment[g]
        for place in range(starts[i], starts[i] + examined[i]):
            x, y = features[rows[place]], rewards[place]
            for j in range(d):
                xj = x[j]
                row = s[j]
                for k in range(j, d):
                    row[k] += xj * x[k]
            if y != 0.0:
                for j in range(d):
                    b[j] += y * x[j]
        count[g] += examined[i]


@kernel
def mirror(gram: Floats) -> None:
    """Copy the upper triangles of matrices to the lower ones."""
    for g in range(gram.shape[0]):
        for j in range(gram.shape[1]):
            for k in range(j):
                gram[g, j, k] = gram[g, k, j]


@kernel
def sweep(state: Cohort, order: Ints) -> None:
    """Assign users to cohorts, one after another; a cohort may split when a user joins it."""
    for node in order:
        assignment.reassign(state, node, state.n_lists, 0)
        cohort_split.try_split(state, node)
        state.n_lists += 1
