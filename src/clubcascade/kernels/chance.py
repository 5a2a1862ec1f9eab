"""Lists drawn at random."""

from __future__ import annotations

from typing import Any

import numpy as np

from clubcascade.core import Floats, Ints
from clubcascade.kernels import luck
from clubcascade.kernels.jit import Struct, implements, kernel, struct
from clubcascade.kernels.protocol import count_clusters, learn, rank_catalog, rank_items


@struct
class Chance(Struct):
    """``n_drawn`` counts the lists drawn; ``key`` is the key of their random numbers."""

    n_drawn: int
    key: np.uint64


@kernel
def draw(state: Chance, n: int, rows: Ints, scores: Floats) -> None:
    """Fill ``rows`` with distinct rows below ``n``, all lists equally likely."""
    order = np.arange(n)
    for p in range(rows.shape[0]):
        pick = p + int(luck.uniform(state.key, state.n_drawn, p) * (n - p))
        order[p], order[pick] = order[pick], order[p]
        rows[p] = order[p]
        scores[p] = 0.0
    state.n_drawn += 1


@implements(rank_catalog, Chance)
def _rank_catalog(state: Any, node: Any, shelf: Any, rows: Any, scores: Any) -> Any:
    return draw(state, shelf.shape[0], rows, scores)


@implements(rank_items, Chance)
def _rank_items(state: Any, node: Any, features: Any, offered: Any, rows: Any, scores: Any) -> None:
    draw(state, offered.shape[0], rows, scores)


@implements(learn, Chance)
def _learn(state: Any, node: Any, features: Any, rows: Any, examined: Any, rewards: Any) -> Any:
    return None


@implements(count_clusters, Chance)
def _count_clusters(state: Any) -> Any:
    return 1
