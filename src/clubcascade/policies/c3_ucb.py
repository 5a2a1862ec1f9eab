"""C3-UCB: one linear model for all users."""

from collections.abc import Iterator, Sequence
from typing import Literal, Self

from clubcascade import validation
from clubcascade.learners.grouped import GroupedModels
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.policies._mixins import LinearScoresMixin


class C3UCB(LinearScoresMixin, CompiledPolicy):
    """C3-UCB for clicks: all users share one linear model.

    Parameters
    ----------
    n_features
        Number of features of an item.
    beta
        ``"growing"``: the confidence radius of the paper,
        ``noise sqrt(ln(det M / (reg^d delta^2))) + sqrt(reg)``; or a constant.
    reg
        Ridge constant; the paper's theory wants at least k.
    delta
        Probability with which the growing radius may fail.
    noise
        Sub-Gaussian constant of a click around its probability; 1/2 for clicks in {0, 1}.
    discounts
        As for :class:`clubcascade.ClubCascade`.

    References
    ----------
    Li, Wang, Zhang and Chen, "Contextual combinatorial cascading bandits", ICML 2016, Algorithm 1
    with the binary OR reward (Section 4.2.2). Its regression is on ``discounts[p] * x`` and
    ``discounts[p] * click``.

    Examples
    --------
    >>> import numpy as np
    >>> policy = C3UCB(n_features=2, beta=0.1)
    >>> items = np.eye(2)
    >>> policy.update("alice", items[[1, 0]], click=0)
    >>> policy.recommend("bob", items, k=1)
    array([1])
    """

    def __init__(
        self,
        *,
        n_features: int,
        beta: float | Literal["growing"] = "growing",
        reg: float = 4.0,
        delta: float = 0.05,
        noise: float = 0.5,
        discounts: Sequence[float] | None = None,
    ) -> None:
        self.n_features = validation.whole("n_features", n_features, low=1)
        self.beta: float | Literal["growing"] = (
            "growing" if beta == "growing" else validation.factor("beta", beta)
        )
        self.reg = validation.ridge("reg", reg)
        self.delta = validation.number("delta", delta, low=0, open_low=True, high=1)
        self.noise = validation.number(
            "noise", noise, low=0, open_low=True, high=validation.MOST_FACTOR
        )
        if self.beta == "growing":
            radius = (0.0, self.noise, self.delta)
        else:
            radius = (self.beta, 0.0, 1.0)
        self.discounts = validation.discounts("discounts", discounts)
        learner = GroupedModels(
            self.n_features,
            self.reg,
            radius,
            lambda user, number: 0,
            discounts=self.discounts,
            n_models=1,
        )
        super().__init__(learner)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(n_features=3)
        yield cls(n_features=3, discounts=[1.0, 0.8])
        yield cls(n_features=3, beta=0.5, reg=1.0)
