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
from clubcascade.kernels.jit import Struct, StructType, kernel, struct

BLOCK = 64
"""Items scored side by side."""
LANES = 16
"""Items per turn of a vector loop; a loop over a multiple of it has no slow rest."""
RUNNERS_UP = 12
"""Items beyond the list that are remembered as likely to enter it."""


class ShelfType(StructType):
    """Type of :class:`Shelf`."""


@struct(ShelfType)
class Shelf(Struct):
    """A catalogue's features, and what is remembered of its scores, per slot of one model each.

    Per slot: ``owner`` (model), ``version`` (of the model when the slot was filled), ``base`` and
    ``width`` (per item: mean minus width times drift at that time, and width), ``last`` (how
    many were the best of the last time, then their rows). The rest is scratch, with room for two
    blocks of items.
    """

    features: Floats
    owner: Ints
    version: Ints
    base: Floats
    width: Floats
    last: Ints
    best: Ints
    best_scores: Floats
    saved: Floats
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
def mean_block(weights: Floats, block: Floats, n: int, mean: Floats) -> None:
    """Means of the first ``n`` items of a block (features x items).

    Works on whole vectors of ``LANES`` items and may write a few entries beyond ``n``. The order
    of each item's sum does not depend on its place in the block.
    """
    d = weights.shape[0]
    lanes = (n + LANES - 1) // LANES * LANES
    whole = d // 4 * 4
    for j in range(lanes):
        mean[j] = 0.0
    for f in range(0, whole, 4):
        w0, w1, w2, w3 = weights[f], weights[f + 1], weights[f + 2], weights[f + 3]
        for j in range(lanes):
            first = (mean[j] + w0 * block[f, j]) + w1 * block[f + 1, j]
            mean[j] = (first + w2 * block[f + 2, j]) + w3 * block[f + 3, j]
    for f in range(whole, d):
        for j in range(lanes):
            mean[j] += weights[f] * block[f, j]


@kernel
def square_block(inverse: Floats, block: Floats, n: int, part: Floats, square: Floats) -> None:
    """Squared widths, likewise; each pair of features is met once, so half the work."""
    lanes = (n + LANES - 1) // LANES * LANES
    for j in range(lanes):
        square[j] = 0.0
    for g in range(inverse.shape[0]):
        whole = g // 4 * 4
        for j in range(lanes):
            part[j] = 0.0
        for f in range(0, whole, 4):
            w0, w1, w2, w3 = inverse[g, f], inverse[g, f + 1], inverse[g, f + 2], inverse[g, f + 3]
            for j in range(lanes):
                first = (part[j] + w0 * block[f, j]) + w1 * block[f + 1, j]
                part[j] = (first + w2 * block[f + 2, j]) + w3 * block[f + 3, j]
        for f in range(whole, g):
            w0 = inverse[g, f]
            for j in range(lanes):
                part[j] += w0 * block[f, j]
        w0 = inverse[g, g]
        for j in range(lanes):
            square[j] += block[g, j] * (2.0 * part[j] + w0 * block[g, j])


@kernel
def gather(features: Floats, rows: Ints, n: int, block: Floats) -> None:
    """Put the features of ``n`` rows into a block, feature by feature."""
    for j in range(n):
        x = features[rows[j]]
        for f in range(x.shape[0]):
            block[f, j] = x[f]


@kernel
def rank_loose(
    weights: Floats,
    inverse: Floats,
    bonus: float,
    features: Floats,
    offered: Ints,
    rows: Ints,
    scores: Floats,
) -> None:
    """Fill ``rows`` with the best places among the ``offered`` rows of ``features``."""
    block = np.zeros((features.shape[1], BLOCK))
    mean, square, part = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    n = offered.shape[0]
    filled = 0
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        gather(features, offered[start : start + size], size, block)
        mean_block(weights, block, size, mean)
        square_block(inverse, block, size, part, square)
        for j in range(size):
            score = mean[j] + bonus * math.sqrt(max(square[j], 0.0))
            if filled < rows.shape[0] or score > scores[filled - 1]:
                filled = insert(scores, rows, filled, score, start + j)


@kernel
def rank_means(
    weights: Floats, features: Floats, offered: Ints, rows: Ints, scores: Floats
) -> None:
    """Do the same by the mean alone."""
    block = np.zeros((features.shape[1], BLOCK))
    mean = np.empty(BLOCK)
    n = offered.shape[0]
    filled = 0
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        gather(features, offered[start : start + size], size, block)
        mean_block(weights, block, size, mean)
        for j in range(size):
            if filled < rows.shape[0] or mean[j] > scores[filled - 1]:
                filled = insert(scores, rows, filled, mean[j], start + j)


@kernel
def rank_scores(all_scores: Floats, rows: Ints, scores: Floats) -> None:
    """Fill ``rows`` and ``scores`` with the largest of ``all_scores``."""
    filled = 0
    for j in range(all_scores.shape[0]):
        if filled < rows.shape[0] or all_scores[j] > scores[filled - 1]:
            filled = insert(scores, rows, filled, all_scores[j], j)


@kernel
def score_items(
    weights: Floats, inverse: Floats, features: Floats, offered: Ints, mean: Floats, width: Floats
) -> None:
    """Mean and width of every offered row of ``features``."""
    block = np.zeros((features.shape[1], BLOCK))
    means, square, part = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    n = offered.shape[0]
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        gather(features, offered[start : start + size], size, block)
        mean_block(weights, block, size, means)
        square_block(inverse, block, size, part, square)
        for j in range(size):
            mean[start + j] = means[j]
            width[start + j] = math.sqrt(max(square[j], 0.0))


@kernel
def _look(ridge: Any, g: int, shelf: Shelf, slot: int, n: int) -> None:
    """Compute the first ``n`` of ``shelf.queue`` anew: means to ``sums[0]``, widths to ``[1]``."""
    mean, width = shelf.sums[0], shelf.sums[1]
    gather(shelf.features, shelf.queue, n, shelf.block)
    mean_block(ridge.weights[g], shelf.block, n, mean)
    square_block(ridge.inverse[g], shelf.block, n, shelf.sums[2], width)
    drift = ridge.drift[g]
    for j in range(n):
        row = shelf.queue[j]
        width[j] = math.sqrt(max(width[j], 0.0))
        shelf.width[slot, row] = width[j]
        shelf.base[slot, row] = mean[j] - width[j] * drift


@kernel
def _drop_hopeless(
    ridge: Any, g: int, bonus: float, shelf: Shelf, slot: int, n: int, bar: float
) -> int:
    """Compute the means of the queue anew and keep those that may still reach the bar."""
    mean = shelf.sums[0]
    gather(shelf.features, shelf.queue, n, shelf.block)
    mean_block(ridge.weights[g], shelf.block, n, mean)
    drift = ridge.drift[g]
    kept = 0
    for j in range(n):
        row = shelf.queue[j]
        if shelf.base[slot, row] == math.inf:  # an item that is new in the catalogue
            shelf.queue[kept] = row
            kept += 1
            continue
        width = shelf.width[slot, row]
        shelf.base[slot, row] = mean[j] - width * drift
        if mean[j] + bonus * width >= bar:
            shelf.queue[kept] = row
            kept += 1
    return kept


@kernel
def _admit(
    ridge: Any,
    g: int,
    bonus: float,
    shelf: Shelf,
    slot: int,
    n: int,
    best: Ints,
    scores: Floats,
    filled: int,
) -> int:
    """Compute ``n`` queued items anew and put them into the best list; return its size."""
    _look(ridge, g, shelf, slot, n)
    for j in range(n):
        score = shelf.sums[0, j] + bonus * shelf.sums[1, j]
        if filled < best.shape[0] or score >= scores[filled - 1]:
            filled = insert(scores, best, filled, score, shelf.queue[j])
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
def _bar(scores: Floats, filled: int, k: int) -> float:
    """Return the bound that an item must reach to enter the list, with room for rounding."""
    if filled < k:
        return -math.inf
    worst = scores[k - 1]
    return worst - 1e-9 * (1.0 + abs(worst))


@kernel
def rank_shelf(ridge: Any, g: int, bonus: float, shelf: Shelf, rows: Ints, scores: Floats) -> None:
    """Fill ``rows`` and ``scores`` with the catalogue's best items for model ``g``, best first.

    The best of the last time (a few more than the list) are computed first: their scores set a
    high bar. Then come the items whose bound reaches it, first their means, then their widths.
    """
    n = shelf.features.shape[0]
    k = rows.shape[0]
    slot = g % shelf.owner.shape[0]
    if shelf.owner[slot] != g or shelf.version[slot] != ridge.version[g]:
        _fill(ridge, g, shelf, slot)
    base = shelf.base[slot]
    width = shelf.width[slot]
    last = shelf.last[slot]
    queue = shelf.queue
    best = shelf.best[: k + RUNNERS_UP]
    best_scores = shelf.best_scores[: k + RUNNERS_UP]
    reach = bonus + ridge.drift[g]
    filled = 0
    for first in range(0, last[0], BLOCK):
        size = min(BLOCK, last[0] - first)
        for p in range(size):
            queue[p] = last[1 + first + p]
        filled = _admit(ridge, g, bonus, shelf, slot, size, best, best_scores, filled)
    bar = _bar(best_scores, filled, k)
    known = last[0]
    for p in range(known):  # these are in the list already: no number lets them in again
        shelf.saved[p] = base[last[p + 1]]
        base[last[p + 1]] = math.nan
    waiting = 0
    for start in range(0, n, BLOCK):
        end = min(start + BLOCK, n)
        hopeful = 0
        for j in range(start, end):
            hopeful += base[j] + width[j] * reach >= bar
        if hopeful > 0:
            for j in range(start, end):
                queue[waiting] = j
                waiting += base[j] + width[j] * reach >= bar
        if waiting > BLOCK or (end == n and waiting > 0):
            if filled >= k:
                waiting = _drop_hopeless(ridge, g, bonus, shelf, slot, waiting, bar)
            if waiting > 0:
                filled = _admit(ridge, g, bonus, shelf, slot, waiting, best, best_scores, filled)
                bar = _bar(best_scores, filled, k)
            waiting = 0
    for p in range(known):
        base[last[p + 1]] = shelf.saved[p]
    last[0] = filled
    for p in range(filled):
        last[p + 1] = best[p]
    for p in range(k):
        rows[p] = best[p]
        scores[p] = best_scores[p]
