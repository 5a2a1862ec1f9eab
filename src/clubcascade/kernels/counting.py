"""Policies without features: how often was an item looked at, how often clicked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clubcascade.core import Ints
from clubcascade.kernels import ranking
from clubcascade.kernels.jit import Struct, StructType, answer, kernel, struct
from clubcascade.kernels.stubs import count_clusters, learn, rank_catalog

UCB1, KL_UCB = 0, 1


class CountingType(StructType):
    """Type of :class:`Counting`."""


@struct(CountingType)
class Counting(Struct):
    """Per item ``seen`` and ``clicked``; ``tally`` = [rounds, kind of index]."""

    seen: Ints
    clicked: Ints
    tally: Ints


@kernel
def make(*fields: Any) -> Counting:
    """Bind arrays into one structure that the kernels take."""
    return Counting(*fields)


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

    The divergence is convex in q, so Newton's steps from above come down to the root without
    passing it.
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
    log_t = math.log(state.tally[0] + 1.0)
    return log_t + 3.0 * math.log(max(log_t, 1.0))


@kernel
def index(state: Counting, slot: int) -> float:
    """Upper confidence bound of one item; infinite before it was looked at."""
    seen = state.seen[slot] if slot >= 0 else 0
    if seen == 0:
        return math.inf
    mean = state.clicked[slot] / seen
    if state.tally[1] == UCB1:
        return mean + math.sqrt(1.5 * math.log(state.tally[0] + 1.0) / seen)
    return kl_index(mean, seen, kl_level(state))


@kernel
def ceiling(state: Counting, slot: int) -> float:
    """Bound the index without a search: Pinsker's inequality."""
    seen = state.seen[slot] if slot >= 0 else 0
    if seen == 0 or state.tally[1] == UCB1:
        return index(state, slot)
    mean = state.clicked[slot] / seen
    return mean + math.sqrt(kl_level(state) / (2.0 * seen)) + 1e-9


@answer(rank_catalog, CountingType)
def _rank_catalog(state: Any, node: Any, shelf: Any, rows: Any, scores: Any) -> None:
    filled = 0
    for j in range(shelf.shape[0]):
        if filled < rows.shape[0] or ceiling(state, shelf[j]) > scores[filled - 1]:
            score = index(state, shelf[j])
            if filled < rows.shape[0] or score > scores[filled - 1]:
                filled = ranking.insert(scores, rows, filled, score, j)


@answer(learn, CountingType)
def _learn(state: Any, node: Any, features: Any, rows: Any, examined: Any, rewards: Any) -> None:
    for p in range(examined):
        slot = features[rows[p]]
        state.seen[slot] += 1
        state.clicked[slot] += np.int64(rewards[p])
    state.tally[0] += 1


@answer(count_clusters, CountingType)
def _count_clusters(state: Any) -> Any:
    return 1
