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
    mean_work: Floats
    width_work: Floats
    product_work: Floats


@kernel
def _look(ridge: Any, g: int, shelf: Shelf, slot: int, n: int) -> None:
    """Compute the first ``n`` of ``shelf.queue`` anew: means and widths to work arrays."""
    mean, width = shelf.mean_work, shelf.width_work
    gather(shelf.features, shelf.queue, n, shelf.block)
    mean_block(ridge.weights[g], shelf.block, n, mean)
    square_block(ridge.inverse[g], shelf.block, n, shelf.product_work, width)
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
    mean = shelf.mean_work
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
        score = shelf.mean_work[j] + bonus * shelf.width_work[j]
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
