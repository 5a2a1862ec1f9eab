"""MultipleGLM: every user has a generalized linear model of its own."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Self

from clubcascade.links import Link
from clubcascade.policies._glm_grouped import GLMGroupedPolicy
from clubcascade.policies._glm_parameters import Solver


class MultipleGLM(GLMGroupedPolicy):
    """One generalized linear model per user: nothing is shared.

    Parameters
    ----------
    n_features
        Number of features of an item.
    link
        ``"logistic"``, ``"probit"``, ``"identity"``, or a :class:`clubcascade.Link`.
    beta
        Exploration constant, in units of ``weights . x``; 1 over the link's largest slope unless
        ``horizon``, ``n_clusters`` (here the number of users) and ``item_eigenvalue`` name the
        theorem's.
    reg
        Ridge constant of the widths.
    penalty
        Penalty of the weights in Equation (8); by default ``reg`` times the largest slope.
    solver
        ``"exact"`` or ``"online"``, as for :class:`clubcascade.ClubCascadeGLM`.
    horizon, n_clusters, item_eigenvalue
        Take ``beta`` from Theorem 4.

    References
    ----------
    Li, "Online clustering of contextual cascading bandits", AAAI 2018, "Other comparisons" and
    "Extensions to generalized linear rewards".

    Examples
    --------
    >>> import numpy as np
    >>> policy = MultipleGLM(n_features=2, link="logistic", beta=0.1)
    >>> items = np.eye(2)
    >>> policy.update("alice", items[[1, 0]], click=0)
    >>> policy.recommend("alice", items, k=1), policy.recommend("bob", items, k=1)
    (array([1]), array([0]))
    """

    def __init__(
        self,
        *,
        n_features: int,
        link: str | Link = "logistic",
        beta: float | None = None,
        reg: float = 4.0,
        penalty: float | None = None,
        solver: Solver = "exact",
        horizon: int | None = None,
        n_clusters: int | None = None,
        item_eigenvalue: float | None = None,
    ) -> None:
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

    def _group_of(self, user: Hashable) -> int:
        return self._numbers.get(user, len(self._numbers))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Yield both solvers."""
        yield cls(n_features=3, beta=0.5)
        yield cls(n_features=3, beta=0.5, solver="online")
