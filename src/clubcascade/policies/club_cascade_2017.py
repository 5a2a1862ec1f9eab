"""CLUB-cascade as the public code of 2017 has it, which is not quite Algorithm 1."""

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Self

import numpy as np

from clubcascade import validation
from clubcascade.core import Catalog, Floats, Ints
from clubcascade.kernels.ranking_2017 import rank_2017
from clubcascade.learners.club import ClubModels
from clubcascade.learners.seeds import key_of
from clubcascade.learners.user_statistics import UserStatistics
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.policies._mixins import ClubMixin, StartName, read_start
from clubcascade.policies._users import kept_users, read_users


class _Models2017(ClubModels):
    """Items have a bias column in front, and every list its own draw."""

    draws, fresh_items = True, False

    def padded(self, items: Floats) -> Floats:
        """Return the items with a column of ones in front."""
        return np.column_stack([np.ones(len(items)), items])

    def rank_new_user(
        self, user: Hashable, number: int, items: Floats | Catalog, rows: Ints, scores: Floats
    ) -> None:
        models, g = self.model_of(user, number)
        loose = self.training_view(items) if isinstance(items, Catalog) else self.padded(items)
        rank_2017(self.compiled, models.struct, g, loose, np.arange(len(loose)), rows, scores)


class ClubCascade2017(ClubMixin, CompiledPolicy):
    """What the public code of 2017 does instead of Algorithm 1.

    The threshold of edge deletion is ``sqrt(1 + ln(1 + T)) / (1 + T)``, items get a constant bias
    feature, and each bonus is multiplied by a uniform random number.

    Parameters
    ----------
    n_features
        Number of features of an item, without the bias.
    users
        Users known beforehand; others join at their first ``update``.
    alpha
        Edge-deletion constant; ``8 sqrt(n_features)`` in the code of 2017.
    beta
        Exploration constant.
    reg
        Ridge constant; k in the code of 2017, which is 4 in its experiments.
    start, edge_probability, discounts
        As for :class:`clubcascade.ClubCascade`.
    seed
        Seed of the random start and of the draws.

    References
    ----------
    The code published with Li, "Online clustering of contextual cascading bandits", AAAI 2018.

    Examples
    --------
    >>> policy = ClubCascade2017(n_features=2, users=["alice", "bob"], seed=7)
    >>> policy.update("alice", np.eye(2), click=1)
    >>> policy.cluster_weights("alice").shape
    (3,)
    """

    def __init__(
        self,
        *,
        n_features: int,
        users: Iterable[Hashable] | None = None,
        alpha: float | None = None,
        beta: float = 1.0,
        reg: float = 4.0,
        start: StartName = "complete",
        edge_probability: float | None = None,
        discounts: Sequence[float] | None = None,
        seed: int = 0,
    ) -> None:
        self.n_features = validation.whole("n_features", n_features, low=1)
        default = 8.0 * math.sqrt(self.n_features)
        first_alpha = validation.number(
            "alpha", default if alpha is None else alpha, low=0, infinite=True
        )
        self.beta = validation.factor("beta", beta)
        self.reg = validation.ridge("reg", reg)
        self.seed = validation.whole("seed", seed, low=0)
        self.start, self.edge_probability = start, edge_probability
        graph = read_start(start, edge_probability, self.seed)
        self.discounts = validation.discounts("discounts", discounts)
        known = read_users(users)
        self._given = {"users": kept_users(users, known), "alpha": alpha}
        key = key_of(self.seed, "draws")
        own = UserStatistics(self.n_features + 1, self.discounts, code2017=True, key=key)
        learner = _Models2017(
            own, graph, len(known), alpha=first_alpha, beta=self.beta, reg=self.reg
        )
        super().__init__(learner, known)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(n_features=3, alpha=0.2, seed=3)
