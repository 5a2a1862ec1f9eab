"""What CLUB-cascade with a link keeps of each user, beside the estimates themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from clubcascade.core import array_of
from clubcascade.kernels.edge_deletion import BLOCK, radius_of
from clubcascade.policies._arrays import aligned_zeros

_KEPT = ("weights", "count", "gram", "moment")


class UserEstimates:
    """Weights, counts and radii of up to ``capacity`` users over ``d`` features.

    Parameters
    ----------
    d
        Number of features.
    capacity
        Users to make room for.
    dense
        Whether weights are also laid out feature by feature, for users with many neighbours.
    online
        Whether no samples are kept, so that each user's Gram matrix and moment are.
    """

    def __init__(self, d: int, capacity: int, *, dense: bool, online: bool) -> None:
        self.d, self.dense, self.online = d, dense, online
        self.arrays: dict[str, npt.NDArray[Any]] = {}
        self.reserve(capacity)

    def reserve(self, capacity: int) -> None:
        """Make room for ``capacity`` users, keeping what there is."""
        n, d, old = capacity, self.d, self.arrays
        rows = n if self.online else 0
        room = -(-n // BLOCK) * BLOCK  # whole blocks, so that a loop over one has no rest
        self.arrays = {
            "weights": aligned_zeros(n, d),
            "count": np.zeros(n, np.int64),
            "gram": aligned_zeros(rows, d, d),
            "moment": aligned_zeros(rows, d),
            "radius": np.ones(room),
            "by_feature": aligned_zeros(d, room if self.dense else 0, dtype=np.float32),
            "by_user": aligned_zeros(0, d + 1, dtype=np.float32),
        }
        for name in (*_KEPT, "radius"):
            if old and len(self.arrays[name]):
                self.arrays[name][: len(old[name])] = old[name]
        self._publish()

    def _publish(self) -> None:
        if self.dense:
            weights = self.arrays["weights"]
            self.arrays["by_feature"][:, : len(weights)] = weights.T

    def state(self, users: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
        """Return copies of what is kept of these users."""
        kept = {f"user_{name}": self.arrays[name] for name in _KEPT if len(self.arrays[name])}
        return {name: value[users] for name, value in kept.items()}

    def load_state(self, users: npt.NDArray[Any], state: dict[str, Any]) -> None:
        """Take over what :meth:`state` returned."""
        for name in _KEPT:
            if len(self.arrays[name]):
                room = self.arrays[name]
                wanted = (len(users), *room.shape[1:])
                room[users] = array_of(state, f"user_{name}", wanted, room.dtype)
        count = self.arrays["count"][users]
        self.arrays["radius"][users] = [radius_of(each, False) for each in count]
        self._publish()
