"""Models over a partition of the users that does not change: one for all, one each, or clusters."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from clubcascade.core import Ints, array_of
from clubcascade.core.paged_arrays import grown
from clubcascade.kernels import glm_grouped, grouped, ridge, samples
from clubcascade.learners.likelihoods import GLM, make_store
from clubcascade.learners.models import Models
from clubcascade.learners.ridge import RidgeLearner


class GroupedModels(RidgeLearner):
    """The model of a user is known when the user joins.

    ``radius`` is beta, noise and delta of :func:`clubcascade.kernels.grouped.confidence_radius`.
    ``group_of`` gives the number of a user's model, from the user and its number; a new number
    opens a new model. Without ``glm`` the models are linear.
    """

    def __init__(
        self,
        n_features: int,
        reg: float,
        radius: tuple[float, float, float],
        group_of: Callable[[Hashable, int], int],
        *,
        discounts: Sequence[float] | None = None,
        glm: GLM | None = None,
        n_models: int = 0,
    ) -> None:
        models = Models(n_features, reg, capacity=max(n_models, 1), log_det=radius[1] > 0.0)
        super().__init__(models, radius, None if glm is None else glm.link)
        self.group_of, self.glm = group_of, glm
        self.group: Ints = grown(None, 8, dtype=np.int64)
        self.n_models = 0
        self._discounts = np.array(discounts or (), dtype=float)
        if glm is not None:
            self.fits = glm.likelihoods(models.arrays["weights"])
            self.store = make_store(n_features)
        self._bind()
        for g in range(n_models):
            self._open(g)

    def _bind(self) -> None:
        """Bind the arrays into the structure that the kernels take."""
        beta, noise, delta = self.radius
        known = {
            "ridge": self.models.struct,
            "group": self.group,
            "beta": beta,
            "n_clusters": self.n_models,
        }
        if self.glm is None:
            self.compiled = grouped.Grouped.make(
                **known, discounts=self._discounts, noise=noise, delta=delta
            )
            return
        if self.fits.capacity < self.models.capacity:
            self.fits.reserve(self.models.arrays["weights"])
        self.compiled = glm_grouped.GLMGrouped.make(
            **known, fit=self.fits.struct, store=self.store, link=self.glm.link.compiled
        )

    def _open(self, g: int) -> None:
        """Open model ``g``, unless it is open."""
        if g < self.n_models:
            return
        if g >= self.models.capacity:
            self.models.reserve(max(2 * self.models.capacity, g + 1))
        ridge.clear_many(self.models.struct, self.n_models, g + 1)
        opened = range(self.n_models, g + 1)
        self.n_models = g + 1
        self._bind()
        if self.glm is not None:
            for each in opened:
                self.fits.clear(each)

    def check_newcomer(self, user: Hashable) -> None:
        self.group_of(user, 0)

    def join(self, user: Hashable, number: int) -> None:
        self.join_many((user,), number)

    def join_many(self, users: Sequence[Hashable], first: int) -> None:
        groups = [self.group_of(user, number) for number, user in enumerate(users, first)]
        last = first + len(groups)
        if last > len(self.group):
            self.group = grown(self.group, 2 * last)
            self._bind()
        self._open(max(groups, default=-1))
        self.group[first:last] = groups

    def labels(self, n_users: int) -> Ints:
        return self.group[:n_users]

    def model_of(self, user: Hashable, number: int) -> tuple[Models, int]:
        """Return the model of a user; one that has seen nothing if it is not open yet."""
        g = self.group_of(user, number)
        if g < self.n_models:
            return self.models, g
        empty = Models(self.models.d, self.models.reg, capacity=1)
        empty.clear(0)
        return empty, 0

    def state(self, n_users: int) -> dict[str, Any]:
        kept = {"group": self.group[:n_users].copy(), **self.models.state(self.n_models)}
        if self.glm is not None:
            kept["items"] = samples.items_of(self.store)
            fits = self.fits.state(np.arange(self.n_models))
            kept |= {f"fit_{name}": value for name, value in fits.items()}
        return kept

    def load_state(self, state: dict[str, Any], users: Mapping[Hashable, int]) -> None:
        d = self.models.d
        found = len(array_of(state, "model_gram", (-1, d, d)))
        group = array_of(state, "group", (len(users),), np.int64, below=found)
        if group.tolist() != [self.group_of(*each) for each in users.items()]:
            raise ValueError("group must be the model of each user")
        self.n_models = max(self.n_models, 1 + int(group.max(initial=-1)))
        self.models.reserve(max(self.n_models, self.models.capacity))
        self.models.load_state(state, self.n_models)
        self.group = grown(None, len(group) + 8, dtype=np.int64)
        self.group[: len(group)] = group
        if self.glm is not None:
            self.store = make_store(d, array_of(state, "items", (-1, d)))
            self.fits = self.glm.likelihoods(self.models.arrays["weights"])
            self.fits.load_state(np.arange(self.n_models), state, "fit_")
        self._bind()
