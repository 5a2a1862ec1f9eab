"""Selection of the k largest of many scores, best first.

A sorted list that is kept while scores go by mispredicts branches. So first a *threshold* is found
that at least k scores reach, and few more. Those that reach it are collected without branches, and
only they are sorted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clubcascade.core import Floats, Ints
from clubcascade.kernels import ranking
from clubcascade.kernels.jit import kernel

GROUPS = 64
"""Groups of scores: the first one is in the first group, the 65th too, and so on."""
LONGEST_LIST = 48
"""Longest list with a threshold: groups must be a few more."""
BISECTIONS = 10
"""Bisection steps that raise the threshold."""
PART = 32
"""Scores that are skipped together if none of them reaches it."""
MAX_COLLECTED = 256
"""Scores that can be collected."""


@kernel
def _threshold(grouped: Any, whole: int, tops: Any, k: int) -> Any:
    """Return a score that the best of at least ``k`` groups reach, of the first ``whole`` rows."""
    for j in range(GROUPS):
        tops[j] = grouped[0, j]
    for r in range(1, whole):
        for j in range(GROUPS):
            tops[j] = max(tops[j], grouped[r, j])
    a, b, c, d = tops[0], tops[1], tops[2], tops[3]
    e, f, g, h = a, b, c, d
    for j in range(4, GROUPS, 4):  # four partial maxima, for instruction-level parallelism
        a, b, c, d = max(a, tops[j]), max(b, tops[j + 1]), max(c, tops[j + 2]), max(d, tops[j + 3])
        e, f, g, h = min(e, tops[j]), min(f, tops[j + 1]), min(g, tops[j + 2]), min(h, tops[j + 3])
    high, low = max(max(a, b), max(c, d)), min(min(e, f), min(g, h))
    for _ in range(BISECTIONS):
        threshold = np.float32(0.5) * (low + high)
        reached = 0
        for j in range(GROUPS):
            reached += tops[j] >= threshold
        if reached == k:
            return threshold
        if reached > k:
            low = threshold
        else:
            high = threshold
    return low


@kernel
def _collect(parts: Any, n: int, threshold: Any, kept: Ints) -> int:
    """Write the rows of scores above the threshold to ``kept``; return how many, 0 if too many."""
    count = 0
    for part in range((n + PART - 1) // PART):
        start = part * PART
        size, reached = min(PART, n - start), 0
        for j in range(size):
            reached += parts[part, j] >= threshold
        if reached == 0:
            continue
        if count > MAX_COLLECTED - PART:
            return 0
        for j in range(size):
            kept[count] = start + j
            count += parts[part, j] >= threshold
    return count


@kernel
def select(
    parts: Any, grouped: Any, tops: Any, kept: Ints, n: int, rows: Ints, scores: Floats
) -> None:
    """Fill ``rows`` and ``scores`` with the best of ``n`` scores, ties to the lower row.

    ``parts`` and ``grouped`` are the same scores in rows of ``PART`` and of ``GROUPS``; ``tops``
    and ``kept`` are scratch.
    """
    k, full, count = rows.shape[0], 0, 0
    if k <= LONGEST_LIST and n >= 2 * GROUPS:
        threshold = _threshold(grouped, n // GROUPS, tops, k)
        count = _collect(parts, n, threshold, kept)
    take_all = count < k  # a long list, or scores that are all alike
    for e in range(n if take_all else count):
        row = e if take_all else kept[e]
        score = parts[row // PART, row % PART]
        if full < k or score > scores[k - 1]:
            full = ranking.insert(scores, rows, full, score, row)
