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


class ShelfType(StructType):
    """Type of :class:`Shelf`."""


@struct(ShelfType)
class Shelf(Struct):
    """A catalogue's features, and what is remembered of its scores, per slot of one model each.

    Per slot: ``owner`` (model), ``version`` (of the model when the slot was filled), ``base`` and
    ``width`` (per item: mean minus width times drift at that time, and width), ``last`` (length of
    the last list, then its rows).
    """

    features: Floats
    by_feature: Floats
    owner: Ints
    version: Ints
    base: Floats
    width: Floats
    last: Ints
    work: Floats


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
    weights: Floats, inverse: Floats, by_feature: Floats, n: int, mean: Floats, square: Floats
) -> None:
    """Means and squared widths of ``n`` items given feature by feature (d x at least n)."""
    d = weights.shape[0]
    part = np.empty(BLOCK)
    mean[:n] = 0.0
    square[:n] = 0.0
    for f in range(d):
        scale = weights[f]
        for j in range(n):
            mean[j] += scale * by_feature[f, j]
    for g in range(d):
        part[:n] = 0.0
        for f in range(d):
            scale = inverse[f, g]
            for j in range(n):
                part[j] += by_feature[f, j] * scale
        for j in range(n):
            square[j] += by_feature[g, j] * part[j]


@kernel
def rank_loose(
    weights: Floats, inverse: Floats, bonus: float, items: Floats, rows: Ints, scores: Floats
) -> None:
    """Fill ``rows`` and ``scores`` with the best items (an L x d matrix), best first."""
    n, d = items.shape
    block = np.empty((d, BLOCK))
    mean = np.empty(BLOCK)
    square = np.empty(BLOCK)
    filled = 0
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        for j in range(size):
            for f in range(d):
                block[f, j] = items[start + j, f]
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
    block = np.empty((d, BLOCK))
    square = np.empty(BLOCK)
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        for j in range(size):
            for f in range(d):
                block[f, j] = items[start + j, f]
        score_block(weights, inverse, block, size, mean[start : start + size], square)
        for j in range(size):
            width[start + j] = math.sqrt(max(square[j], 0.0))


@kernel
def _fill(ridge: Any, g: int, shelf: Shelf, slot: int) -> None:
    """Compute every item's mean and width for model ``g`` into the slot."""
    d, n = shelf.by_feature.shape
    drift = ridge.drift[g]
    block = np.empty((d, BLOCK))
    mean = np.empty(BLOCK)
    square = np.empty(BLOCK)
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        for f in range(d):
            for j in range(size):
                block[f, j] = shelf.by_feature[f, start + j]
        score_block(ridge.weights[g], ridge.inverse[g], block, size, mean, square)
        for j in range(size):
            width = math.sqrt(max(square[j], 0.0))
            shelf.width[slot, start + j] = width
            shelf.base[slot, start + j] = mean[j] - width * drift
    shelf.owner[slot] = g
    shelf.version[slot] = ridge.version[g]
    shelf.last[slot, 0] = 0


@kernel
def _look(ridge: Any, g: int, bonus: float, shelf: Shelf, slot: int, row: int) -> float:
    """Compute one item's score anew and remember its parts."""
    x = shelf.features[row]
    part = shelf.work
    linear.times(ridge.inverse[g], x, part)
    mean = linear.dot(ridge.weights[g], x)
    width = math.sqrt(max(linear.dot(x, part), 0.0))
    shelf.width[slot, row] = width
    shelf.base[slot, row] = mean - width * ridge.drift[g]
    return mean + bonus * width


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
    reach = bonus + ridge.drift[g]
    filled = 0
    if last[0] == k:
        for p in range(k):
            row = last[p + 1]
            filled = insert(scores, rows, filled, _look(ridge, g, bonus, shelf, slot, row), row)
    for start in range(0, n, BLOCK):
        end = min(start + BLOCK, n)
        bar = -math.inf
        if filled == k:
            bar = scores[k - 1] - 1e-9 * (1.0 + abs(scores[k - 1]))
            hopeful = 0
            for j in range(start, end):
                hopeful += base[j] + width[j] * reach >= bar
            if hopeful == 0:
                continue
        for j in range(start, end):
            if filled == k:
                bar = scores[k - 1] - 1e-9 * (1.0 + abs(scores[k - 1]))
            if base[j] + width[j] * reach >= bar:
                known = False
                for p in range(filled):
                    known = known or rows[p] == j
                if not known:
                    score = _look(ridge, g, bonus, shelf, slot, j)
                    filled = insert(scores, rows, filled, score, j)
    last[0] = k
    for p in range(k):
        last[p + 1] = rows[p]
