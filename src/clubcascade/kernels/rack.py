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
from clubcascade.kernels.ranking import BLOCK, LANES


class RackType(StructType):
    """Type of :class:`Rack`."""


@struct(RackType)
class Rack(Struct):
    """Items in single precision: ``blocks`` (blocks x features x items of a block).

    ``size`` = [number of items]; ``sums`` is scratch for one block: both sums of its items.
    """

    blocks: Any
    size: Ints
    sums: Any


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
def _rank_blocks(
    mean: Any,
    shift: Any,
    blocks: Any,
    start: int,
    n: int,
    sums: Any,
    rows: Ints,
    scores: Floats,
    full: int,
) -> int:
    """Put the items of some blocks, ``n`` in all, into the best list; return the list's size."""
    found, swings, k = sums[0], sums[1], rows.shape[0]
    for b in range(blocks.shape[0]):
        size = min(BLOCK, n - b * BLOCK)
        _score_block(mean, shift, blocks, b, size, found, swings)
        if full == k:
            hopeful = 0
            bar = scores[k - 1]
            for j in range(size):
                hopeful += found[j] > bar
            if hopeful == 0:
                continue
        first = start + b * BLOCK
        for j in range(size):
            if full < k or found[j] > scores[k - 1]:
                full = ranking.insert(scores, rows, full, found[j], first + j)
    return full


@kernel
def _single(weights: Floats) -> Any:
    """Return the weights in single precision."""
    short = np.empty(weights.shape[0], np.float32)
    for f in range(weights.shape[0]):
        short[f] = weights[f]
    return short


@kernel
def rank(mean: Floats, shift: Floats, rack: Rack, rows: Ints, scores: Floats) -> None:
    """Fill ``rows`` and ``scores`` with the catalogue's best items, best first."""
    short, swing = _single(mean), _single(shift)
    _rank_blocks(short, swing, rack.blocks, 0, rack.size[0], rack.sums, rows, scores, 0)


@kernel
def rank_loose(
    mean: Floats, shift: Floats, features: Floats, offered: Ints, rows: Ints, scores: Floats
) -> None:
    """Do the same for the ``offered`` rows of ``features``; ``rows`` are places among them."""
    block = np.zeros((1, features.shape[1], BLOCK), np.float32)
    sums = np.empty((2, BLOCK), np.float32)
    short, swing, n, full = _single(mean), _single(shift), offered.shape[0], 0
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        lay_out(features, offered, start, size, block[0])
        full = _rank_blocks(short, swing, block, start, size, sums, rows, scores, full)


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
