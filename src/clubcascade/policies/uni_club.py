"""UniCLUB: random lists first, then CLUB."""

from collections.abc import Hashable, Iterable, Iterator
from typing import Self

from clubcascade import validation
from clubcascade.core import Catalog, Floats, Ints
from clubcascade.graph import Complete
from clubcascade.kernels.random_lists import draw_list
from clubcascade.learners.club import ClubModels
from clubcascade.learners.seeds import key_of
from clubcascade.learners.user_statistics import UserStatistics
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.policies._mixins import ClubMixin
from clubcascade.policies._users import kept_users, read_users


class _ExploringModels(ClubModels):
    """Lists are random in the first rounds."""

    @property
    def draws(self) -> bool:  # type: ignore[override]
        """Tell whether the next list is random."""
        return bool(self.compiled.n_updates < self.compiled.n_random)

    def rank_new_user(
        self, user: Hashable, number: int, items: Floats | Catalog, rows: Ints, scores: Floats
    ) -> None:
        """Draw a list, or rank by the model that would serve the user."""
        if self.draws:
            draw_list(self.compiled, len(items), rows, scores)
        else:
            super().rank_new_user(user, number, items, rows, scores)


class UniCLUB(ClubMixin, CompiledPolicy):
    """CLUB after uniform exploration: the first lists are drawn at random.

    Random lists tell users apart without any assumption on how various the items of good lists
    are. Users start in a complete graph, and edges between unlike users are deleted from the first
    round on; from round ``exploration_rounds + 1`` on, every connected component is served by one
    linear model, as in :class:`clubcascade.ClubCascade`, which this is without exploration. A list
    of one item is the algorithm without cascading feedback, as the paper's abstract describes it
    (not held against its full text); what was examined of a longer one is learned as in
    CLUB-cascade.

    Parameters
    ----------
    n_features
        Number of features of an item.
    users
        Users known beforehand; others join at their first ``update``, linked with all present.
    exploration_rounds
        Rounds (of all users together) with random lists, T0; a round is over with its ``update``.
    alpha
        Edge-deletion constant, 0 to infinity: an edge goes when weights differ by at least
        ``alpha (F + F)``, with the ``F(T) = sqrt((1 + ln(1 + T)) / (1 + T))`` of CLUB.
    beta
        Exploration constant.
    reg
        Ridge constant.
    seed
        Seed of the random lists.

    References
    ----------
    Li, Liu, Dai and Lui, "Demystifying online clustering of bandits: enhanced exploration under
    stochastic and smoothed adversarial contexts", ICLR 2025. There T0 and the threshold follow from
    the gap between clusters and the spread of items; here they are arguments. The phased variant
    for unknown gaps is not here.

    Examples
    --------
    >>> import numpy as np
    >>> policy = UniCLUB(n_features=2, users=["alice", "bob"], exploration_rounds=40, alpha=0.3)
    >>> items = np.eye(2)
    >>> for _ in range(20):
    ...     policy.update("alice", items[[0, 1]], click=0)
    ...     policy.update("bob", items[[1, 0]], click=0)
    >>> policy.recommend("alice", items, k=1), policy.recommend("bob", items, k=1)
    (array([0]), array([1]))
    """

    n_features: int
    _learner: _ExploringModels

    def __init__(
        self,
        *,
        n_features: int,
        users: Iterable[Hashable] | None = None,
        exploration_rounds: int = 1000,
        alpha: float = 2.0,
        beta: float = 1.0,
        reg: float = 1.0,
        seed: int = 0,
    ) -> None:
        self.n_features = validation.whole("n_features", n_features, low=1)
        self.exploration_rounds = validation.whole(
            "exploration_rounds", exploration_rounds, low=0, high=2**62
        )
        first_alpha = validation.number("alpha", alpha, low=0, infinite=True)
        self.beta = validation.factor("beta", beta)
        self.reg = validation.ridge("reg", reg)
        self.seed = validation.whole("seed", seed, low=0)
        known = read_users(users)
        self._given = {"users": kept_users(users, known), "alpha": alpha}
        own = UserStatistics(
            self.n_features, n_random=self.exploration_rounds, key=key_of(self.seed, "draws")
        )
        learner = _ExploringModels(
            own, Complete(), len(known), alpha=first_alpha, beta=self.beta, reg=self.reg
        )
        super().__init__(learner, known)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(n_features=3, users=range(6), exploration_rounds=12, alpha=0.4, beta=0.5)
        yield cls(n_features=3, exploration_rounds=0, alpha=0.5, seed=5)
