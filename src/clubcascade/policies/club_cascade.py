"""CLUB-cascade: Algorithm 1 of the paper."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Self

from clubcascade import validation
from clubcascade.learners.club import ClubModels
from clubcascade.learners.user_statistics import UserStatistics
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.policies._legacy import MOVED
from clubcascade.policies._mixins import ClubMixin, StartName, read_start
from clubcascade.policies._users import kept_users, read_users


class ClubCascade(ClubMixin, CompiledPolicy):
    """CLUB-cascade: users start in one graph, and edges between unlike users are deleted.

    Every connected component of the graph is served by one linear model. After each round the
    user's own weights are compared with those of its neighbours, and an edge goes when they
    differ by at least ``alpha`` times the sum of their confidence radii. What the paper's
    discussion adds is beside it: :class:`clubcascade.AlphaSchedule`,
    :class:`clubcascade.UserSelection`, :class:`clubcascade.SpannerExploration`.

    Parameters
    ----------
    n_features
        Number of features of an item.
    users
        Users known beforehand; others join at their first ``update``, linked with the users
        present as the start says.
    alpha
        Edge-deletion constant, 0 to infinity; that of Theorem 2 is
        :func:`clubcascade.theory.alpha`.
    beta
        Exploration constant; that of Theorem 2 is :func:`clubcascade.theory.beta`.
    reg
        Ridge constant; the theorem wants at least k.
    start
        ``"complete"`` as printed, or ``"random"`` (Erdős-Rényi) with ``edge_probability``.
    edge_probability
        Probability of each edge of a random start; that of the paper's discussion is
        :func:`clubcascade.theory.edge_probability`.
    discounts
        What a click is worth at each position, in [0, 1] and never rising; positions beyond the end
        have the last one's. What is seen at position p then weighs ``discounts[p] ** 2`` in every
        Gram matrix and moment; counts are of items, undiscounted. By default all are 1.
    seed
        Seed of the random start.

    References
    ----------
    Li, "Online clustering of contextual cascading bandits", AAAI 2018, Algorithm 1: lines 5-7 are
    ``recommend``, lines 8-10 ``update``.

    Examples
    --------
    >>> import numpy as np
    >>> policy = ClubCascade(n_features=2, users=["alice", "bob"], alpha=0.3, reg=1.0)
    >>> items = np.eye(2)
    >>> for _ in range(20):
    ...     policy.update("alice", items[[0, 1]], click=0)
    ...     policy.update("bob", items[[1, 0]], click=0)
    >>> policy.recommend("alice", items, k=1), policy.recommend("bob", items, k=1)
    (array([0]), array([1]))
    >>> policy.clusters()
    [{'alice'}, {'bob'}]
    """

    n_features: int
    _learner: ClubModels
    moved_parameters = MOVED

    def __init__(
        self,
        *,
        n_features: int,
        users: Iterable[Hashable] | None = None,
        alpha: float = 2.0,
        beta: float = 1.0,
        reg: float = 4.0,
        start: StartName = "complete",
        edge_probability: float | None = None,
        discounts: Sequence[float] | None = None,
        seed: int = 0,
    ) -> None:
        self.n_features = validation.whole("n_features", n_features, low=1)
        first_alpha = validation.number("alpha", alpha, low=0, infinite=True)
        self.beta = validation.factor("beta", beta)
        self.reg = validation.ridge("reg", reg)
        self.seed = validation.whole("seed", seed, low=0)
        self.start, self.edge_probability = start, edge_probability
        graph = read_start(start, edge_probability, self.seed)
        self.discounts = validation.discounts("discounts", discounts)
        known = read_users(users)
        self._given = {"users": kept_users(users, known), "alpha": alpha}
        own = UserStatistics(self.n_features, self.discounts)
        learner = ClubModels(
            own, graph, len(known), alpha=first_alpha, beta=self.beta, reg=self.reg
        )
        super().__init__(learner, known)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(n_features=3, users=range(6), alpha=0.4, beta=0.5, reg=1.0)
        yield cls(n_features=3, alpha=0.5, beta=0.5, reg=1.0)
        yield cls(
            n_features=3, users=range(4), alpha=0.5, start="random", edge_probability=0.6, seed=5
        )
        yield cls(n_features=3, alpha=0.6, discounts=(1, 0.8, 0.5))
