"""CLUB-cascade: Algorithm 1 of the paper."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, Literal, Self

import numpy as np

from clubcascade import validation
from clubcascade.core import Catalog, Floats, Ints, array_of
from clubcascade.graph import UserGraph
from clubcascade.kernels import club as kernels
from clubcascade.kernels import factors, user_ridge
from clubcascade.kernels.ranking_2017 import rank_2017
from clubcascade.policies._arrays import aligned_zeros
from clubcascade.policies._club_parameters import (
    Variant,
    read_alpha,
    read_beta,
    read_edge_probability,
    read_explore,
)
from clubcascade.policies._exploration import SpannerExploration, put_first
from clubcascade.policies._graph_policy import GraphPolicy
from clubcascade.policies._models import Models
from clubcascade.policies._relaxation import Schedule, as_array, read_schedule
from clubcascade.policies._seeds import key_of
from clubcascade.policies._user_statistics import OWN_INVERSES, UserStatistics
from clubcascade.policies._users import read_users


class ClubCascade(GraphPolicy):
    """CLUB-cascade: users start in one graph, and edges between unlike users fall away.

    Every connected component of the graph is served by one linear model. After each round the
    user's own weights are compared with those of its neighbours, and an edge goes when they
    differ by at least ``alpha`` times the sum of their confidence radii.

    Parameters
    ----------
    n_features
        Number of features of an item.
    users
        Users known beforehand; others join at their first ``update``, linked with the users
        present as the start says.
    alpha
        Edge-deletion constant, 0 to infinity; 2 unless ``item_eigenvalue`` names the theorem's. It
        may become smaller while the policy runs: by :meth:`relax`, or by ``alpha_schedule``.
    alpha_schedule
        Steps ``(updates, alpha)``: after so many updates alpha is at most that. Updates rise,
        alphas fall.
    beta
        Exploration constant; 1 unless ``horizon`` and ``n_clusters`` name the theorem's.
    reg
        Ridge constant; the theorem wants at least k.
    start
        ``"complete"`` as printed, or ``"random"`` (Erdős-Rényi) with ``edge_probability``, or
        with the probability of the paper's discussion by naming ``n_clusters`` and
        ``smallest_share`` (every true cluster has at least ``smallest_share * u / n_clusters``
        users) for ``users`` known beforehand.
    edge_probability
        Probability of each edge of a random start.
    smallest_share, delta
        See ``start``; ``delta`` is the probability with which a true cluster may start in pieces.
    horizon, n_clusters, item_eigenvalue
        Take ``beta`` (horizon, n_clusters) and ``alpha`` (item_eigenvalue) from Theorem 2.
    discounts
        What a click is worth at each position, in [0, 1] and never rising; positions beyond the end
        have the last one's. What is seen at position p then weighs ``discounts[p] ** 2`` in every
        Gram matrix and moment; counts are of items, undiscounted. By default all are 1.
    explore
        ``"ucb"`` as printed, or ``"spanner"``: as long as a user has neighbours, its list begins
        with an item of a barycentric spanner of the items when the user has seen too little of that
        item's direction. For items that leave directions out, or hardly show them.
    spanner_share
        With ``explore="spanner"``: how much of what a user has seen is to be of the spanner.
    ask
        For so many updates the policy asks for users, where it may choose whom to serve: see
        :meth:`choose_user`. :func:`clubcascade.simulate` lets it.
    variant
        ``"paper"``, or ``"code2017"`` for what the public code of 2017 does instead: the
        threshold ``sqrt(1 + ln(1 + T)) / (1 + T)``, alpha ``8 sqrt(d)``, a constant bias feature,
        and each bonus multiplied by a uniform random number. (Its ridge constant is k; the
        default 4 is the k of its experiments.)
    seed
        Seed of the random start and of the 2017 variant's draws.

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

    def __init__(
        self,
        *,
        n_features: int,
        users: Iterable[Hashable] | None = None,
        alpha: float | None = None,
        beta: float | None = None,
        reg: float = 4.0,
        start: Literal["complete", "random"] = "complete",
        edge_probability: float | None = None,
        smallest_share: float | None = None,
        delta: float = 0.1,
        horizon: int | None = None,
        n_clusters: int | None = None,
        item_eigenvalue: float | None = None,
        alpha_schedule: Schedule | None = None,
        discounts: Sequence[float] | None = None,
        explore: Literal["ucb", "spanner"] = "ucb",
        spanner_share: float = 0.3,
        ask: int = 0,
        variant: Literal["paper", "code2017"] = "paper",
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.n_features = validation.whole("n_features", n_features, low=1)
        self._numbers = read_users(users)
        known = list(self._numbers)
        self.reg = validation.ridge("reg", reg)
        self.start: Literal["complete", "random"] = validation.choice(
            "start", start, ("complete", "random")
        )
        self.variant: Variant = validation.choice("variant", variant, ("paper", "code2017"))
        self.seed = validation.whole("seed", seed, low=0)
        self.delta = validation.number("delta", delta, low=0, open_low=True, high=1)
        self.horizon, self.n_clusters = horizon, n_clusters
        if n_clusters is not None:
            validation.whole("n_clusters", n_clusters, low=1)
        self.item_eigenvalue, self.smallest_share = item_eigenvalue, smallest_share
        self._given = {
            "users": users if isinstance(users, range) or users is None else known,
            "alpha": alpha,
            "beta": beta,
            "edge_probability": edge_probability,
        }
        first_alpha = self._read_alpha(alpha)
        self.beta = self._read_beta(beta)
        self.alpha_schedule = read_schedule(alpha_schedule, first_alpha)
        self.discounts = validation.discounts("discounts", discounts)
        self._first_alpha = first_alpha
        self.explore = read_explore(explore, self.variant)
        self.spanner_share = validation.number(
            "spanner_share", spanner_share, low=0, open_low=True, high=1
        )
        self._exploration = SpannerExploration(self.reg, self.spanner_share)
        self.ask = validation.whole("ask", ask, low=0)
        self.edge_probability = read_edge_probability(
            edge_probability, self.start, len(known), n_clusters, smallest_share, self.delta
        )
        self._allocate(UserGraph(self._start(), len(known)))
        for g in range(self._graph.n_components):
            self._models.clear(g)

    # -- parameters ----------------------------------------------------------------------------

    @property
    def params(self) -> dict[str, Any]:
        """The constructor's arguments, as they were given."""
        return super().params | self._given

    def _read_alpha(self, alpha: float | None) -> float:
        return read_alpha(alpha, self.n_features, self.item_eigenvalue, self.variant)

    def _read_beta(self, beta: float | None) -> float:
        return read_beta(beta, self.n_features, self.horizon, self.n_clusters, self.reg)

    # -- arrays --------------------------------------------------------------------------------

    @property
    def _inner(self) -> int:
        """Features as the kernels know them: the 2017 code has a bias column."""
        return self.n_features + (self.variant == "code2017")

    def _allocate(self, graph: UserGraph) -> None:
        d, n = self._inner, graph.capacity
        self._graph = graph
        self._models = Models(d, self.reg, n)
        self._own = UserStatistics(d, n, graph.n, graph.start.dense)
        self._bind(
            alpha=self._first_alpha,
            beta=self.beta,
            code2017=self.variant == "code2017",
            n_rows=0,
            n_clusters=graph.n_components,
            n_drawn=0,
            n_updates=0,
        )

    def _bind(self, **scalars: Any) -> None:
        """Bind the arrays into the structure that the kernels take."""
        self.compiled = kernels.Club.make(
            **(scalars or self.compiled.scalars()),
            ridge=self._models.struct,
            graph=self._graph.struct,
            **self._own.arrays,
            discounts=np.array(self.discounts or (), dtype=float),
            schedule=as_array(self.alpha_schedule),
            key=key_of(self.seed, "draws"),
            **self._work(),
            elimination_work=aligned_zeros(self._inner, -(-(self._inner + 1) // 8) * 8),
        )

    # -- users ---------------------------------------------------------------------------------

    def _join(self, user: Hashable) -> int:
        links = self._graph.links_of_newcomer()
        number, label, merged = self._graph.join()
        capacity = self._graph.capacity
        if capacity > self._own.capacity or number == OWN_INVERSES:
            self._own.reserve(capacity, self._graph.n, used=self.compiled.n_rows)
            self._models.reserve(capacity)
        self._bind()
        if self._graph.arrays["size"][label] == 1:
            self._models.clear(label)
        self._models.merge(label, merged)
        user_ridge.refresh_weights(self.compiled, links)
        self.compiled.n_clusters = self._graph.n_components
        self._numbers[user] = number
        return number

    def _pool(self, labels: Ints, guest: Models) -> None:
        for name in ("gram", "moment", "count"):
            guest.arrays[name][0] = self._models.arrays[name][labels].sum(axis=0)
        guest.renew(0)

    def _rank_new_user(
        self, user: Hashable, items: Floats | Catalog, rows: Ints, scores: Floats
    ) -> None:
        if self.variant == "paper":
            super()._rank_new_user(user, items, rows, scores)
            return
        models, g = self._model_of(user)
        loose = self.training_view(items) if isinstance(items, Catalog) else self.padded(items)
        every = np.arange(len(loose))
        rank_2017(self.compiled, models.struct, g, loose, every, rows, scores)

    def _counts(self, numbers: Ints) -> Ints:
        rows = self._own.arrays["row"][numbers]
        return np.where(rows >= 0, self._own.arrays["count"][rows], 0)

    # -- answers -------------------------------------------------------------------------------

    @property
    def _radius(self) -> tuple[float, float, float]:
        return self.beta, 0.0, 1.0

    @property
    def has_scores(self) -> bool:
        """Say no where a list begins with an item that its score did not put there."""
        return super().has_scores and self.explore == "ucb"

    def _rank(self, user: Hashable, items: Floats | Catalog, rows: Ints, scores: Floats) -> None:
        super()._rank(user, items, rows, scores)
        number = self._numbers.get(user, -1)
        if self.explore == "ucb" or number < 0 or self._graph.arrays["degree"][number] == 0:
            return
        gram, _, count = self._statistics(number)
        due = self._exploration.due(items, gram, count)
        if due >= 0:
            put_first(due, rows)

    @property
    def ranks_by_model(self) -> bool:
        """Say no when users explore each for itself."""
        return self.explore == "ucb"

    @property
    def draws(self) -> bool:
        """Say yes for the 2017 variant, which shakes each bonus."""
        return self.variant == "code2017"

    @property
    def plays_fresh(self) -> bool:
        """Say no for the 2017 variant, whose items have a bias column."""
        return self.variant == "paper"

    def padded(self, items: Floats) -> Floats:
        """Return the items as the kernels know them, with the 2017 code's bias column in front."""
        if self.variant == "paper":
            return items
        return np.column_stack([np.ones(len(items)), items])

    def user_weights(self, user: Hashable) -> Floats:
        """Return the weights learned from this user alone (theta_i)."""
        gram, moment, _ = self.statistics(user)
        with self._lock:
            work, out = np.empty((len(gram), len(gram) + 1)), np.empty_like(moment)
            factors.ridge_weights(gram, moment, self.reg, work, out)
        return out

    def statistics(self, user: Hashable) -> tuple[Floats, Floats, int]:
        """Return the user's own (gram, moment, count); no ridge term inside ``gram``."""
        number = self._known(user)
        with self._lock:
            return self._statistics(number)

    def _statistics(self, number: int) -> tuple[Floats, Floats, int]:
        own = self._own.arrays
        row = own["row"][number]
        if row < 0:
            return np.zeros((self._inner, self._inner)), np.zeros(self._inner), 0
        return np.array(own["gram"][row]), np.array(own["moment"][row]), int(own["count"][row])

    def state(self) -> dict[str, Any]:
        """Return all that was learned: arrays (copies) and plain values."""
        with self._lock:
            now = self.compiled.scalars()
            return {
                "users": list(self._numbers),
                "tally": np.array([now["n_rows"], now["n_clusters"]]),
                "draws": np.array([now["n_drawn"]]),
                "updates": np.array([now["n_updates"]]),
                "alpha": np.array([now["alpha"]]),
                **self._own.state(self._graph.n, now["n_rows"]),
                **{f"graph_{name}": value for name, value in self._graph.state().items()},
                **self._models.state(self._graph.n_labels),
            }

    def _take(self, state: dict[str, Any]) -> None:
        self._take_users(state)
        self._models.load_state(state, self._graph.n_labels)
        n_rows, n_clusters = array_of(state, "tally", (2,), np.int64).tolist()
        self._check_components(n_clusters)
        n_drawn = array_of(state, "draws", (1,), np.int64)[0]
        self.compiled.assign(n_rows=n_rows, n_clusters=n_clusters, n_drawn=n_drawn)
        if "updates" in state:  # files of 0.1.0 have neither
            n_updates = array_of(state, "updates", (1,), np.int64)[0]
            self.compiled.assign(n_updates=n_updates, alpha=array_of(state, "alpha", (1,))[0])
        self._own.load_state(state, self._graph.n, used=int(n_rows))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Yield complete and random starts, early and late users, slow and quick splits."""
        yield cls(n_features=3, users=range(6), alpha=0.4, beta=0.5, reg=1.0)
        yield cls(n_features=3, alpha=0.5, beta=0.5, reg=1.0)
        yield cls(
            n_features=3, users=range(4), alpha=0.5, start="random", edge_probability=0.6, seed=5
        )
        yield cls(n_features=3, alpha=0.2, variant="code2017", seed=3)
        yield cls(
            n_features=3, alpha=1.0, alpha_schedule=[(8, 0.6), (20, 0.3)], discounts=(1, 0.8, 0.5)
        )
        yield cls(n_features=3, users=range(6), alpha=0.5, explore="spanner", spanner_share=0.5)
