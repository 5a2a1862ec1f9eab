"""CascadeLinUCB: one linear model for all users, in its own parametrisation."""

from collections.abc import Iterator
from typing import Self

from clubcascade import validation
from clubcascade.learners.grouped import GroupedModels
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.policies._mixins import LinearScoresMixin


class CascadeLinUCB(LinearScoresMixin, CompiledPolicy):
    """CascadeLinUCB: ``M = I + X'X / sigma^2``, score ``theta.x + c sqrt(x' M^-1 x)``.

    This is the ridge model with ``reg = sigma^2`` and the bonus ``c sigma``; the package computes
    it so.

    Parameters
    ----------
    n_features
        Number of features of an item.
    sigma
        Learning rate: the standard deviation that the model ascribes to a click.
    c
        Degree of optimism.

    References
    ----------
    Zong, Ni, Sung, Ke, Wen and Kveton, "Cascading bandits for large-scale recommendation
    problems", UAI 2016, Algorithm 2.

    Examples
    --------
    >>> import numpy as np
    >>> policy = CascadeLinUCB(n_features=2, c=0.1)
    >>> items = np.eye(2)
    >>> policy.update("alice", items[[1, 0]], click=0)
    >>> policy.recommend("bob", items, k=1)
    array([1])
    """

    def __init__(self, *, n_features: int, sigma: float = 1.0, c: float = 1.0) -> None:
        self.n_features = validation.whole("n_features", n_features, low=1)
        self.sigma = validation.deviation("sigma", sigma)
        self.c = validation.factor("c", c)
        radius = (self.c * self.sigma, 0.0, 1.0)
        super().__init__(
            GroupedModels(
                self.n_features, self.sigma**2, radius, lambda user, number: 0, n_models=1
            )
        )

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(n_features=3)
        yield cls(n_features=3, sigma=0.5, c=0.3)
