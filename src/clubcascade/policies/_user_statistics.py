"""What CLUB-cascade keeps of each user: statistics in rows, given out as users first come."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from clubcascade.core import fill
from clubcascade.kernels.edge_deletion import BLOCK
from clubcascade.policies._arrays import aligned_zeros

OWN_INVERSES = 65_536
"""Users up to which each keeps the inverse of its own Gram matrix: more memory, less time."""

_ROWS = ("gram", "moment", "count", "inverse", "age")
_USERS = ("row", "weights", "radius")


class UserStatistics:
    """Statistics over ``d`` features for up to ``capacity`` users.

    What is large (Gram matrices, inverses) is kept in rows that are given out as users first
    come; zeros are pages that the machine gives only when they are first written, so that users
    who never come cost a few hundred bytes each.

    Parameters
    ----------
    d
        Number of features.
    capacity
        Users to make room for.
    n_users
        Users known; beyond ``OWN_INVERSES`` no inverses are kept.
    dense
        Whether what users compare is laid out feature by feature, for users with many neighbours,
        or user by user.
    """

    def __init__(self, d: int, capacity: int, n_users: int, dense: bool) -> None:
        self.d, self.dense, self.capacity = d, dense, 0
        self.arrays: dict[str, npt.NDArray[Any]] = {}
        self.reserve(capacity, n_users, used=0)

    def reserve(self, capacity: int, n_users: int, used: int) -> None:
        """Make room for ``capacity`` users, keeping what there is in the first ``used`` rows."""
        d, old = self.d, self.arrays
        inverses = capacity if n_users <= OWN_INVERSES else 0
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
            "by_user": aligned_zeros(*self._shown(capacity), dtype=np.float32),
        }
        for name, value in old.items():
            if name in _ROWS and len(self.arrays[name]):
                self.arrays[name][:used] = value[:used]
            if name in _USERS:
                self.arrays[name][: self.capacity] = value[: self.capacity]
        self.capacity = capacity
        self._publish()

    def _shown(self, capacity: int) -> tuple[int, int]:
        """Rows of weights and radius, each in cache lines of its own."""
        return (0 if self.dense else capacity, -(-(self.d + 1) // 16) * 16)

    def _publish(self) -> None:
        if self.dense:
            self.arrays["by_feature"][:, : self.capacity] = self.arrays["weights"].T
        else:
            self.arrays["by_user"][:, : self.d] = self.arrays["weights"]
            self.arrays["by_user"][:, self.d] = self.arrays["radius"][: self.capacity]

    def state(self, n_users: int, used: int) -> dict[str, npt.NDArray[Any]]:
        """Return copies of what is in use."""
        rows = {f"user_{name}": self.arrays[name][:used].copy() for name in _ROWS}
        return rows | {f"user_{name}": self.arrays[name][:n_users].copy() for name in _USERS}

    def load_state(self, state: dict[str, Any], n_users: int, used: int) -> None:
        """Take over what :meth:`state` returned."""
        for name in _ROWS:
            fill(self.arrays[name][:used], state, f"user_{name}")
        for name in _USERS:
            below = used if name == "row" else None
            fill(self.arrays[name][:n_users], state, f"user_{name}", below, low=-1)
        row = self.arrays["row"][:n_users]
        if not np.array_equal(np.sort(row[row >= 0]), np.arange(used)):
            raise ValueError(f"user_row must give each of {used} rows to one user")
        self._publish()
