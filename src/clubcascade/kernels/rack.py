"""A catalogue laid out for one quick pass with drawn weights: blocks of items, feature by feature.

Who draws weights at random needs no widths and no more than single precision. An item is scored
with the drawn weights and with their mirror image at the other side of the expected ones, and the
better of the two counts: ``X @ mean + |X @ shift|``. The order of each item's sums does not depend
on its place, so that loose items laid out on the spot get the very scores that they have in a
catalogue.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clubcascade.core import Floats, Ints
from clubcascade.kernels import ranking
from clubcascade.kernels.jit import Struct, StructType, kernel, struct
from clubcascade.kernels.ranking import LANES

BLOCK = 256
"""Items scored side by side: fewer loops to start, and a block still fits a core's first cache."""
PART = 32
"""Items of a block that are passed over together if none of them is good enough."""


class RackType(StructType):
    """Type of :class:`Rack`."""


@struct(RackType)
class Rack(Struct):
    """Items in single precision: ``blocks`` (blocks x features x items of a block).

    ``size`` = [number of items]. Scratch: ``sums`` for one block, both sums of its items;
    ``parts``, the first of them part by part; ``weights``, both weights in single precision.
    """

    blocks: Any
    size: Ints
    sums: Any
    parts: Any
    weights: Any


@kernel
def make(*fields: Any) -> Rack:
    """Bind arrays into one structure that the kernels take."""
    return Rack(*fields)


@kernel
def lay_out(features: Floats, offered: Ints, start: int, size: int, block: Any) -> None:
    """Put ``size`` offered rows of ``features`` into a block, feature by feature."""
    for j in range(size):
        x = features[offered[start + j]]
        for f in range(x.shape[0]):
            block[f, j] = x[f]


@kernel
def _score_block(
    mean: Any, shift: Any, blocks: Any, b: int, size: int, scores: Any, swings: Any
) -> None:
    """Write ``mean . x + |shift . x|`` of a block's items to ``scores``; both sums in one pass."""
    d = mean.shape[0]
    lanes = (size + LANES - 1) // LANES * LANES
    whole = d // 4 * 4
    for j in range(lanes):
        scores[j] = 0.0
        swings[j] = 0.0
    for f in range(0, whole, 4):
        m0, m1, m2, m3 = mean[f], mean[f + 1], mean[f + 2], mean[f + 3]
        s0, s1, s2, s3 = shift[f], shift[f + 1], shift[f + 2], shift[f + 3]
        for j in range(lanes):
            x0, x1 = blocks[b, f, j], blocks[b, f + 1, j]
            x2, x3 = blocks[b, f + 2, j], blocks[b, f + 3, j]
            scores[j] = (((scores[j] + m0 * x0) + m1 * x1) + m2 * x2) + m3 * x3
            swings[j] = (((swings[j] + s0 * x0) + s1 * x1) + s2 * x2) + s3 * x3
    for f in range(whole, d):
        for j in range(lanes):
            scores[j] += mean[f] * blocks[b, f, j]
            swings[j] += shift[f] * blocks[b, f, j]
    for j in range(lanes):
        scores[j] += abs(swings[j])


@kernel
def _insert_block(parts: Any, size: int, first: int, rows: Ints, scores: Floats, full: int) -> int:
    """Put the items of a block into the best list, from row ``first`` on; return its size."""
    k = rows.shape[0]
    bar = np.float32(scores[k - 1] if full == k else -np.inf)
    for part in range((size + PART - 1) // PART):
        start = part * PART
        hopeful, n = 0, min(PART, size - start)
        for j in range(n):
            hopeful += parts[part, j] > bar
        if hopeful == 0 and full == k:
            continue
        for j in range(n):
            if parts[part, j] > bar or full < k:
                full = ranking.insert(scores, rows, full, parts[part, j], first + start + j)
                if full == k:
                    bar = np.float32(scores[k - 1])
    return full


@kernel
def _shorten(mean: Floats, shift: Floats, short: Any, swing: Any) -> None:
    """Write both weights in single precision."""
    for f in range(mean.shape[0]):
        short[f] = mean[f]
        swing[f] = shift[f]


@kernel
def rank(mean: Floats, shift: Floats, rack: Rack, rows: Ints, scores: Floats) -> None:
    """Fill ``rows`` and ``scores`` with the catalogue's best items, best first."""
    blocks, parts, n, full = rack.blocks, rack.parts, rack.size[0], 0
    found, swings, short, swing = rack.sums[0], rack.sums[1], rack.weights[0], rack.weights[1]
    _shorten(mean, shift, short, swing)
    for b in range(blocks.shape[0]):
        size = min(BLOCK, n - b * BLOCK)
        _score_block(short, swing, blocks, b, size, found, swings)
        full = _insert_block(parts, size, b * BLOCK, rows, scores, full)


@kernel
def rank_loose(
    mean: Floats, shift: Floats, features: Floats, offered: Ints, rows: Ints, scores: Floats
) -> None:
    """Do the same for the ``offered`` rows of ``features``; ``rows`` are places among them."""
    d, n, full = features.shape[1], offered.shape[0], 0
    width = min(BLOCK, (n + PART - 1) // PART * PART)
    block = np.zeros((1, d, width), np.float32)
    found, swings = np.empty(width, np.float32), np.empty(width, np.float32)
    short, swing = np.empty(d, np.float32), np.empty(d, np.float32)
    parts = found.reshape(width // PART, PART)
    _shorten(mean, shift, short, swing)
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        lay_out(features, offered, start, size, block[0])
        _score_block(short, swing, block, 0, size, found, swings)
        full = _insert_block(parts, size, start, rows, scores, full)


@kernel
def _columns(d: int, n: int) -> Floats:
    """Return room for ``n`` items, a column each, and for zeros up to whole vectors."""
    return np.zeros((d, (n + LANES - 1) // LANES * LANES))


@kernel
def fetch(rack: Rack, places: Ints) -> Floats:
    """Return some items of a catalogue, a column each, as they are scored; zeros after them."""
    items = _columns(rack.blocks.shape[1], places.shape[0])
    for j in range(places.shape[0]):
        b, at = places[j] // BLOCK, places[j] % BLOCK
        for f in range(items.shape[0]):
            items[f, j] = rack.blocks[b, f, at]
    return items


@kernel
def fetch_loose(features: Floats, offered: Ints, places: Ints) -> Floats:
    """Do the same for some of the ``offered`` rows of ``features``."""
    items = _columns(features.shape[1], places.shape[0])
    for j in range(places.shape[0]):
        x = features[offered[places[j]]]
        for f in range(items.shape[0]):
            items[f, j] = np.float32(x[f])
    return items
