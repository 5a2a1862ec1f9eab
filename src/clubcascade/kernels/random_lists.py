"""The random policy: uniform lists of distinct items."""

from __future__ import annotations

from typing import Any

import numpy as np

from clubcascade.core import Floats, Ints
from clubcascade.kernels import counter_rng
from clubcascade.kernels.jit import Struct, implements, kernel, struct
from clubcascade.kernels.protocol import count_clusters, learn, rank_catalog, rank_items


@struct
class RandomLists(Struct):
    """``n_drawn`` counts the lists drawn; ``key`` is the key of their random numbers."""

    n_drawn: int
    key: np.uint64


@kernel
def draw_list(state: Any, n: int, rows: Ints, scores: Floats) -> None:
    """Fill ``rows`` with distinct rows below ``n``, all lists equally likely.

    The state has ``n_drawn`` and ``key``, as :class:`RandomLists`.
    """
    order = np.arange(n)
    for p in range(rows.shape[0]):
        swap = p + int(counter_rng.uniform(state.key, state.n_drawn, p) * (n - p))
        order[p], order[swap] = order[swap], order[p]
        rows[p] = order[p]
        scores[p] = 0.0
    state.n_drawn += 1


@implements(rank_catalog, RandomLists)
def _rank_catalog(state: Any, node: Any, catalog: Any, rows: Any, scores: Any) -> Any:
    return draw_list(state, catalog.shape[0], rows, scores)


@implements(rank_items, RandomLists)
def _rank_items(state: Any, node: Any, features: Any, offered: Any, rows: Any, scores: Any) -> None:
    draw_list(state, offered.shape[0], rows, scores)


@implements(learn, RandomLists)
def _learn(state: Any, node: Any, features: Any, rows: Any, examined: Any, rewards: Any) -> Any:
    return None


@implements(count_clusters, RandomLists)
def _count_clusters(state: Any) -> Any:
    return 1
