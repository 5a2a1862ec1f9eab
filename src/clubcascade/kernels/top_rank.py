"""TopRank: a relation over items, its blocks, and lists with a random order inside each block."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clubcascade.core import Ints
from clubcascade.kernels import counter_rng
from clubcascade.kernels.jit import Struct, implements, kernel, struct
from clubcascade.kernels.protocol import count_clusters, learn, rank_catalog

LOG_CONSTANT = math.log(4.0 * math.sqrt(2.0 / math.pi) / math.erf(math.sqrt(2.0)))
"""Logarithm of the paper's c, about 3.43."""


@struct
class Relation(Struct):
    """What is known of pairs of items.

    ``clicked[i, j]`` counts the rounds in which i was clicked and j was not, both in one block: S
    of the paper is ``clicked - clicked'``, N their sum. ``better[i, j]`` is its relation (j, i) in
    G, and ``n_worse[i]`` its sum over j. ``n_changes`` counts its changes, ``n_drawn`` the lists.
    """

    clicked: Any
    better: Any
    n_worse: Ints
    log_delta: float
    n_changes: int
    n_drawn: int
    key: np.uint64


@struct
class Blocks(Struct):
    """The blocks of one catalogue under the relation that had changed ``n_changes`` times.

    ``slots`` are the numbers of its items in the relation, -1 for one without. ``block`` is the
    block of each row, ``order`` has the rows block by block, and block b starts at ``start[b]``.
    """

    slots: Ints
    block: Ints
    order: Ints
    start: Ints
    n_changes: int
    n_ahead: Ints
    drawn: Ints
    is_clicked: Any


@kernel
def is_better(ahead: int, behind: int, log_delta: float) -> bool:
    """Tell whether ``S >= sqrt(2 N ln(c sqrt(N) / delta))``, for S of the difference of both."""
    s, n = float(ahead - behind), float(ahead + behind)
    if n == 0.0 or s <= 0.0:
        return False
    return s >= math.sqrt(2.0 * n * (LOG_CONSTANT + 0.5 * math.log(n) - log_delta))


@kernel
def relate(state: Relation, n: int) -> None:
    """Find the relation from the counts of the first ``n`` items: related ones count no more."""
    for i in range(n):
        for j in range(n):
            if is_better(state.clicked[i, j], state.clicked[j, i], state.log_delta):
                state.better[i, j] = True
                state.n_worse[i] += 1
    state.n_changes += 1


@kernel
def _add_worse(state: Relation, blocks: Blocks, row: int, sign: int) -> None:
    """Add ``sign`` to ``n_ahead`` of every row whose item is worse than that of ``row``."""
    slot = blocks.slots[row]
    if slot < 0 or state.n_worse[slot] == 0:
        return
    better = state.better[slot]
    for r in range(blocks.slots.shape[0]):
        if blocks.slots[r] >= 0 and better[blocks.slots[r]]:
            blocks.n_ahead[r] += sign


@kernel
def find(state: Relation, blocks: Blocks) -> None:
    """Bring the blocks up to date: each has the items that none of the later ones is better than.

    Counts of different catalogues may close a circle. Then the item with the fewest better ones is
    a block of its own.
    """
    if blocks.n_changes == state.n_changes:
        return
    n, placed, b = blocks.slots.shape[0], 0, 0
    blocks.n_ahead[:] = 0
    blocks.block[:] = -1
    for row in range(n):
        _add_worse(state, blocks, row, 1)
    while placed < n:
        start, fewest = placed, n
        blocks.start[b] = start
        for row in range(n):
            if blocks.block[row] < 0:
                fewest = min(fewest, blocks.n_ahead[row])
        for row in range(n):
            is_least = blocks.block[row] < 0 and blocks.n_ahead[row] == fewest
            if is_least and (fewest == 0 or placed == start):
                blocks.block[row] = b
                blocks.order[placed] = row
                placed += 1
        for p in range(start, placed):
            _add_worse(state, blocks, blocks.order[p], -1)
        b += 1
    blocks.start[b] = n
    blocks.n_changes = state.n_changes


@kernel
def block_of_each(state: Relation, blocks: Blocks) -> Ints:
    """Return the block of each row."""
    find(state, blocks)
    return blocks.block


@kernel
def _compare(state: Relation, blocks: Blocks, row: int) -> None:
    """Count a clicked row against the rows of its block that were not clicked."""
    i, b = blocks.slots[row], blocks.block[row]
    is_changed = False
    for p in range(blocks.start[b], blocks.start[b + 1]):
        other = blocks.order[p]
        if blocks.is_clicked[other]:
            continue
        j = blocks.slots[other]
        state.clicked[i, j] += 1
        if is_better(state.clicked[i, j], state.clicked[j, i], state.log_delta):
            state.better[i, j] = True
            state.n_worse[i] += 1
            is_changed = True
    state.n_changes += is_changed


@implements(rank_catalog, Relation)
def _rank_catalog(state: Any, node: Any, blocks: Any, rows: Any, scores: Any) -> None:
    find(state, blocks)
    drawn = blocks.drawn
    drawn[:] = blocks.order
    for p in range(rows.shape[0]):
        end = blocks.start[blocks.block[drawn[p]] + 1]
        swap = p + int(counter_rng.uniform(state.key, state.n_drawn, p) * (end - p))
        drawn[p], drawn[swap] = drawn[swap], drawn[p]
        rows[p] = drawn[p]
        scores[p] = 0.0
    state.n_drawn += 1


@implements(learn, Relation)
def _learn(state: Any, node: Any, blocks: Any, rows: Any, examined: Any, rewards: Any) -> None:
    find(state, blocks)
    for p in range(examined):
        blocks.is_clicked[rows[p]] = rewards[p] > 0.0
    for p in range(examined):
        if rewards[p] > 0.0:
            _compare(state, blocks, rows[p])
    for p in range(examined):
        blocks.is_clicked[rows[p]] = False


@implements(count_clusters, Relation)
def _count_clusters(state: Any) -> Any:
    return 1
