"""An Erdős-Rényi graph G(n, p), user by user: which earlier users are neighbours of user i.

The answer is a pure function of (key, i), so users known beforehand and users who join one by one
get the same graph. Geometric skips make the cost that of the edges, not of the pairs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clubcascade.kernels import counter_rng
from clubcascade.kernels.jit import kernel


@kernel
def next_neighbour(key: Any, i: int, draw: int, at: int, log_miss: float) -> int:
    """Return the next neighbour after ``at`` (start at -1); at least ``i`` when there is none."""
    skip = math.log(1.0 - counter_rng.uniform(key, i, draw)) / log_miss
    if skip >= i - at:
        return i
    return at + 1 + int(skip)


@kernel
def neighbours_of(key: Any, i: int, p: float) -> Any:
    """Return the neighbours of user ``i`` below ``i``, in increasing order."""
    if p >= 1.0:
        return np.arange(i)
    if p <= 0.0:
        return np.arange(0)
    log_miss = math.log1p(-p)
    found = np.empty(16, np.int64)
    n = 0
    at = next_neighbour(key, i, 0, -1, log_miss)
    while at < i:
        if n == found.shape[0]:
            more = np.empty(2 * n, np.int64)
            more[:n] = found
            found = more
        found[n] = at
        n += 1
        at = next_neighbour(key, i, n, at, log_miss)
    return found[:n].copy()


@kernel
def count_edges(key: Any, n: int, p: float, degree: Any) -> int:
    """Add up the degrees of the graph of ``n`` users; return the number of list entries."""
    total = 0
    for i in range(n):
        for other in neighbours_of(key, i, p):
            degree[i] += 1
            degree[other] += 1
            total += 2
    return total


@kernel
def fill_neighbours(key: Any, n: int, p: float, begin: Any, degree: Any, others: Any) -> None:
    """Write the lists of neighbours; ``degree`` starts at zero and ends where it was."""
    for i in range(n):
        for other in neighbours_of(key, i, p):
            others[begin[i] + degree[i]] = other
            degree[i] += 1
            others[begin[other] + degree[other]] = i
            degree[other] += 1
