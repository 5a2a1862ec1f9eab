"""What CLUB-cascade keeps of each user: statistics in rows, given out as users first come."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from clubcascade.kernels.club import BLOCK

OWN_INVERSES = 65_536
"""Users up to which each keeps the inverse of its own Gram matrix: more memory, less time."""

_SAVED = ("gram", "moment", "weights", "count", "radius", "inverse", "age")


class UserStatistics:
    """Rows of statistics over ``d`` features for up to ``capacity`` users.

    Parameters
    ----------
    d
        Number of features.
    capacity
        Rows to make room for. Zeros are pages that the machine gives only when they are first
        written, so that users who never come cost nothing.
    n_users
        Users known; beyond ``OWN_INVERSES`` no inverses are kept.
    dense
        Whether the weights are also kept feature by feature, for users with many neighbours.
    """

    def __init__(self, d: int, capacity: int, n_users: int, dense: bool) -> None:
        self.d, self.dense = d, dense
        self.arrays: dict[str, npt.NDArray[Any]] = {}
        self.row = np.zeros(0, np.int64)
        self.node = np.zeros(0, np.int64)
        self.reserve(capacity, n_users, used=0)

    def reserve(self, capacity: int, n_users: int, used: int) -> None:
        """Make room for ``capacity`` users, keeping the first ``used`` rows."""
        d, old = self.d, self.arrays
        inverses = capacity if n_users <= OWN_INVERSES else 0
        self.arrays = {
            "gram": np.zeros((capacity, d, d)),
            "moment": np.zeros((capacity, d)),
            "weights": np.zeros((capacity, d)),
            "count": np.zeros(capacity, np.int64),
            "radius": np.zeros(capacity),
            "inverse": np.zeros((inverses, d, d)),
            "age": np.zeros(capacity, np.int64),
        }
        for name, value in old.items():
            if name in _SAVED and len(self.arrays[name]):
                self.arrays[name][:used] = value[:used]
        width = -(-capacity // BLOCK) * BLOCK if self.dense else 0
        by_feature = self.arrays["by_feature"] = np.zeros((d, width))
        if self.dense:
            by_feature[:, :used] = self.arrays["weights"][:used].T
        row, node = np.full(capacity, -1, np.int64), np.full(capacity, -1, np.int64)
        row[: len(self.row)], node[: len(self.node)] = self.row, self.node
        self.row, self.node = row, node

    def fields(self) -> tuple[npt.NDArray[Any], ...]:
        """Return the arrays in the order of the compiled structure."""
        a = self.arrays
        return (self.row, self.node, *(a[name] for name in _SAVED), a["by_feature"])

    def state(self, n_users: int, used: int) -> dict[str, npt.NDArray[Any]]:
        """Return copies of the rows in use."""
        rows = {f"user_{name}": self.arrays[name][:used].copy() for name in _SAVED}
        return {"row": self.row[:n_users].copy(), **rows}

    def load_state(self, state: dict[str, Any], used: int) -> None:
        """Take over what :meth:`state` returned."""
        for name in _SAVED:
            if len(self.arrays[name]):
                self.arrays[name][:used] = state[f"user_{name}"]
        self.row[: len(state["row"])] = state["row"]
        seen = np.flatnonzero(self.row >= 0)
        self.node[self.row[seen]] = seen
        if self.dense:
            self.arrays["by_feature"][:, :used] = self.arrays["weights"][:used].T
