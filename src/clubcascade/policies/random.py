"""Random: lists drawn at random."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, Self

import numpy as np

from clubcascade import validation
from clubcascade.core import Catalog, Floats, Ints, array_of
from clubcascade.kernels import entry_points
from clubcascade.kernels import random_lists as kernels
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.policies._seeds import key_of
from clubcascade.policies._users import numbered


class Random(CompiledPolicy):
    """Show items drawn at random and learn nothing: the floor of every comparison.

    Parameters
    ----------
    n_features
        Number of features of an item; by default any.
    seed
        Seed of the draws.

    Examples
    --------
    >>> import numpy as np
    >>> sorted(Random(seed=1).recommend("alice", np.eye(3), k=3).tolist())
    [0, 1, 2]
    """

    def __init__(self, *, n_features: int | None = None, seed: int = 0) -> None:
        super().__init__()
        self.n_features = (
            None if n_features is None else validation.whole("n_features", n_features, low=1)
        )
        self.seed = validation.whole("seed", seed, low=0)
        self.compiled = kernels.RandomLists.make(n_drawn=0, key=key_of(self.seed, "draws"))

    def ranking_view(self, catalog: Catalog, k: int) -> Any:
        """Return the features: only their number matters."""
        return catalog._rows

    def training_view(self, catalog: Catalog) -> Any:
        """Return the features: nothing is learned from them."""
        return catalog._rows

    def _join(self, user: Hashable) -> int:
        self._numbers[user] = len(self._numbers)
        return self._numbers[user]

    def _rank_new_user(
        self, user: Hashable, items: Floats | Catalog, rows: Ints, scores: Floats
    ) -> None:
        features = items._rows if isinstance(items, Catalog) else items
        entry_points.rank_items(self.compiled, 0, features, rows, scores)

    def state(self) -> dict[str, Any]:
        """Return the place in the stream of draws, and the users met."""
        with self._lock:
            draws = np.array([self.compiled.n_drawn])
            return {"users": list(self._numbers), "draws": draws}

    def _take(self, state: dict[str, Any]) -> None:
        self.compiled.n_drawn = int(array_of(state, "draws", (1,), np.int64)[0])
        self._numbers = numbered(state["users"])

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Yield one policy."""
        yield cls(n_features=3, seed=3)
