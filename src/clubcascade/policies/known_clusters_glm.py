"""Known clusters with a link function: one generalized linear model per true cluster."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from typing import Any, Self

from clubcascade.errors import UnknownUser
from clubcascade.links import Link
from clubcascade.policies._glm_grouped import GLMGroupedPolicy
from clubcascade.policies._glm_parameters import Solver
from clubcascade.policies.known_clusters import _kept, _read_partition


class KnownClustersGLM(GLMGroupedPolicy):
    """A generalized linear model per cluster of a partition that is given.

    Parameters
    ----------
    n_features
        Number of features of an item.
    partition
        The clusters as a list of sets of users, a mapping user -> label, or an array with the
        label of users 0, 1, ...
    link
        ``"logistic"``, ``"probit"``, ``"identity"``, or a :class:`clubcascade.Link`.
    beta
        Exploration constant, in units of ``weights . x``; 1 over the link's largest slope unless
        ``horizon`` and ``item_eigenvalue`` name the theorem's.
    reg
        Ridge constant of the widths.
    penalty
        Penalty of the weights in Equation (8); by default ``reg`` times the largest slope.
    solver
        ``"exact"`` or ``"online"``, as for :class:`clubcascade.ClubCascadeGLM`.
    horizon, item_eigenvalue
        Take ``beta`` from Theorem 4, with the clusters of the partition.

    References
    ----------
    Li, "Online clustering of contextual cascading bandits", AAAI 2018, "Discussions" and
    "Extensions to generalized linear rewards".

    Examples
    --------
    >>> import numpy as np
    >>> policy = KnownClustersGLM(n_features=2, partition=[{"alice", "bob"}, {"carol"}], beta=0.1)
    >>> items = np.eye(2)
    >>> policy.update("alice", items[[1, 0]], click=0)
    >>> policy.recommend("bob", items, k=1), policy.recommend("carol", items, k=1)
    (array([1]), array([0]))
    """

    def __init__(
        self,
        *,
        n_features: int,
        partition: Iterable[Collection[Hashable]] | Mapping[Any, Any],
        link: str | Link = "logistic",
        beta: float | None = None,
        reg: float = 4.0,
        penalty: float | None = None,
        solver: Solver = "exact",
        horizon: int | None = None,
        item_eigenvalue: float | None = None,
    ) -> None:
        self.partition = _kept(partition)
        self._cluster = _read_partition(self.partition)
        n_clusters = len(set(self._cluster.values()))
        super().__init__(
            n_features,
            link=link,
            beta=beta,
            reg=reg,
            penalty=penalty,
            solver=solver,
            horizon=horizon,
            n_clusters=n_clusters,
            item_eigenvalue=item_eigenvalue,
        )
        for g in range(n_clusters):
            self._open(g)
        for user in self._cluster:
            self._join(user)

    def _group_of(self, user: Hashable) -> int:
        try:
            return self._cluster[user]
        except KeyError:
            raise UnknownUser(
                f"user must be in the partition, which names {len(self._cluster)} users, "
                f"got {user!r}"
            ) from None

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Yield a partition of the users that the checks play with."""
        yield cls(n_features=3, partition={user: user % 2 for user in range(12)})
