"""MultipleLinUCB: every user has a linear model of its own."""

from collections.abc import Iterator, Sequence
from typing import Self

from clubcascade import validation
from clubcascade.learners.grouped import GroupedModels
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.policies._mixins import LinearScoresMixin


class MultipleLinUCB(LinearScoresMixin, CompiledPolicy):
    """One linear model per user: nothing is shared.

    Parameters
    ----------
    n_features
        Number of features of an item.
    beta
        Exploration constant.
    reg
        Ridge constant.
    discounts
        As for :class:`clubcascade.ClubCascade`.

    References
    ----------
    Li, "Online clustering of contextual cascading bandits", AAAI 2018, "Other comparisons".

    Examples
    --------
    >>> import numpy as np
    >>> policy = MultipleLinUCB(n_features=2, beta=0.1)
    >>> items = np.eye(2)
    >>> policy.update("alice", items[[1, 0]], click=0)
    >>> policy.recommend("alice", items, k=1), policy.recommend("bob", items, k=1)
    (array([1]), array([0]))
    """

    def __init__(
        self,
        *,
        n_features: int,
        beta: float = 1.0,
        reg: float = 4.0,
        discounts: Sequence[float] | None = None,
    ) -> None:
        self.n_features = validation.whole("n_features", n_features, low=1)
        self.beta = validation.factor("beta", beta)
        self.reg = validation.ridge("reg", reg)
        self.discounts = validation.discounts("discounts", discounts)
        learner = GroupedModels(
            self.n_features,
            self.reg,
            (self.beta, 0.0, 1.0),
            lambda user, number: number,
            discounts=self.discounts,
        )
        super().__init__(learner)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(n_features=3, beta=0.5)
        yield cls(n_features=3, beta=0.5, discounts=(1.0, 0.7, 0.5))
