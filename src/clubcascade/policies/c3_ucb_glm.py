"""C3-UCB with a link function: one generalized linear model for all users."""

from collections.abc import Iterator
from typing import Self

from clubcascade.learners.grouped import GroupedModels
from clubcascade.learners.likelihoods import Solver
from clubcascade.links import Link
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.policies._glm import GLMMixin


class C3UCBGLM(GLMMixin, CompiledPolicy):
    """One generalized linear model for all users.

    Parameters
    ----------
    n_features
        Number of features of an item.
    link, beta, reg, penalty, solver
        As for :class:`clubcascade.ClubCascadeGLM`.

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
    ) -> None:
        glm = self._read_glm(n_features, link, beta, reg, penalty, solver)
        radius = (self.beta, 0.0, 1.0)
        super().__init__(
            GroupedModels(
                self.n_features, self.reg, radius, lambda user, number: 0, glm=glm, n_models=1
            )
        )

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(n_features=3, beta=0.5)
        yield cls(n_features=3, link="probit", beta=0.5, reg=1.0, solver="online")
