"""CLUB-cascade with a link function: the paper's extension to generalized linear rewards."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any, Literal, Self

import numpy as np

from clubcascade import validation
from clubcascade.core import Floats, Ints, Items, array_of
from clubcascade.graph import UserGraph
from clubcascade.kernels import glm_club as kernels
from clubcascade.kernels import samples
from clubcascade.links import Link, read_link
from clubcascade.policies._club_parameters import refuse_both
from clubcascade.policies._glm_parameters import (
    Solver,
    read_alpha,
    read_beta,
    read_penalty,
    read_solver,
)
from clubcascade.policies._likelihoods import Likelihoods, make_store
from clubcascade.policies._models import Models
from clubcascade.policies._user_estimates import UserEstimates
from clubcascade.policies._user_statistics import OWN_INVERSES
from clubcascade.policies.club_cascade import ClubCascade


class ClubCascadeGLM(ClubCascade):
    """CLUB-cascade for clicks whose probability is ``mu(weights . x)`` with a known link mu.

    Every component of the users' graph, and every user, has an estimate of its own: the solution
    of Equation (8) of the paper over all its samples. Items are ranked by
    ``weights . x + beta sqrt(x' M^-1 x)``; an edge goes as in :class:`clubcascade.ClubCascade`.
    With the identity link this is :class:`clubcascade.ClubCascade` of the same ``reg``.

    Parameters
    ----------
    n_features
        Number of features of an item.
    users
        Users known beforehand; others join at their first ``update``.
    link
        ``"logistic"``, ``"probit"``, ``"identity"``, or a :class:`clubcascade.Link`.
    alpha
        Edge-deletion constant, in units of weights; 2 over the link's largest slope unless
        ``item_eigenvalue`` names the theorem's.
    beta
        Exploration constant, in units of ``weights . x``; 1 over the link's largest slope unless
        ``horizon``, ``n_clusters`` and ``item_eigenvalue`` name the theorem's.
    reg
        Ridge constant of the widths.
    penalty
        ``penalty weights`` is added to Equation (8), which keeps weights finite where samples are
        separable or few; by default ``reg`` times the largest slope. The paper has none.
    solver
        ``"exact"``: the solution of Equation (8) over all samples, which is the maximum likelihood
        estimate for the logistic link (not for probit). They are kept as counts per distinct item:
        bounded with a catalogue, growing for ever with items that change.
        ``"online"``: every sample is seen once and none is kept.
    start, edge_probability, smallest_share, delta
        The graph at the beginning, as for :class:`clubcascade.ClubCascade`.
    horizon, n_clusters, item_eigenvalue
        Take ``beta`` (all three) and ``alpha`` (item_eigenvalue) from Theorem 4.
    seed
        Seed of the random start.

    References
    ----------
    Li, "Online clustering of contextual cascading bandits", AAAI 2018, "Extensions to generalized
    linear rewards": Equation (8) and Theorem 4. The online solver is a step of Faury, Abeille, Jun
    and Calauzènes, "Jointly efficient and optimal algorithms for logistic bandits", AISTATS 2022.

    Examples
    --------
    >>> import numpy as np
    >>> policy = ClubCascadeGLM(n_features=2, users=["alice", "bob"], alpha=1.0, reg=1.0)
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
        link: str | Link = "logistic",
        alpha: float | None = None,
        beta: float | None = None,
        reg: float = 4.0,
        penalty: float | None = None,
        solver: Solver = "exact",
        start: Literal["complete", "random"] = "complete",
        edge_probability: float | None = None,
        smallest_share: float | None = None,
        delta: float = 0.1,
        horizon: int | None = None,
        n_clusters: int | None = None,
        item_eigenvalue: float | None = None,
        seed: int = 0,
    ) -> None:
        self.link = read_link(link)
        self.solver = read_solver(solver)
        self.penalty = read_penalty(penalty, self.link, validation.ridge("reg", reg))
        super().__init__(
            n_features=n_features,
            users=users,
            alpha=alpha,
            beta=beta,
            reg=reg,
            start=start,
            edge_probability=edge_probability,
            smallest_share=smallest_share,
            delta=delta,
            horizon=horizon,
            n_clusters=n_clusters,
            item_eigenvalue=item_eigenvalue,
            seed=seed,
        )
        self._named = {"penalty": penalty, "link": self.link.saved()}
        for g in range(self._graph.n_components):
            self._fits.clear(g)

    # -- parameters ----------------------------------------------------------------------------

    @property
    def params(self) -> dict[str, Any]:
        """The constructor's arguments, as they were given; an own link as its table."""
        return super().params | self._named

    def _read_alpha(self, alpha: float | None) -> float:
        if self.horizon is None:
            refuse_both("alpha", alpha, "item_eigenvalue", self.item_eigenvalue)
        return read_alpha(alpha, self.link, self.n_features, self.item_eigenvalue)

    def _read_beta(self, beta: float | None) -> float:
        named = self.horizon, self.n_clusters, self.item_eigenvalue
        return read_beta(beta, self.link, self.n_features, *named)

    # -- arrays --------------------------------------------------------------------------------

    def _allocate(self, graph: UserGraph) -> None:
        self._graph = graph
        self._models = Models(self.n_features, self.reg, graph.capacity)
        self._store = make_store(self.n_features)
        online = self.solver == "online"
        self._per_user = UserEstimates(
            self.n_features, graph.capacity, dense=graph.start.dense, online=online
        )
        kind: dict[str, Any] = {"penalty": self.penalty, "online": online}
        self._fits = Likelihoods(self._models.arrays["weights"], **kind)
        self._estimates = Likelihoods(
            self._per_user.arrays["weights"], **kind, inverses=graph.n <= OWN_INVERSES
        )
        self._bind(alpha=self._first_alpha, beta=self.beta, n_clusters=graph.n_components)

    def _bind(self, **scalars: Any) -> None:
        self.compiled = kernels.GLMClub.make(
            **(scalars or self.compiled.scalars()),
            ridge=self._models.struct,
            fit=self._fits.struct,
            own=self._estimates.struct,
            store=self._store,
            link=self.link.compiled,
            graph=self._graph.struct,
            **self._per_user.arrays,
            **self._work(),
        )

    # -- users ---------------------------------------------------------------------------------

    def _join(self, user: Hashable) -> int:
        links = self._graph.links_of_newcomer()
        number, label, merged = self._graph.join()
        if self._graph.capacity > self._models.capacity or number == OWN_INVERSES:
            self._models.reserve(self._graph.capacity)
            self._per_user.reserve(self._graph.capacity)
            self._fits.reserve(self._models.arrays["weights"])
            self._estimates.reserve(self._per_user.arrays["weights"], self._graph.n <= OWN_INVERSES)
        self._bind()
        if self._graph.arrays["size"][label] == 1:
            self._models.clear(label)
            self._fits.clear(label)
        if merged:
            kernels.merge(self.compiled, label, np.array([label, *merged]))
        kernels.refresh_weights(self.compiled, links)
        self.compiled.n_clusters = self._graph.n_components
        self._numbers[user] = number
        return number

    def _pool(self, labels: Ints, guest: Models) -> None:
        if len(labels):
            fit = Likelihoods(
                guest.arrays["weights"], penalty=self.penalty, online=self.solver == "online"
            )
            kernels.pool_new_user(self.compiled, labels, guest.struct, fit.struct)

    def _counts(self, numbers: Ints) -> Ints:
        counts: Ints = self._per_user.arrays["count"][numbers]
        return counts

    # -- answers -------------------------------------------------------------------------------

    def scores(self, user: Hashable, items: Items) -> Floats:
        """Return the upper confidence bound of every item's click, capped at 1."""
        mean, width, radius = self._parts(user, items)
        return np.minimum(self.link.mu(mean + radius * width), 1.0)

    def user_weights(self, user: Hashable) -> Floats:
        """Return the weights learned from this user alone (theta_i)."""
        number = self._known(user)
        with self._lock:
            if self._graph.arrays["degree"][number] == 0 and self.solver == "exact":
                label = self._graph.arrays["label"][number]  # alone: its model is its own estimate
                return np.array(self._models.arrays["weights"][label])
            return np.array(self._per_user.arrays["weights"][number])

    def statistics(self, user: Hashable) -> tuple[Floats, Floats, int]:
        """Return the user's own (gram, moment, count); no ridge term inside ``gram``."""
        number = self._known(user)
        with self._lock:
            a, count = self._per_user.arrays, int(self._per_user.arrays["count"][number])
            if self.solver == "online":
                return np.array(a["gram"][number]), np.array(a["moment"][number]), count
            ids, looks, clicks = self._estimates.counts(number)
            rows = samples.items_of(self._store)[ids]
            return (rows.T * looks) @ rows, clicks @ rows, count

    def state(self) -> dict[str, Any]:
        """Return all that was learned: arrays (copies) and plain values."""
        with self._lock:
            met = np.flatnonzero(self._per_user.arrays["count"])
            n_labels = self._graph.n_labels
            fits = self._fits.state(np.arange(n_labels))
            return {
                "users": list(self._numbers),
                "tally": np.array([self.compiled.n_clusters]),
                "alpha": np.array([self.alpha]),
                "met": met,
                "items": samples.items_of(self._store),
                **self._per_user.state(met),
                **{f"own_{name}": value for name, value in self._estimates.state(met).items()},
                **{f"graph_{name}": value for name, value in self._graph.state().items()},
                **self._models.state(n_labels),
                **{f"fit_{name}": value for name, value in fits.items()},
            }

    def _take(self, state: dict[str, Any]) -> None:
        self._take_users(state)
        self._store = make_store(self.n_features, array_of(state, "items", (-1, self.n_features)))
        n_models = self._graph.n_labels
        self._models.load_state(state, n_models)
        n_clusters = int(array_of(state, "tally", (1,), np.int64)[0])
        self._check_components(n_clusters)
        self.compiled.assign(n_clusters=n_clusters, alpha=array_of(state, "alpha", (1,))[0])
        self._fits.load_state(np.arange(n_models), state, "fit_")
        met = array_of(state, "met", (-1,), np.int64, below=self._graph.n)
        if not (np.diff(met) > 0).all():
            raise ValueError("met must rise")
        self._estimates.load_state(met, state, "own_")
        self._per_user.load_state(met, state)
        self._bind()

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Yield both solvers, complete and random starts, early and late users."""
        yield cls(n_features=3, users=range(6), alpha=1.0, beta=0.5, reg=1.0)
        yield cls(n_features=3, link="probit", alpha=0.8, beta=0.5, reg=1.0)
        yield cls(
            n_features=3, users=range(4), alpha=1.0, start="random", edge_probability=0.6, seed=5
        )
        yield cls(n_features=3, users=range(3), alpha=1.0, beta=0.5, reg=1.0, solver="online")
