"""Packed items for Thompson sampling: blocks of items, feature by feature, in single precision.

Drawn weights need no widths. An item is scored with the drawn weights and with their mirror image
at the other side of the mean, and the better counts: ``X @ mean + |X @ deviation|``. The order of
each item's sums does not depend on its place, so that a matrix packed on the spot gets the scores
of a catalogue.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clubcascade.core import Floats, Ints
from clubcascade.kernels import top_k
from clubcascade.kernels.jit import Struct, keep_whole, kernel, struct
from clubcascade.kernels.ranking import LANES

BLOCK = 256
"""Items scored side by side: a block still fits the first-level cache."""


@struct
class PackedItems(Struct):
    """Items in single precision: ``blocks`` (blocks x features x items of a block), and ``norm``.

    Scratch: ``found``, the scores block by block, and the same as
    ``parts`` and ``grouped`` (see ``top_k``); ``deviations``, the second sums of a block;
    ``mean`` and ``deviation``, both weights in single precision; ``tops`` and ``kept``.
    """

    blocks: Any
    norm: Any
    found: Any
    parts: Any
    grouped: Any
    deviations: Any
    mean: Any
    deviation: Any
    tops: Any
    kept: Ints
    n_items: int


@kernel
def _zeros(size: int) -> Any:
    """Return zeros aligned to a cache line: unaligned vectors take twice the time."""
    room = np.zeros(size + 16, np.float32)
    start = -room.ctypes.data % 64 // 4
    return room[start : start + size]


@kernel
def empty(n: int, d: int) -> PackedItems:
    """Return room for ``n`` items of ``d`` features, all zeros."""
    count = (n + BLOCK - 1) // BLOCK
    room = count * BLOCK
    found = _zeros(room)
    return PackedItems(
        _zeros(room * d).reshape(count, d, BLOCK),
        _zeros(room).reshape(count, BLOCK),
        found.reshape(count, BLOCK),
        found.reshape(room // top_k.PART, top_k.PART),
        found.reshape(room // top_k.GROUPS, top_k.GROUPS),
        _zeros(BLOCK),
        np.zeros(d, np.float32),
        np.zeros(d, np.float32),
        _zeros(top_k.GROUPS),
        np.zeros(top_k.MAX_COLLECTED, np.int64),
        n,
    )


@kernel
def _score_block(
    mean: Any, deviation: Any, blocks: Any, b: int, size: int, scores: Any, deviations: Any
) -> None:
    """Write ``mean . x + |deviation . x|`` of a block's items to ``scores``, in one pass."""
    d = mean.shape[0]
    lanes = (size + LANES - 1) // LANES * LANES
    whole = d // 4 * 4
    for j in range(lanes):
        scores[j] = 0.0
        deviations[j] = 0.0
    for f in range(0, whole, 4):
        m0, m1, m2, m3 = mean[f], mean[f + 1], mean[f + 2], mean[f + 3]
        s0, s1, s2, s3 = deviation[f], deviation[f + 1], deviation[f + 2], deviation[f + 3]
        for j in range(lanes):
            x0, x1 = blocks[b, f, j], blocks[b, f + 1, j]
            x2, x3 = blocks[b, f + 2, j], blocks[b, f + 3, j]
            scores[j] = (((scores[j] + m0 * x0) + m1 * x1) + m2 * x2) + m3 * x3
            deviations[j] = (((deviations[j] + s0 * x0) + s1 * x1) + s2 * x2) + s3 * x3
    for f in range(whole, d):
        for j in range(lanes):
            scores[j] += mean[f] * blocks[b, f, j]
            deviations[j] += deviation[f] * blocks[b, f, j]
    for j in range(lanes):
        scores[j] += abs(deviations[j])


@kernel
def _to_single_precision(
    mean: Floats, deviation: Floats, single_mean: Any, single_deviation: Any
) -> None:
    """Write both weights in single precision."""
    for f in range(mean.shape[0]):
        single_mean[f] = mean[f]
        single_deviation[f] = deviation[f]


@kernel
def pack(features: Floats, offered: Ints) -> PackedItems:
    """Pack the ``offered`` rows of ``features``."""
    keep_whole()
    d, n = features.shape[1], offered.shape[0]
    packed = empty(n, d)
    blocks = packed.blocks
    for j in range(n):
        x = features[offered[j]]
        b, at = j // BLOCK, j % BLOCK
        square = 0.0
        for f in range(d):
            blocks[b, f, at] = x[f]
            square += x[f] * x[f]
        packed.norm[b, at] = math.sqrt(square)
    return packed


@kernel
def score(mean: Floats, deviation: Floats, packed: PackedItems) -> None:
    """Write ``mean . x + |deviation . x|`` of every item to ``packed.found``."""
    keep_whole()
    blocks, found, deviations, n = packed.blocks, packed.found, packed.deviations, packed.n_items
    single_mean, single_deviation = packed.mean, packed.deviation
    _to_single_precision(mean, deviation, single_mean, single_deviation)
    for b in range(blocks.shape[0]):
        _score_block(
            single_mean,
            single_deviation,
            blocks,
            b,
            min(BLOCK, n - b * BLOCK),
            found[b],
            deviations,
        )


@kernel
def add_norms(packed: PackedItems, scale: float) -> None:
    """Add ``scale`` times its norm to the score of every item."""
    factor = np.float32(scale)
    for b in range(packed.found.shape[0]):
        for j in range(BLOCK):
            packed.found[b, j] += factor * packed.norm[b, j]


@kernel
def select(packed: PackedItems, rows: Ints, scores: Floats) -> None:
    """Fill ``rows`` and ``scores`` with the items of the largest scores, best first."""
    keep_whole()
    n = packed.n_items
    top_k.select(packed.parts, packed.grouped, packed.tops, packed.kept, n, rows, scores)


@kernel
def unpack(packed: PackedItems, places: Ints) -> Floats:
    """Return some items, a column each, as they are scored; zeros after them, to whole vectors."""
    keep_whole()
    blocks, n = packed.blocks, places.shape[0]
    items = np.zeros((blocks.shape[1], (n + LANES - 1) // LANES * LANES))
    for j in range(n):
        b, at = places[j] // BLOCK, places[j] % BLOCK
        for f in range(items.shape[0]):
            items[f, j] = blocks[b, f, at]
    return items
