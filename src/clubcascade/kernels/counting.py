"""Policies without features (UCB1, KL-UCB, popularity): observations and clicks per item."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clubcascade.core import Ints
from clubcascade.kernels import ranking
from clubcascade.kernels.jit import Struct, implements, kernel, struct
from clubcascade.kernels.protocol import count_clusters, expect_click, learn, rank_catalog

UCB1, KL_UCB, POPULARITY = 0, 1, 2


@struct
class Counting(Struct):
    """Per item ``seen`` and ``clicked``; ``index_kind`` is ``UCB1``, ``KL_UCB`` or ``POPULARITY``.

    ``prior_count``: observations at the click rate of all items that each item has beforehand
    (``POPULARITY``).
    """

    seen: Ints
    clicked: Ints
    rounds: int
    index_kind: int
    prior_count: float


@kernel
def divergence(p: float, q: float) -> float:
    """Kullback-Leibler divergence of Bernoulli(p) from Bernoulli(q)."""
    total = 0.0
    if p > 0.0:
        if q <= 0.0:
            return math.inf
        total += p * math.log(p / q)
    if p < 1.0:
        if q >= 1.0:
            return math.inf
        total += (1.0 - p) * math.log((1.0 - p) / (1.0 - q))
    return total


@kernel
def kl_index(mean: float, seen: int, level: float) -> float:
    """Largest q with ``seen KL(mean, q) <= level``.

    The divergence is convex in q, so Newton steps from above converge without passing the root.
    """
    if level <= 0.0:
        return mean
    if mean >= 1.0:
        return 1.0
    q = min(mean + math.sqrt(level / (2.0 * seen)), 1.0 - 1e-16)
    for _ in range(100):
        step = (divergence(mean, q) - level / seen) * q * (1.0 - q) / (q - mean)
        if not step > 1e-15:
            break
        q -= step
    return max(q, mean)


@kernel
def kl_level(state: Counting) -> float:
    """``ln t + 3 ln ln t``, the second term from where it is positive."""
    log_t = math.log(state.rounds + 1.0)
    return log_t + 3.0 * math.log(max(log_t, 1.0))


@kernel
def level_now(state: Counting) -> float:
    """Return the exploration level of this round: 1.5 ln t (UCB1), or that of KL-UCB.

    For ``POPULARITY`` it is the click rate of all items.
    """
    if state.index_kind == UCB1:
        return 1.5 * math.log(state.rounds + 1.0)
    if state.index_kind == POPULARITY:
        return state.clicked.sum() / max(state.seen.sum(), 1)
    return kl_level(state)


@kernel
def index_at(state: Counting, slot: int, level: float) -> float:
    """Upper confidence bound of one item at a level; infinite before it was examined.

    ``POPULARITY``: the item's click rate, smoothed by the one of all items.
    """
    seen = state.seen[slot] if slot >= 0 else 0
    if state.index_kind == POPULARITY:
        clicked = state.clicked[slot] if slot >= 0 else 0
        return (clicked + state.prior_count * level) / (seen + state.prior_count)
    if seen == 0:
        return math.inf
    mean = state.clicked[slot] / seen
    if state.index_kind == UCB1:
        return mean + math.sqrt(level / seen)
    return kl_index(mean, seen, level)


@kernel
def index(state: Counting, slot: int) -> float:
    """Upper confidence bound of one item; infinite before it was examined."""
    return index_at(state, slot, level_now(state))


@kernel
def surely_below(state: Counting, slot: int, level: float, score: float) -> bool:
    """Tell whether an item's bound is below a score, without solving for the bound.

    First Pinsker's inequality; then one divergence: the bound is below q if ``seen KL(mean, q)``
    is above the level. 1e-9 allows for rounding.
    """
    seen = state.seen[slot] if slot >= 0 else 0
    if seen == 0 or state.index_kind == POPULARITY:
        return False
    mean = state.clicked[slot] / seen
    if state.index_kind == UCB1:
        return mean + math.sqrt(level / seen) + 1e-9 < score
    if mean + math.sqrt(level / (2.0 * seen)) + 1e-9 < score:
        return True
    q = score - 1e-9
    return mean < q < 1.0 and seen * divergence(mean, q) > level + 1e-9


@implements(rank_catalog, Counting)
def _rank_catalog(state: Any, node: Any, catalog: Any, rows: Any, scores: Any) -> None:
    level = level_now(state)
    filled = 0
    for j in range(catalog.shape[0]):
        full = filled == rows.shape[0]
        if full and surely_below(state, catalog[j], level, scores[filled - 1]):
            continue
        score = index_at(state, catalog[j], level)
        if not full or score > scores[filled - 1]:
            filled = ranking.insert(scores, rows, filled, score, j)


@implements(expect_click, Counting)
def _expect_click(state: Any, node: Any, features: Any, row: Any) -> Any:
    item = features[row]
    return state.clicked[item] / max(state.seen[item], 1)


@implements(learn, Counting)
def _learn(state: Any, node: Any, features: Any, rows: Any, examined: Any, rewards: Any) -> None:
    for p in range(examined):
        slot = features[rows[p]]
        state.seen[slot] += 1
        state.clicked[slot] += np.int64(rewards[p])
    state.rounds += 1


@implements(count_clusters, Counting)
def _count_clusters(state: Any) -> Any:
    return 1
