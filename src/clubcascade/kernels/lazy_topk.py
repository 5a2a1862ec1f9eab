"""Top-k of a catalogue by upper confidence bound, lazily: most items need not be scored.

*Lazy bounds.* Let an item's mean ``m`` and width ``w`` have been computed when its model's drift
was ``D0``. Later, at drift ``D``, its mean is at most ``m + w (D - D0)`` (Cauchy-Schwarz in the
norm of the model's matrix) and its width at most ``w`` (the matrix only grows). So
``m + w (beta + D - D0)`` bounds its score, and only items whose bound reaches the k-th best known
score are computed anew: a handful of a thousand. The list is exactly the one of full scoring.
"""

from __future__ import annotations

import math
from typing import Any

from clubcascade.core import Floats, Ints
from clubcascade.kernels.jit import Struct, kernel, struct
from clubcascade.kernels.ranking import BLOCK, gather, insert, mean_block, square_block

RUNNERS_UP = 12
"""Items beyond the list that are remembered as likely to enter it."""


@struct
class LazyIndex(Struct):
    """A catalogue's features, and cached means and widths, one slot per model.

    Per slot: ``owner`` (model), ``version`` (of the model when the slot was filled), ``base`` and
    ``width`` (per item: mean minus width times drift at that time, and width), ``last`` (how
    many were best at the last ranking, then their rows). The rest is scratch, with room for two
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
    mean_work: Floats
    width_work: Floats
    product_work: Floats


@kernel
def _score_queue(ridge: Any, g: int, index: LazyIndex, slot: int, n: int) -> None:
    """Compute the first ``n`` of ``index.queue`` anew: means and widths to work arrays."""
    mean, width = index.mean_work, index.width_work
    gather(index.features, index.queue, n, index.block)
    mean_block(ridge.weights[g], index.block, n, mean)
    square_block(ridge.inverse[g], index.block, n, index.product_work, width)
    drift = ridge.drift[g]
    for j in range(n):
        row = index.queue[j]
        width[j] = math.sqrt(max(width[j], 0.0))
        index.width[slot, row] = width[j]
        index.base[slot, row] = mean[j] - width[j] * drift


@kernel
def _prune_queue(
    ridge: Any, g: int, bonus: float, index: LazyIndex, slot: int, n: int, threshold: float
) -> int:
    """Compute the means of the queue anew and keep items that may still reach the threshold."""
    mean = index.mean_work
    gather(index.features, index.queue, n, index.block)
    mean_block(ridge.weights[g], index.block, n, mean)
    drift = ridge.drift[g]
    kept = 0
    for j in range(n):
        row = index.queue[j]
        if index.base[slot, row] == math.inf:  # an item that is new in the catalogue
            index.queue[kept] = row
            kept += 1
            continue
        width = index.width[slot, row]
        index.base[slot, row] = mean[j] - width * drift
        if mean[j] + bonus * width >= threshold:
            index.queue[kept] = row
            kept += 1
    return kept


@kernel
def _insert_queue(
    ridge: Any,
    g: int,
    bonus: float,
    index: LazyIndex,
    slot: int,
    n: int,
    best: Ints,
    scores: Floats,
    filled: int,
) -> int:
    """Compute ``n`` queued items anew and put them into the best list; return its size."""
    _score_queue(ridge, g, index, slot, n)
    for j in range(n):
        score = index.mean_work[j] + bonus * index.width_work[j]
        if filled < best.shape[0] or score >= scores[filled - 1]:
            filled = insert(scores, best, filled, score, index.queue[j])
    return filled


@kernel
def _fill(ridge: Any, g: int, index: LazyIndex, slot: int) -> None:
    """Compute every item's mean and width for model ``g`` into the slot."""
    n = index.features.shape[0]
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        for j in range(size):
            index.queue[j] = start + j
        _score_queue(ridge, g, index, slot, size)
    index.owner[slot] = g
    index.version[slot] = ridge.version[g]
    index.last[slot, 0] = 0


@kernel
def _threshold(scores: Floats, filled: int, k: int) -> float:
    """Return the score that an item must reach to enter the list, less a tolerance for rounding."""
    if filled < k:
        return -math.inf
    worst = scores[k - 1]
    return worst - 1e-9 * (1.0 + abs(worst))


@kernel
def rank_lazily(
    ridge: Any, g: int, bonus: float, index: LazyIndex, rows: Ints, scores: Floats
) -> None:
    """Fill ``rows`` and ``scores`` with the catalogue's best items for model ``g``, best first.

    The best of the last ranking (a few more than the list) are computed first: their scores set a
    high threshold. Then items whose bound reaches it, first their means, then their widths.
    """
    n = index.features.shape[0]
    k = rows.shape[0]
    slot = g % index.owner.shape[0]
    if index.owner[slot] != g or index.version[slot] != ridge.version[g]:
        _fill(ridge, g, index, slot)
    base = index.base[slot]
    width = index.width[slot]
    last = index.last[slot]
    queue = index.queue
    best = index.best[: k + RUNNERS_UP]
    best_scores = index.best_scores[: k + RUNNERS_UP]
    reach = bonus + ridge.drift[g]
    filled = 0
    for first in range(0, last[0], BLOCK):
        size = min(BLOCK, last[0] - first)
        for p in range(size):
            queue[p] = last[1 + first + p]
        filled = _insert_queue(ridge, g, bonus, index, slot, size, best, best_scores, filled)
    threshold = _threshold(best_scores, filled, k)
    known = last[0]
    for p in range(known):  # in the list already: a bound of -inf keeps them out of the queue
        index.saved[p] = base[last[p + 1]]
        base[last[p + 1]] = math.nan
    waiting = 0
    for start in range(0, n, BLOCK):
        end = min(start + BLOCK, n)
        hopeful = 0
        for j in range(start, end):
            hopeful += base[j] + width[j] * reach >= threshold
        if hopeful > 0:
            for j in range(start, end):
                queue[waiting] = j
                waiting += base[j] + width[j] * reach >= threshold
        if waiting > BLOCK or (end == n and waiting > 0):
            if filled >= k:
                waiting = _prune_queue(ridge, g, bonus, index, slot, waiting, threshold)
            if waiting > 0:
                filled = _insert_queue(
                    ridge, g, bonus, index, slot, waiting, best, best_scores, filled
                )
                threshold = _threshold(best_scores, filled, k)
            waiting = 0
    for p in range(known):
        base[last[p + 1]] = index.saved[p]
    last[0] = filled
    for p in range(filled):
        last[p + 1] = best[p]
    for p in range(k):
        rows[p] = best[p]
        scores[p] = best_scores[p]
