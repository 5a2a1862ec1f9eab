"""Lists drawn at random."""

from __future__ import annotations

from typing import Any

import numpy as np

from clubcascade.core import Floats, Ints, Words
from clubcascade.kernels import luck
from clubcascade.kernels.jit import Struct, StructType, answer, kernel, struct
from clubcascade.kernels.stubs import count_clusters, learn, rank_catalog, rank_items


class ChanceType(StructType):
    """Type of :class:`Chance`."""


@struct(ChanceType)
class Chance(Struct):
    """``tally`` = [draws]; ``key`` = the key of the draws."""

    tally: Ints
    key: Words


@kernel
def make(*fields: Any) -> Chance:
    """Bind arrays into one structure that the kernels take."""
    return Chance(*fields)


@kernel
def draw(state: Chance, n: int, rows: Ints, scores: Floats) -> None:
    """Fill ``rows`` with distinct rows below ``n``, all lists equally likely."""
    order = np.arange(n)
    for p in range(rows.shape[0]):
        pick = p + int(luck.uniform(state.key[0], state.tally[0], p) * (n - p))
        order[p], order[pick] = order[pick], order[p]
        rows[p] = order[p]
        scores[p] = 0.0
    state.tally[0] += 1


@answer(rank_catalog, ChanceType)
def _rank_catalog(state: Any, node: Any, shelf: Any, rows: Any, scores: Any) -> Any:
    return draw(state, shelf.shape[0], rows, scores)


@answer(rank_items, ChanceType)
def _rank_items(state: Any, node: Any, features: Any, offered: Any, rows: Any, scores: Any) -> None:
    draw(state, offered.shape[0], rows, scores)


@answer(learn, ChanceType)
def _learn(state: Any, node: Any, features: Any, rows: Any, examined: Any, rewards: Any) -> Any:
    return None


@answer(count_clusters, ChanceType)
def _count_clusters(state: Any) -> Any:
    return 1
