"""Ridge policies over a partition of the users that does not change."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from clubcascade.core import Ints, array_of
from clubcascade.kernels import grouped as kernels
from clubcascade.policies._models import Models
from clubcascade.policies._ridge_policy import RidgePolicy
from clubcascade.policies._users import numbered


class GroupedPolicy(RidgePolicy):
    """The model of a user is known when the user joins; subclasses say which one it is.

    ``radius`` = (beta, noise, delta), see :func:`clubcascade.kernels.grouped.confidence_radius`.
    """

    def __init__(
        self,
        n_features: int,
        reg: float,
        radius: tuple[float, float, float],
        discounts: Sequence[float] | None = None,
    ) -> None:
        super().__init__()
        self.n_features = n_features
        self._models = Models(n_features, reg, capacity=1, log_det=radius[1] > 0.0)
        self._group = np.zeros(8, np.int64)
        self._n_models = 0
        self._radius_parts, self._discounts = radius, np.array(discounts or (), dtype=float)
        self._bind()

    def _bind(self) -> None:
        beta, noise, delta = self._radius
        self.compiled = kernels.Grouped.make(
            ridge=self._models.struct,
            group=self._group,
            discounts=self._discounts,
            beta=beta,
            noise=noise,
            delta=delta,
            n_clusters=self._n_models,
        )

    @abstractmethod
    def _group_of(self, user: Hashable) -> int:
        """Return the model of a user; a number that was never given opens a new model."""

    @property
    def _radius(self) -> tuple[float, float, float]:
        return self._radius_parts

    def labels(self) -> Ints:
        """Return the model of each user, in the order of their numbers."""
        return self._group[: len(self._numbers)]

    def _model_of(self, user: Hashable) -> tuple[Models, int]:
        g = self._group_of(user)
        if g < self._n_models:
            return self._models, g
        empty = Models(self.n_features, self._models.reg, capacity=1)
        empty.clear(0)
        return empty, 0

    def _open(self, g: int) -> None:
        if g < self._n_models:
            return
        if g >= self._models.capacity:
            self._models.reserve(max(2 * self._models.capacity, g + 1))
        self._models.clear(g)
        self._n_models = g + 1
        self._bind()

    def _join(self, user: Hashable) -> int:
        number = len(self._numbers)
        if number == len(self._group):
            self._group = np.append(self._group, np.zeros(number, np.int64))
            self._bind()
        g = self._group_of(user)
        self._open(g)
        self._group[number] = g
        self._numbers[user] = number
        return number

    def state(self) -> dict[str, Any]:
        """Return all that was learned: arrays (copies) and plain values."""
        with self._lock:
            n = len(self._numbers)
            models = self._models.state(self._n_models)
            return {"users": list(self._numbers), "group": self._group[:n].copy(), **models}

    def _take(self, state: dict[str, Any]) -> None:
        self._numbers = numbered(state["users"])
        found = len(array_of(state, "model_gram", (-1, self.n_features, self.n_features)))
        group = array_of(state, "group", (len(self._numbers),), np.int64, below=found)
        if group.tolist() != [self._group_of(user) for user in self._numbers]:
            raise ValueError("group must be the model of each user")
        n_models = max(self._n_models, 1 + int(group.max(initial=-1)))
        self._models.reserve(max(n_models, self._models.capacity))
        self._models.load_state(state, n_models)
        self._n_models = n_models
        self._group = np.append(group, np.zeros(8, np.int64))
        self._bind()
