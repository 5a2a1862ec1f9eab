"""CascadeWOFUL: one linear model for all users, each click weighted by a bound on its variance."""

from collections.abc import Hashable, Iterator, Mapping
from typing import Any, Literal, Self

import numpy as np

from clubcascade import validation
from clubcascade.core import Catalog, Floats, Ints, array_of
from clubcascade.kernels import entry_points
from clubcascade.kernels import weighted_ridge as kernels
from clubcascade.learners.models import Models
from clubcascade.learners.ridge import RidgeLearner
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.policies._mixins import LinearScoresMixin

NOISE = 0.5
"""Sub-Gaussian constant of a click around its probability."""


class _WeightedModel(RidgeLearner):
    """The weighted model of all users, and the plain one that its weights come from."""

    weighting = "whole"  # its own weights would be those of scaled items

    def __init__(self, n_features: int, reg: float, radius: tuple[float, float, float]) -> None:
        super().__init__(Models(n_features, reg, capacity=2, log_det=radius[1] > 0.0), radius)
        for g in (kernels.WEIGHTED, kernels.PLAIN):
            self.models.clear(g)
        beta, noise, delta = radius
        self.compiled = kernels.WeightedRidge.make(
            ridge=self.models.struct, beta=beta, noise=noise, delta=delta, longest=1
        )

    def model_of(self, user: Hashable, number: int) -> tuple[Models, int]:
        return self.models, kernels.WEIGHTED

    def confidence_radius(self, models: Models, g: int) -> float:
        """Return the radius of the weighted model."""
        return kernels.bernstein_radius(models.struct, *self.radius, self.compiled.longest)

    def rank_new_user(
        self, user: Hashable, number: int, items: Floats | Catalog, rows: Ints, scores: Floats
    ) -> None:
        if isinstance(items, Catalog):
            view = self.ranking_view(items, len(rows))
            entry_points.rank_catalog(self.compiled, 0, view, rows, scores)
        else:
            entry_points.rank_items(self.compiled, 0, items, rows, scores)

    def state(self, n_users: int) -> dict[str, Any]:
        return {"longest": np.array([self.compiled.longest]), **self.models.state(2)}

    def load_state(self, state: dict[str, Any], users: Mapping[Hashable, int]) -> None:
        longest = int(array_of(state, "longest", (1,), np.int64)[0])
        if longest < 1:
            raise ValueError(f"longest must be at least 1, got {longest}")
        self.models.load_state(state, 2)
        self.compiled.longest = longest


class CascadeWOFUL(LinearScoresMixin, CompiledPolicy):
    """CascadeWOFUL: all users share one linear model, fitted with weights that know variances.

    Clicks are rare, and a rare click has a small variance: at most its probability. A first ridge
    regression gives the upper confidence bound U of an item's click, before its list is learned. A
    second one weighs what is seen of the item by ``1 / max(min(U, 1), 1/k)``, where k is the length
    of the list. Lists are those of the largest upper confidence bounds of the second.

    Parameters
    ----------
    n_features
        Number of features of an item.
    beta
        ``"growing"``: the radii of the theory; or a constant, for both regressions.
    reg
        Ridge constant of both regressions.
    delta
        Probability with which each of the two growing radii may fail.

    Notes
    -----
    The growing radius of the first regression is that of :class:`clubcascade.C3UCB`, with noise
    1/2. That of the second is ``8 sqrt(d ln(1 + n k / (d reg)) ln(4 n^2 / delta)) + 4 sqrt(k)
    ln(4 n^2 / delta) + sqrt(reg)`` after n observations: the Bernstein inequality of weighted OFUL,
    for variances of at most 1 after weighting and errors of at most sqrt(k), with k the longest
    list so far. Constants, ridge and the floor 1/k are chosen here, after the paper's abstract and
    introduction: they were not held against its full text. With lists of one item all weights are
    1, and this is OFUL.

    References
    ----------
    Vial, Sanghavi, Shakkottai and Srikant, "Minimax regret for cascading bandits", NeurIPS 2022:
    the variance-aware algorithm for linear rewards. Zhou, Gu and Szepesvári, "Nearly minimax
    optimal reinforcement learning for linear mixture Markov decision processes", COLT 2021: the
    Bernstein inequality.

    Examples
    --------
    >>> policy = CascadeWOFUL(n_features=2, beta=0.1)
    >>> items = np.eye(2)
    >>> policy.update("alice", items[[1, 0]], click=0)
    >>> policy.recommend("bob", items, k=1)
    array([1])
    """

    _learner: _WeightedModel

    def __init__(
        self,
        *,
        n_features: int,
        beta: float | Literal["growing"] = "growing",
        reg: float = 1.0,
        delta: float = 0.05,
    ) -> None:
        self.n_features = validation.whole("n_features", n_features, low=1)
        self.beta: float | Literal["growing"] = (
            "growing" if beta == "growing" else validation.factor("beta", beta)
        )
        self.reg = validation.ridge("reg", reg)
        self.delta = validation.number("delta", delta, low=0, open_low=True, high=1)
        radius = (0.0, NOISE, self.delta) if self.beta == "growing" else (self.beta, 0.0, 1.0)
        super().__init__(_WeightedModel(self.n_features, self.reg, radius))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(n_features=3)
        yield cls(n_features=3, beta=0.5)
