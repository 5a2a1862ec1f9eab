"""CascadeLinTS: one linear model for all users, explored by Thompson sampling."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, Self

import numpy as np

from clubcascade import validation
from clubcascade.core import Catalog, Floats, Ints, array_of
from clubcascade.kernels import entry_points
from clubcascade.kernels import thompson as kernels
from clubcascade.policies._models import Models
from clubcascade.policies._ridge_policy import RidgePolicy
from clubcascade.policies._seeds import key_of
from clubcascade.policies._users import numbered


class CascadeLinTS(RidgePolicy):
    """CascadeLinTS: rank by weights drawn from the posterior of one model for all users.

    ``recommend`` draws ``theta ~ N(mean, M^-1)`` with ``M = I + X'X / sigma^2`` from the policy's
    own stream of random numbers; ``scores`` are those of the posterior mean.

    Parameters
    ----------
    n_features
        Number of features of an item.
    sigma
        Learning rate: the standard deviation that the model ascribes to a click.
    seed
        Seed of the draws.

    References
    ----------
    Zong, Ni, Sung, Ke, Wen and Kveton, "Cascading bandits for large-scale recommendation
    problems", UAI 2016, Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> policy = CascadeLinTS(n_features=2, seed=7)
    >>> policy.update("alice", np.eye(2), click=1)
    >>> sorted(policy.recommend("bob", np.eye(2), k=2).tolist())
    [0, 1]
    """

    def __init__(self, *, n_features: int, sigma: float = 1.0, seed: int = 0) -> None:
        super().__init__()
        self.n_features = validation.whole("n_features", n_features, low=1)
        self.sigma = validation.deviation("sigma", sigma)
        self.seed = validation.whole("seed", seed, low=0)
        self._models = Models(self.n_features, self.sigma**2, capacity=1)
        self._models.clear(0)
        self._bind(n_drawn=0)

    def _bind(self, n_drawn: int) -> None:
        self.compiled = kernels.Thompson.make(
            ridge=self._models.struct,
            scale=self.sigma,
            n_drawn=n_drawn,
            key=key_of(self.seed, "draws"),
        )

    @property
    def draws(self) -> bool:
        """Say yes: every list has its own draw."""
        return True

    @property
    def _radius(self) -> tuple[float, float, float]:
        return 0.0, 0.0, 1.0

    def _model_of(self, user: Hashable) -> tuple[Models, int]:
        return self._models, 0

    def _join(self, user: Hashable) -> int:
        self._numbers[user] = len(self._numbers)
        return self._numbers[user]

    def _rank_new_user(
        self, user: Hashable, items: Floats | Catalog, rows: Ints, scores: Floats
    ) -> None:
        features = items._rows if isinstance(items, Catalog) else items
        entry_points.rank_items(self.compiled, 0, features, rows, scores)

    def state(self) -> dict[str, Any]:
        """Return all that was learned: arrays (copies) and plain values."""
        with self._lock:
            models = self._models.state(1)
            draws = np.array([self.compiled.n_drawn])
            return {"users": list(self._numbers), "draws": draws, **models}

    def _take(self, state: dict[str, Any]) -> None:
        self._models.load_state(state, 1)
        self._bind(n_drawn=int(array_of(state, "draws", (1,), np.int64)[0]))
        self._numbers = numbered(state["users"])

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Yield one policy."""
        yield cls(n_features=3, sigma=0.5, seed=3)
