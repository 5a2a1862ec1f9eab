"""CascadeLinTS: one linear model for all users, explored by Thompson sampling."""

from collections.abc import Hashable, Iterator, Mapping
from typing import Any, Self

import numpy as np

from clubcascade import validation
from clubcascade.core import Catalog, Floats, Ints, array_of
from clubcascade.kernels import thompson as kernels
from clubcascade.learners.base import Learner
from clubcascade.learners.models import Models
from clubcascade.learners.ridge import RidgeLearner
from clubcascade.learners.seeds import key_of
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.policies._mixins import LinearScoresMixin


class _ThompsonModel(RidgeLearner):
    """One model, whose weights are drawn anew for every list."""

    draws = True

    def __init__(self, n_features: int, sigma: float, seed: int) -> None:
        super().__init__(Models(n_features, sigma**2, capacity=1), (0.0, 0.0, 1.0))
        self.models.clear(0)
        self.compiled = kernels.Thompson.make(
            ridge=self.models.struct, scale=sigma, n_drawn=0, key=key_of(seed, "draws")
        )

    def model_of(self, user: Hashable, number: int) -> tuple[Models, int]:
        return self.models, 0

    def rank_new_user(
        self, user: Hashable, number: int, items: Floats | Catalog, rows: Ints, scores: Floats
    ) -> None:
        Learner.rank_new_user(self, user, number, items, rows, scores)

    def state(self, n_users: int) -> dict[str, Any]:
        return {"draws": np.array([self.compiled.n_drawn]), **self.models.state(1)}

    def load_state(self, state: dict[str, Any], users: Mapping[Hashable, int]) -> None:
        self.models.load_state(state, 1)
        self.compiled.n_drawn = int(array_of(state, "draws", (1,), np.int64)[0])


class CascadeLinTS(LinearScoresMixin, CompiledPolicy):
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
    >>> policy = CascadeLinTS(n_features=2, seed=7)
    >>> policy.update("alice", np.eye(2), click=1)
    >>> sorted(policy.recommend("bob", np.eye(2), k=2).tolist())
    [0, 1]
    """

    def __init__(self, *, n_features: int, sigma: float = 1.0, seed: int = 0) -> None:
        self.n_features = validation.whole("n_features", n_features, low=1)
        self.sigma = validation.deviation("sigma", sigma)
        self.seed = validation.whole("seed", seed, low=0)
        super().__init__(_ThompsonModel(self.n_features, self.sigma, self.seed))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(n_features=3, sigma=0.5, seed=3)
