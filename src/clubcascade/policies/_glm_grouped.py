"""Policies with a link function over a partition of the users that does not change."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from clubcascade import validation
from clubcascade.core import Floats, Items, array_of
from clubcascade.kernels import glm_grouped as kernels
from clubcascade.kernels import samples
from clubcascade.links import Link, read_link
from clubcascade.policies._glm_parameters import Solver, read_beta, read_penalty, read_solver
from clubcascade.policies._grouped import GroupedPolicy
from clubcascade.policies._likelihoods import Likelihoods, make_store


class GLMGroupedPolicy(GroupedPolicy):
    """One generalized linear model per group of users; subclasses say which group a user has."""

    def __init__(
        self,
        n_features: int,
        *,
        link: str | Link,
        beta: float | None,
        reg: float,
        penalty: float | None,
        solver: Solver,
        horizon: int | None,
        n_clusters: int | None,
        item_eigenvalue: float | None,
    ) -> None:
        d = validation.whole("n_features", n_features, low=1)
        self.link = read_link(link)
        self.reg = validation.ridge("reg", reg)
        self.solver = read_solver(solver)
        self.horizon, self.n_clusters = horizon, n_clusters
        self.item_eigenvalue = item_eigenvalue
        self._given = {"beta": beta, "penalty": penalty, "link": self.link.saved()}
        self.penalty = read_penalty(penalty, self.link, self.reg)
        self.beta = read_beta(beta, self.link, d, horizon, n_clusters, item_eigenvalue)
        self._store = make_store(d)
        self._fits: Likelihoods | None = None
        super().__init__(d, self.reg, (self.beta, 0.0, 1.0))

    @property
    def params(self) -> dict[str, Any]:
        """The constructor's arguments, as they were given; an own link as its table."""
        return super().params | self._given

    def _bind(self) -> None:
        weights = self._models.arrays["weights"]
        if self._fits is None:
            self._fits = Likelihoods(weights, penalty=self.penalty, online=self.solver == "online")
        elif self._fits.arrays["weights"] is not weights:
            self._fits.reserve(weights)
        self.compiled = kernels.GLMGrouped.make(
            ridge=self._models.struct,
            fit=self._fits.struct,
            store=self._store,
            link=self.link.compiled,
            group=self._group,
            beta=self.beta,
            n_clusters=self._n_models,
        )

    def _open(self, g: int) -> None:
        new = g >= self._n_models
        super()._open(g)
        if new:
            assert self._fits is not None
            self._fits.clear(g)

    def scores(self, user: Hashable, items: Items) -> Floats:
        """Return the upper confidence bound of every item's click, capped at 1."""
        mean, width, radius = self._parts(user, items)
        return np.minimum(self.link.mu(mean + radius * width), 1.0)

    def state(self) -> dict[str, Any]:
        """Return all that was learned: arrays (copies) and plain values."""
        with self._lock:
            assert self._fits is not None
            n, n_models = len(self._numbers), self._n_models
            fits = self._fits.state(np.arange(n_models))
            return {
                "users": list(self._numbers),
                "group": self._group[:n].copy(),
                "items": samples.items_of(self._store),
                **self._models.state(n_models),
                **{f"fit_{name}": value for name, value in fits.items()},
            }

    def _take(self, state: dict[str, Any]) -> None:
        self._store = make_store(self.n_features, array_of(state, "items", (-1, self.n_features)))
        super()._take(state)
        assert self._fits is not None
        self._fits.load_state(np.arange(self._n_models), state, "fit_")
