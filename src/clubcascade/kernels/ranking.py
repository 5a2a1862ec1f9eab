"""Top-k of items scored in full, by upper confidence bound or mean."""

from __future__ import annotations

import math

import numpy as np

from clubcascade.core import Floats, Ints
from clubcascade.kernels.jit import kernel

BLOCK = 64
"""Items scored side by side."""
LANES = 16
"""Items per turn of a vector loop; a loop over a multiple of it has no remainder."""


@kernel
def insert(scores: Floats, rows: Ints, filled: int, score: float, row: int) -> int:
    """Put an item into the best list so far, ties to the lower row; return the list's size."""
    k = rows.shape[0]
    place = min(filled, k - 1)
    if filled == k and not (
        scores[place] < score or (scores[place] == score and rows[place] > row)
    ):
        return filled
    while place > 0 and (
        scores[place - 1] < score or (scores[place - 1] == score and rows[place - 1] > row)
    ):
        scores[place] = scores[place - 1]
        rows[place] = rows[place - 1]
        place -= 1
    scores[place] = score
    rows[place] = row
    return min(filled + 1, k)


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
    """Squared widths ``x' M^-1 x``, likewise; by symmetry each pair of features once."""
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
def rank_fully(
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
