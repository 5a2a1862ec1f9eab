"""Names for the kinds of arrays that go around, and the arrays of a saved state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]
Words = npt.NDArray[np.uint64]


def array_of(
    state: Mapping[str, Any],
    name: str,
    shape: tuple[int, ...],
    dtype: Any = np.float64,
    below: int | None = None,
) -> npt.NDArray[Any]:
    """Return an array of a state; raise unless it has that shape (-1 for any length) and kind.

    Parameters
    ----------
    below
        Number of the things that the array points to; -1 points to none.

    Examples
    --------
    >>> array_of({"count": np.array([5, 7])}, "count", (-1,), np.int64)
    array([5, 7])
    """
    value, kind = state[name], np.dtype(dtype)
    if not isinstance(value, np.ndarray) or value.dtype.kind != kind.kind:
        got = getattr(value, "dtype", type(value).__name__)
        raise ValueError(f"{name} must be an array of {kind}, got {got}")
    fits = len(shape) == value.ndim
    if not fits or any(w not in (-1, n) for w, n in zip(shape, value.shape, strict=True)):
        raise ValueError(f"{name} must have shape {shape}, got {value.shape}")
    if below is not None and value.size and not -1 <= value.min() <= value.max() < below:
        bounds = f"[-1, {below - 1}]"
        raise ValueError(f"{name} must lie in {bounds}, got {value.min()} to {value.max()}")
    return value


def fill(
    target: npt.NDArray[Any], state: Mapping[str, Any], name: str, below: int | None = None
) -> None:
    """Copy an array of a state to its place, of whose shape and kind it must be."""
    target[...] = array_of(state, name, target.shape, target.dtype, below)
