"""Top-k by upper confidence bound: of loose items, or lazily of a catalogue.

*Lazy bounds.* Let an item's mean ``m`` and width ``w`` have been computed when its model's drift
was ``D0``. Later, at drift ``D``, its mean is at most ``m + w (D - D0)`` (Cauchy-Schwarz in the
norm of the model's matrix) and its width at most ``w`` (the matrix only grows). So
``m + w (beta + D - D0)`` bounds its score, and only items whose bound reaches the k-th best known
score are computed anew: a handful of a thousand. The list is exactly the one of full scoring.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clubcascade.core import Floats, Ints
from clubcascade.kernels import linear
from clubcascade.kernels.jit import Struct, StructType, kernel, struct

BLOCK = 64
"""Items scored side by side."""
LANES = 16
"""Items per turn of a vector loop; a loop over a multiple of it has no slow rest."""


class ShelfType(StructType):
    """Type of :class:`Shelf`."""


@struct(ShelfType)
class Shelf(Struct):
    """A catalogue's features, and what is remembered of its scores, per slot of one model each.

    Per slot: ``owner`` (model), ``version`` (of the model when the slot was filled), ``base`` and
    ``width`` (per item: mean minus width times drift at that time, and width), ``last`` (length of
    the last list, then its rows). ``queue``, ``block`` and ``sums`` are scratch.
    """

    features: Floats
    owner: Ints
    version: Ints
    base: Floats
    width: Floats
    last: Ints
    queue: Ints
    block: Floats
    sums: Floats


@kernel
def make(*fields: Any) -> Shelf:
    """Bind arrays into one structure that the kernels take."""
    return Shelf(*fields)


@kernel
def insert(scores: Floats, rows: Ints, filled: int, score: float, row: int) -> int:
    """Put an item into the best list so far, ties to the lower row; return the list's size."""
    k = rows.shape[0]
    place = filled
    while place > 0 and (
        scores[place - 1] < score or (scores[place - 1] == score and rows[place - 1] > row)
    ):
        place -= 1
    if place == k:
        return filled
    end = filled if filled < k else k - 1
    for p in range(end, place, -1):
        scores[p] = scores[p - 1]
        rows[p] = rows[p - 1]
    scores[place] = score
    rows[place] = row
    return filled + 1 if filled < k else filled


@kernel
def score_block(
    weights: Floats, inverse: Floats, block: Floats, n: int, mean: Floats, square: Floats
) -> None:
    """Means and squared widths of the first ``n`` items of a block (features x ``BLOCK``).

    Works on whole vectors of ``LANES`` items and may write a few entries beyond ``n``. The order
    of each item's sums does not depend on its place in the block.
    """
    d = weights.shape[0]
    lanes = (n + LANES - 1) // LANES * LANES
    part = np.empty(BLOCK)
    mean[:lanes] = 0.0
    square[:lanes] = 0.0
    for f in range(d):
        scale = weights[f]
        row = block[f]
        for j in range(lanes):
            mean[j] += scale * row[j]
    for g in range(d):
        part[:lanes] = 0.0
        for f in range(g):
            scale = 2.0 * inverse[f, g]
            row = block[f]
            for j in range(lanes):
                part[j] += scale * row[j]
        scale = inverse[g, g]
        row = block[g]
        for j in range(lanes):
            square[j] += row[j] * (part[j] + scale * row[j])


@kernel
def gather(features: Floats, rows: Ints, n: int, block: Floats) -> None:
    """Put the features of ``n`` rows into a block, feature by feature."""
    for j in range(n):
        x = features[rows[j]]
        for f in range(x.shape[0]):
            block[f, j] = x[f]


@kernel
def rank_loose(
    weights: Floats, inverse: Floats, bonus: float, items: Floats, rows: Ints, scores: Floats
) -> None:
    """Fill ``rows`` and ``scores`` with the best items (an L x d matrix), best first."""
    n, d = items.shape
    block = np.zeros((d, BLOCK))
    mean = np.empty(BLOCK)
    square = np.empty(BLOCK)
    places = np.empty(BLOCK, np.int64)
    filled = 0
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        for j in range(size):
            places[j] = start + j
        gather(items, places, size, block)
        score_block(weights, inverse, block, size, mean, square)
        for j in range(size):
            score = mean[j] + bonus * math.sqrt(max(square[j], 0.0))
            if filled < rows.shape[0] or score > scores[filled - 1]:
                filled = insert(scores, rows, filled, score, start + j)


@kernel
def rank_means(weights: Floats, items: Floats, rows: Ints, scores: Floats) -> None:
    """Fill ``rows`` and ``scores`` with the items of the largest mean (an L x d matrix)."""
    filled = 0
    for j in range(items.shape[0]):
        score = linear.dot(weights, items[j])
        if filled < rows.shape[0] or score > scores[filled - 1]:
            filled = insert(scores, rows, filled, score, j)


@kernel
def rank_scores(all_scores: Floats, rows: Ints, scores: Floats) -> None:
    """Fill ``rows`` and ``scores`` with the largest of ``all_scores``."""
    filled = 0
    for j in range(all_scores.shape[0]):
        if filled < rows.shape[0] or all_scores[j] > scores[filled - 1]:
            filled = insert(scores, rows, filled, all_scores[j], j)


@kernel
def score_items(
    weights: Floats, inverse: Floats, items: Floats, mean: Floats, width: Floats
) -> None:
    """Mean and width of every item (an L x d matrix)."""
    n, d = items.shape
    block = np.zeros((d, BLOCK))
    means = np.empty(BLOCK)
    square = np.empty(BLOCK)
    places = np.empty(BLOCK, np.int64)
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        for j in range(size):
            places[j] = start + j
        gather(items, places, size, block)
        score_block(weights, inverse, block, size, means, square)
        for j in range(size):
            mean[start + j] = means[j]
            width[start + j] = math.sqrt(max(square[j], 0.0))


@kernel
def _look(ridge: Any, g: int, shelf: Shelf, slot: int, n: int) -> None:
    """Compute the first ``n`` of ``shelf.queue`` anew and remember the parts of their scores."""
    gather(shelf.features, shelf.queue, n, shelf.block)
    mean = shelf.sums[0]
    square = shelf.sums[1]
    score_block(ridge.weights[g], ridge.inverse[g], shelf.block, n, mean, square)
    drift = ridge.drift[g]
    for j in range(n):
        row = shelf.queue[j]
        width = math.sqrt(max(square[j], 0.0))
        shelf.width[slot, row] = width
        shelf.base[slot, row] = mean[j] - width * drift
        square[j] = width


@kernel
def _admit(
    ridge: Any,
    g: int,
    bonus: float,
    shelf: Shelf,
    slot: int,
    n: int,
    rows: Ints,
    scores: Floats,
    filled: int,
) -> int:
    """Compute ``n`` queued items anew and put them into the list; return the list's size."""
    _look(ridge, g, shelf, slot, n)
    for j in range(n):
        score = shelf.sums[0, j] + bonus * shelf.sums[1, j]
        filled = insert(scores, rows, filled, score, shelf.queue[j])
    return filled


@kernel
def _fill(ridge: Any, g: int, shelf: Shelf, slot: int) -> None:
    """Compute every item's mean and width for model ``g`` into the slot."""
    n = shelf.features.shape[0]
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        for j in range(size):
            shelf.queue[j] = start + j
        _look(ridge, g, shelf, slot, size)
    shelf.owner[slot] = g
    shelf.version[slot] = ridge.version[g]
    shelf.last[slot, 0] = 0


@kernel
def _bar(scores: Floats) -> float:
    """Return the bound that an item must reach to enter a full list, with room for rounding."""
    worst = scores[scores.shape[0] - 1]
    return worst - 1e-9 * (1.0 + abs(worst))


@kernel
def rank_shelf(ridge: Any, g: int, bonus: float, shelf: Shelf, rows: Ints, scores: Floats) -> None:
    """Fill ``rows`` and ``scores`` with the catalogue's best items for model ``g``, best first."""
    n = shelf.features.shape[0]
    k = rows.shape[0]
    slot = g % shelf.owner.shape[0]
    if shelf.owner[slot] != g or shelf.version[slot] != ridge.version[g]:
        _fill(ridge, g, shelf, slot)
    base = shelf.base[slot]
    width = shelf.width[slot]
    last = shelf.last[slot]
    queue = shelf.queue
    reach = bonus + ridge.drift[g]
    filled = 0
    if last[0] == k:
        for first in range(0, k, BLOCK):
            size = min(BLOCK, k - first)
            for p in range(size):
                queue[p] = last[1 + first + p]
            filled = _admit(ridge, g, bonus, shelf, slot, size, rows, scores, filled)
    bar = _bar(scores) if filled == k else -math.inf
    waiting = 0
    for start in range(0, n, BLOCK):
        end = min(start + BLOCK, n)
        hopeful = 0
        for j in range(start, end):
            hopeful += base[j] + width[j] * reach >= bar
        if hopeful == 0:
            continue
        for j in range(start, end):
            if base[j] + width[j] * reach >= bar and not _listed(last, k, j):
                queue[waiting] = j
                waiting += 1
                if waiting == BLOCK:
                    filled = _admit(ridge, g, bonus, shelf, slot, BLOCK, rows, scores, filled)
                    bar = _bar(scores) if filled == k else -math.inf
                    waiting = 0
    if waiting > 0:
        _admit(ridge, g, bonus, shelf, slot, waiting, rows, scores, filled)
    last[0] = k
    for p in range(k):
        last[p + 1] = rows[p]


@kernel
def _listed(last: Ints, k: int, row: int) -> bool:
    """Tell whether the row was in the last list, and so is computed already."""
    if last[0] == k:
        for p in range(1, k + 1):
            if last[p] == row:
                return True
    return False
