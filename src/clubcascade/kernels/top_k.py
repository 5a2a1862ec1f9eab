"""The best few of many scores, best first.

To keep a list in order while scores go by is slow: nobody can guess when the next one is better.
So first a *bar* is found that enough scores reach for certain, and hardly any more. Those that
reach it are set aside without a question asked, and only they are put in order.
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
"""Longest list for which there is a bar: groups must be a few more."""
BISECTIONS = 10
"""Attempts to raise the bar."""
PART = 32
"""Scores that are passed over together if none of them reaches it."""
MAX_COLLECTED = 256
"""Scores that can be set aside."""


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
    for j in range(4, GROUPS, 4):  # four at a time: one alone waits for itself
        a, b, c, d = max(a, tops[j]), max(b, tops[j + 1]), max(c, tops[j + 2]), max(d, tops[j + 3])
        e, f, g, h = min(e, tops[j]), min(f, tops[j + 1]), min(g, tops[j + 2]), min(h, tops[j + 3])
    high, low = max(max(a, b), max(c, d)), min(min(e, f), min(g, h))
    for _ in range(BISECTIONS):
        bar = np.float32(0.5) * (low + high)
        reached = 0
        for j in range(GROUPS):
            reached += tops[j] >= bar
        if reached == k:
            return bar
        if reached > k:
            low = bar
        else:
            high = bar
    return low


@kernel
def _collect(parts: Any, n: int, bar: Any, kept: Ints) -> int:
    """Fill ``kept`` with the rows of scores that reach the bar; return how many, 0 if too many."""
    count = 0
    for part in range((n + PART - 1) // PART):
        start = part * PART
        size, reached = min(PART, n - start), 0
        for j in range(size):
            reached += parts[part, j] >= bar
        if reached == 0:
            continue
        if count > MAX_COLLECTED - PART:
            return 0
        for j in range(size):
            kept[count] = start + j
            count += parts[part, j] >= bar
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
        bar = _threshold(grouped, n // GROUPS, tops, k)
        count = _collect(parts, n, bar, kept)
    all_of_them = count < k  # a long list, or scores that are all alike
    for e in range(n if all_of_them else count):
        row = e if all_of_them else kept[e]
        score = parts[row // PART, row % PART]
        if full < k or score > scores[k - 1]:
            full = ranking.insert(scores, rows, full, score, row)
