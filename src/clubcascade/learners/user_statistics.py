"""What CLUB-cascade keeps of each user: statistics, and a ridge estimate of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from clubcascade.core import Floats, Ints, array_of, fill
from clubcascade.graph import UserGraph
from clubcascade.kernels import club, factors, user_ridge
from clubcascade.kernels.edge_deletion import BLOCK
from clubcascade.learners.arrays import aligned_zeros
from clubcascade.learners.models import OWN_INVERSES, Models

_ROWS = ("gram", "moment", "count", "inverse", "age")
_USERS = ("row", "weights", "radius")


class UserStatistics:
    """Statistics over ``d`` features of each user, and its ridge estimate.

    What is large (Gram matrices, inverses) is kept in rows that are given out as users first
    come; zeros are pages that the machine gives only when they are first written, so that users
    who never come cost a few hundred bytes each.

    Parameters
    ----------
    d
        Number of features.
    discounts
        What a click is worth at each position; empty for 1 at all of them.
    code2017
        Rank and compare as the 2017 code does.
    n_random
        Rounds at the start whose lists are random.
    key
        Key of the random numbers.
    """

    link = None

    def __init__(
        self,
        d: int,
        discounts: Sequence[float] | None = None,
        *,
        code2017: bool = False,
        n_random: int = 0,
        key: np.uint64 | None = None,
    ) -> None:
        self.d, self.capacity = d, 0
        self.arrays: dict[str, npt.NDArray[Any]] = {}
        self._bound = {
            "discounts": np.array(discounts or (), dtype=float),
            "key": np.uint64(0 if key is None else key),
            "elimination_work": aligned_zeros(d, -(-(d + 1) // 8) * 8),
        }
        counts = dict.fromkeys(("n_rows", "n_drawn", "n_updates"), 0)
        self._first: dict[str, Any] = {"code2017": code2017, "n_random": n_random, **counts}

    def bind(self, models: Models, graph: UserGraph, **more: Any) -> Any:
        """Return the structure that the kernels take."""
        fixed = {"ridge": models.struct, "graph": graph.struct, **self._bound}
        return club.Club.make(**fixed, **self.arrays, **(self._first | more))

    def allocate(self, models: Models, graph: UserGraph) -> None:
        """Make all arrays, for users of whom nothing is known."""
        self.arrays, self.capacity = {}, 0
        self.reserve(models, graph)

    def reserve(self, models: Models, graph: UserGraph) -> None:
        """Make room for as many users as the graph has room for; keeps what there is."""
        d, capacity, old = self.d, graph.capacity, self.arrays
        self.dense, inverses = graph.start.dense, capacity if graph.n <= OWN_INVERSES else 0
        room = -(-capacity // BLOCK) * BLOCK  # whole blocks, so that a loop over one has no rest
        self.arrays = {
            "gram": aligned_zeros(capacity, d, d),
            "moment": aligned_zeros(capacity, d),
            "count": np.zeros(capacity, np.int64),
            "inverse": aligned_zeros(inverses, d, d),
            "age": np.zeros(capacity, np.int64),
            "row": np.full(capacity, -1, np.int64),
            "weights": aligned_zeros(capacity, d),
            "radius": np.ones(room),
            "by_feature": aligned_zeros(d, room if self.dense else 0, dtype=np.float32),
            "by_user": aligned_zeros(*self._compared(capacity), dtype=np.float32),
        }
        used = 1 + int(old["row"].max()) if old else 0
        for name, value in old.items():
            if name in _ROWS and len(self.arrays[name]):
                self.arrays[name][:used] = value[:used]
            if name in _USERS:
                self.arrays[name][: self.capacity] = value[: self.capacity]
        self.capacity = capacity
        self._publish()

    def _compared(self, capacity: int) -> tuple[int, int]:
        """Rows of weights and radius, each in cache lines of its own."""
        return (0 if self.dense else capacity, -(-(self.d + 1) // 16) * 16)

    def _publish(self) -> None:
        """Write down what users compare: feature by feature in dense graphs, else user by user."""
        if self.dense:
            self.arrays["by_feature"][:, : self.capacity] = self.arrays["weights"].T
        else:
            self.arrays["by_user"][:, : self.d] = self.arrays["weights"]
            self.arrays["by_user"][:, self.d] = self.arrays["radius"][: self.capacity]

    def clear(self, label: int) -> None:
        """Do nothing: a component has no more than its ridge model."""

    def merge(self, compiled: Any, models: Models, label: int, merged: list[int]) -> None:
        """Add the statistics of the components ``merged`` to the model of another one."""
        models.merge(label, merged)

    def refresh(self, compiled: Any, users: Ints) -> None:
        """Bring the weights of these users up to date."""
        user_ridge.refresh_weights(compiled, users)

    def pool(self, compiled: Any, models: Models, labels: Ints, alone: Models) -> None:
        """Make model 0 of ``alone`` the one of all samples of these components."""
        for name in ("gram", "moment", "count"):
            alone.arrays[name][0] = models.arrays[name][labels].sum(axis=0)
        alone.renew(0)

    def counts(self, numbers: Ints) -> Ints:
        """Return how many samples there are of each of these users."""
        rows = self.arrays["row"][numbers]
        return np.where(rows >= 0, self.arrays["count"][rows], 0)

    def statistics(self, number: int) -> tuple[Floats, Floats, int]:
        """Return copies of a user's own (gram, moment, count)."""
        a, row = self.arrays, self.arrays["row"][number]
        if row < 0:
            return np.zeros((self.d, self.d)), np.zeros(self.d), 0
        return np.array(a["gram"][row]), np.array(a["moment"][row]), int(a["count"][row])

    def weights(self, number: int, models: Models, graph: UserGraph) -> Floats:
        """Return the ridge estimate of a user's own samples."""
        gram, moment, _ = self.statistics(number)
        work, out = np.empty((self.d, self.d + 1)), np.empty(self.d)
        factors.ridge_weights(gram, moment, models.reg, work, out)
        return out

    def state(self, compiled: Any, graph: UserGraph) -> dict[str, Any]:
        """Return copies of what is in use."""
        now, used = compiled.scalars(), compiled.n_rows
        return {
            "tally": np.array([now["n_rows"], now["n_clusters"]]),
            "draws": np.array([now["n_drawn"]]),
            "updates": np.array([now["n_updates"]]),
            **{f"user_{name}": self.arrays[name][:used].copy() for name in _ROWS},
            **{f"user_{name}": self.arrays[name][: graph.n].copy() for name in _USERS},
        }

    def load_state(self, state: dict[str, Any], compiled: Any, graph: UserGraph) -> int:
        """Take over what :meth:`state` returned; return the components that it tells of."""
        n_rows, n_clusters = array_of(state, "tally", (2,), np.int64).tolist()
        compiled.assign(n_rows=n_rows, n_drawn=int(array_of(state, "draws", (1,), np.int64)[0]))
        if "updates" in state:  # files of 0.1.0 have none
            compiled.n_updates = int(array_of(state, "updates", (1,), np.int64)[0])
        for name in _ROWS:
            fill(self.arrays[name][:n_rows], state, f"user_{name}")
        for name in _USERS:
            below = n_rows if name == "row" else None
            fill(self.arrays[name][: graph.n], state, f"user_{name}", below, low=-1)
        row = self.arrays["row"][: graph.n]
        if not np.array_equal(np.sort(row[row >= 0]), np.arange(n_rows)):
            raise ValueError(f"user_row must give each of {n_rows} rows to one user")
        self._publish()
        return int(n_clusters)
