"""MultipleGLM: every user has a generalized linear model of its own."""

from collections.abc import Iterator
from typing import Self

from clubcascade.learners.grouped import GroupedModels
from clubcascade.learners.likelihoods import Solver
from clubcascade.links import Link
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.policies._glm import GLMMixin


class MultipleGLM(GLMMixin, CompiledPolicy):
    """One generalized linear model per user: nothing is shared.

    Parameters
    ----------
    n_features
        Number of features of an item.
    link, beta, reg, penalty, solver
        As for :class:`clubcascade.ClubCascadeGLM`.

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
    ) -> None:
        glm = self._read_glm(n_features, link, beta, reg, penalty, solver)
        radius = (self.beta, 0.0, 1.0)
        super().__init__(
            GroupedModels(self.n_features, self.reg, radius, lambda user, number: number, glm=glm)
        )

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(n_features=3, beta=0.5)
        yield cls(n_features=3, beta=0.5, solver="online")
