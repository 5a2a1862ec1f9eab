"""Random: lists drawn at random."""

from collections.abc import Hashable, Iterator, Mapping
from typing import Any, Self

import numpy as np

from clubcascade import validation
from clubcascade.core import array_of
from clubcascade.kernels import random_lists as kernels
from clubcascade.learners.base import Learner
from clubcascade.learners.seeds import key_of
from clubcascade.policies._compiled import CompiledPolicy


class _Draws(Learner):
    """A place in a stream of random numbers, and nothing else."""

    draws = True

    def __init__(self, key: np.uint64) -> None:
        self.compiled = kernels.RandomLists.make(n_drawn=0, key=key)

    def state(self, n_users: int) -> dict[str, Any]:
        return {"draws": np.array([self.compiled.n_drawn])}

    def load_state(self, state: dict[str, Any], users: Mapping[Hashable, int]) -> None:
        self.compiled.n_drawn = int(array_of(state, "draws", (1,), np.int64)[0])


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
    >>> sorted(Random(seed=1).recommend("alice", np.eye(3), k=3).tolist())
    [0, 1, 2]
    """

    def __init__(self, *, n_features: int | None = None, seed: int = 0) -> None:
        self.n_features = (
            None if n_features is None else validation.whole("n_features", n_features, low=1)
        )
        self.seed = validation.whole("seed", seed, low=0)
        super().__init__(_Draws(key_of(self.seed, "draws")))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(n_features=3, seed=3)
