"""Entry points of the library: single calls through the protocol that the loop uses too."""

from __future__ import annotations

from typing import Any

import numpy as np

from clubcascade.core import Floats, Ints
from clubcascade.kernels import linear, protocol
from clubcascade.kernels.jit import kernel


@kernel
def rank_catalog(state: Any, node: int, catalog: Any, rows: Ints, scores: Floats) -> None:
    """Rank a catalogue."""
    protocol.rank_catalog(state, node, catalog, rows, scores)


@kernel
def rank_items(state: Any, node: int, items: Floats, rows: Ints, scores: Floats) -> None:
    """Rank a matrix of items."""
    protocol.rank_items(state, node, items, np.arange(items.shape[0]), rows, scores)


@kernel
def has_short_rows(matrix: Floats, most: float) -> bool:
    """Tell whether the squared norm of every row is at most ``most``; not so with NaN."""
    for i in range(matrix.shape[0]):
        if not linear.dot(matrix[i], matrix[i]) <= most:
            return False
    return True


@kernel
def rank_many(state: Any, nodes: Ints, catalog: Any, rows: Ints) -> None:
    """Rank a catalogue for many users, one after another."""
    scores = np.empty(rows.shape[1])
    for i in range(nodes.shape[0]):
        protocol.rank_catalog(state, nodes[i], catalog, rows[i], scores)


@kernel
def learn_many(
    state: Any,
    nodes: Ints,
    features: Any,
    rows: Ints,
    examined: Ints,
    rewards: Floats,
    first: int,
    last: int,
) -> None:
    """Learn from the events ``first`` to ``last`` of a log, in order."""
    for i in range(first, last):
        protocol.learn(state, nodes[i], features, rows[i], examined[i], rewards[i])


@kernel
def learn(state: Any, node: int, features: Any, rows: Ints, examined: int, rewards: Floats) -> None:
    """Learn from one list."""
    protocol.learn(state, node, features, rows, examined, rewards)
