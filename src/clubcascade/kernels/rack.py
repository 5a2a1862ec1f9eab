"""A catalogue laid out for one quick product with weights: blocks of items, feature by feature.

Who draws weights at random ranks by ``X @ weights`` alone and needs no more than single precision.
The order of each item's sum does not depend on its place, so that loose items laid out on the
spot get the very scores that they have in a catalogue.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clubcascade.core import Floats, Ints
from clubcascade.kernels import ranking
from clubcascade.kernels.jit import Struct, StructType, kernel, struct
from clubcascade.kernels.ranking import BLOCK


class RackType(StructType):
    """Type of :class:`Rack`."""


@struct(RackType)
class Rack(Struct):
    """Items in single precision: ``blocks`` (blocks x features x items of a block).

    ``size`` = [number of items]; ``sums`` is scratch for one block.
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
def _rank_block(
    weights: Any,
    block: Any,
    start: int,
    size: int,
    sums: Any,
    rows: Ints,
    scores: Floats,
    full: int,
) -> int:
    """Put the items of one block into the best list; return the list's size."""
    ranking.mean_block(weights, block, size, sums)
    k = rows.shape[0]
    if full == k:
        hopeful = 0
        bar = scores[k - 1]
        for j in range(size):
            hopeful += sums[j] > bar
        if hopeful == 0:
            return full
    for j in range(size):
        if full < k or sums[j] > scores[k - 1]:
            full = ranking.insert(scores, rows, full, sums[j], start + j)
    return full


@kernel
def _single(weights: Floats) -> Any:
    """Return the weights in single precision."""
    short = np.empty(weights.shape[0], np.float32)
    for f in range(weights.shape[0]):
        short[f] = weights[f]
    return short


@kernel
def rank(weights: Floats, rack: Rack, rows: Ints, scores: Floats) -> None:
    """Fill ``rows`` and ``scores`` with the catalogue's largest ``x . weights``, best first."""
    short, n, full = _single(weights), rack.size[0], 0
    for b in range(rack.blocks.shape[0]):
        size = min(BLOCK, n - b * BLOCK)
        full = _rank_block(short, rack.blocks[b], b * BLOCK, size, rack.sums, rows, scores, full)


@kernel
def rank_loose(
    weights: Floats, features: Floats, offered: Ints, rows: Ints, scores: Floats
) -> None:
    """Do the same for the ``offered`` rows of ``features``; ``rows`` are places among them."""
    block = np.zeros((features.shape[1], BLOCK), np.float32)
    sums = np.empty(BLOCK, np.float32)
    short, n, full = _single(weights), offered.shape[0], 0
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        lay_out(features, offered, start, size, block)
        full = _rank_block(short, block, start, size, sums, rows, scores, full)
