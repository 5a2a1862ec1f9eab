"""C3-UCB with a link function: one generalized linear model for all users."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Self

from clubcascade.links import Link
from clubcascade.policies._glm_grouped import GLMGroupedPolicy
from clubcascade.policies._glm_parameters import Solver


class C3UCBGLM(GLMGroupedPolicy):
    """One generalized linear model for all users.

    Parameters
    ----------
    n_features
        Number of features of an item.
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
        Take ``beta`` from Theorem 4, with one cluster.

    References
    ----------
    Li, "Online clustering of contextual cascading bandits", AAAI 2018, "Extensions to generalized
    linear rewards", with one cluster; Filippi, Cappé, Garivier and Szepesvári, "Parametric
    bandits: the generalized linear case", NeurIPS 2010.

    Examples
    --------
    >>> import numpy as np
    >>> policy = C3UCBGLM(n_features=2, link="logistic", beta=0.1)
    >>> items = np.eye(2)
    >>> policy.update("alice", items[[1, 0]], click=0)
    >>> policy.recommend("bob", items, k=1)
    array([1])
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
            n_clusters=1,
            item_eigenvalue=item_eigenvalue,
        )
        self._open(0)

    def _group_of(self, user: Hashable) -> int:
        return 0

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Yield both solvers and another link."""
        yield cls(n_features=3, beta=0.5)
        yield cls(n_features=3, link="probit", beta=0.5, reg=1.0, solver="online")
