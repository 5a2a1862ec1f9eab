"""Models over sets of users that split and merge: one per cluster, and one per user."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from clubcascade.core import Floats, Ints, array_of, fill
from clubcascade.core.paged_arrays import grown
from clubcascade.kernels.edge_deletion import radius_of
from clubcascade.kernels.sclub import SetClub
from clubcascade.learners.models import Models
from clubcascade.learners.ridge import RidgeLearner

_USERS = ("label", "rounds", "checked")
_CLUSTERS = ("size", "n_checked", "total_rounds", "fewest", "most", "pivot_count")


class SetClusters(RidgeLearner):
    """The clusters of SCLUB; the first one has all users who were never split off."""

    def __init__(
        self,
        d: int,
        n_users: int,
        *,
        alpha_theta: float,
        alpha_p: float,
        beta: float,
        reg: float,
    ) -> None:
        super().__init__(Models(d, reg, capacity=1), (beta, 0.0, 1.0))
        self._constants = {"alpha_theta": alpha_theta, "alpha_p": alpha_p, "beta": beta}
        self._allocate(n_users)
        self.models.clear(0)
        self._count(n_users, n_labels=1, n_rounds=0)

    def _allocate(self, n_users: int) -> None:
        """Make all arrays, for users of whom nothing is known."""
        d, reg, capacity = self.models.d, self.models.reg, max(n_users, 8)
        self.models, self.own = Models(d, reg, capacity), Models(d, reg, capacity)
        self._arrays = self._room(capacity)

    def _room(
        self, capacity: int, old: Mapping[str, npt.NDArray[Any]] | None = None
    ) -> dict[str, npt.NDArray[Any]]:
        """Return arrays for so many users, with what is in the old ones."""
        old = old or {}
        room = {
            name: grown(old.get(name), capacity, dtype=np.int64) for name in (*_USERS, *_CLUSTERS)
        }
        room["pivot"] = grown(old.get("pivot"), capacity, self.models.d)
        room |= {name: grown(old.get(name), capacity) for name in ("radius", "due")}
        room["radius"][len(old.get("radius", ())) :] = 1.0
        return room

    def _bind(self, **scalars: Any) -> None:
        """Bind the arrays into the structure that the kernels take."""
        self.compiled = SetClub.make(
            ridge=self.models.struct,
            own=self.own.struct,
            **self._arrays,
            **(scalars or self.compiled.scalars()),
        )

    def _count(self, n_users: int, n_labels: int, n_rounds: int) -> None:
        """Count the users of each cluster and their rounds, and bind it all."""
        a, phase = self._arrays, (n_rounds + 1).bit_length() - 1
        label, rounds = a["label"][:n_users], a["rounds"][:n_users]
        np.add.at(a["size"], label, 1)
        np.add.at(a["n_checked"], label, a["checked"][:n_users] == phase)
        np.add.at(a["total_rounds"], label, rounds)
        np.maximum.at(a["most"], label, rounds)
        a["fewest"][:] = a["most"]
        np.minimum.at(a["fewest"], label, rounds)
        for g in range(n_labels):
            a["radius"][g] = radius_of(self.models.arrays["count"][g], False)
        self._bind(
            **self._constants,
            n_users=n_users,
            n_labels=n_labels,
            n_clusters=int(np.count_nonzero(a["size"])),
            n_rounds=n_rounds,
            phase=phase,
        )

    def join(self, user: Hashable, number: int) -> None:
        if number == self.models.capacity:
            self.models.reserve(2 * number)
            self.own.reserve(2 * number)
            self._arrays = self._room(2 * number, self._arrays)
            self._bind()
        a = self._arrays
        self.compiled.assign(
            n_users=number + 1, n_clusters=self.compiled.n_clusters + int(a["size"][0] == 0)
        )
        a["size"][0] += 1
        a["fewest"][0] = 0

    def labels(self, n_users: int) -> Ints:
        return self._arrays["label"][:n_users]

    def model_of(self, user: Hashable, number: int) -> tuple[Models, int]:
        """Return the model of a user's cluster; of a new user, that of the first one."""
        known = number < self.compiled.n_users
        return self.models, int(self._arrays["label"][number]) if known else 0

    def statistics(self, user: Hashable, number: int) -> tuple[Floats, Floats, int]:
        a = self.own.arrays
        return np.array(a["gram"][number]), np.array(a["moment"][number]), int(a["count"][number])

    def user_weights(self, user: Hashable, number: int) -> Floats:
        return np.array(self.own.arrays["weights"][number])

    def state(self, n_users: int) -> dict[str, Any]:
        now, a = self.compiled.scalars(), self._arrays
        n_labels = now["n_labels"]
        return {
            "n_rounds": np.array([now["n_rounds"]]),
            **{name: a[name][:n_users].copy() for name in _USERS},
            **{name: a[name][:n_labels].copy() for name in ("pivot", "pivot_count")},
            **self.own.state(n_users, "user_"),
            **self.models.state(n_labels),
        }

    def load_state(self, state: dict[str, Any], users: Mapping[Hashable, int]) -> None:
        n = len(users)
        n_labels = len(array_of(state, "pivot_count", (-1,), np.int64))
        n_rounds = int(array_of(state, "n_rounds", (1,), np.int64)[0])
        if not 1 <= n_labels <= max(n, 1):
            raise ValueError(f"pivot_count must be of 1 to {max(n, 1)} clusters, got {n_labels}")
        self._allocate(n)
        a = self._arrays
        for name in _USERS:
            fill(a[name][:n], state, name, below=n_labels if name == "label" else n_rounds + 1)
        if a["rounds"].sum() != n_rounds:
            raise ValueError(f"rounds must add up to {n_rounds}, got {a['rounds'].sum()}")
        for name in ("pivot", "pivot_count"):
            fill(a[name][:n_labels], state, name)
        self.own.load_state(state, n, "user_")
        self.models.load_state(state, n_labels)
        self._count(n, n_labels, n_rounds)
