"""The arrays of many ridge models, with room to grow and a state that can be saved."""

from typing import Any

import numpy as np
import numpy.typing as npt

from clubcascade.core import fill
from clubcascade.core.paged_arrays import aligned_zeros, grown
from clubcascade.kernels import ridge as kernels

OWN_INVERSES = 65_536
"""Users up to which each keeps the inverse of its own Gram matrix: more memory, less time."""

_SAVED = ("gram", "inverse", "moment", "weights", "count", "log_det", "age", "drift", "version")


class Models:
    """Ridge models 0, 1, ... over ``d`` features; new ones have seen nothing.

    ``log_det``: whether the log-determinants are kept up to date, for a radius that grows.
    """

    def __init__(self, d: int, reg: float, capacity: int, log_det: bool = False) -> None:
        self.d = d
        self.reg = reg
        self.log_det = log_det
        self.capacity = 0
        self.arrays: dict[str, npt.NDArray[Any]] = {}
        self.reserve(capacity)

    def reserve(self, capacity: int) -> None:
        """Make room for ``capacity`` models; those beyond the old room are :func:`clear`."""
        d, old = self.d, self.arrays
        shapes = {"gram": (d, d), "inverse": (d, d), "moment": (d,), "weights": (d,)}
        self.arrays = {
            name: grown(
                old.get(name),
                capacity,
                *shapes.get(name, ()),
                dtype=np.int64 if name in ("count", "age", "version") else np.float64,
            )
            for name in _SAVED
        }
        self.capacity = capacity
        self.struct = kernels.Ridge.make(
            **self.arrays,
            reg=self.reg,
            keeps_log_det=self.log_det,
            direction_work=aligned_zeros(d),
            scaled_work=aligned_zeros(d),
            matrix_work=aligned_zeros(d, d),
        )

    def clear(self, g: int) -> None:
        """Make model ``g`` one that has seen nothing."""
        kernels.clear(self.struct, g)

    def renew(self, g: int) -> None:
        """Compute model ``g`` anew from its statistics."""
        kernels.renew(self.struct, g)

    def state(self, n: int, prefix: str = "model_") -> dict[str, npt.NDArray[Any]]:
        """Return copies of the arrays of the first ``n`` models."""
        return {f"{prefix}{name}": self.arrays[name][:n].copy() for name in _SAVED}

    def load_state(self, state: dict[str, Any], n: int, prefix: str = "model_") -> None:
        """Take over what :meth:`state` returned of ``n`` models."""
        for name in _SAVED:
            fill(self.arrays[name][:n], state, f"{prefix}{name}")
