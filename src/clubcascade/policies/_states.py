"""States that are read: numbers that none learns are refused, and errors say what does not fit."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from clubcascade.core import Policy
from clubcascade.errors import ModelFileError

_LARGEST, _MOST = 1e60, 2**62 + 2**61
"""Numbers and counts of a state are never larger, so that neither overflows at the next step."""


@contextmanager
def fitting(policy: Policy) -> Iterator[None]:
    """Say of errors in a state that it does not fit the policy."""
    try:
        yield
    except (KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
        raise ModelFileError(
            f"state must be one of a {type(policy).__name__} with the same parameters, "
            f"got one that does not fit: {error!r}"
        ) from error


def check_numbers(state: dict[str, Any], like: dict[str, Any]) -> None:
    """Raise if a part of a state is of another kind, or holds numbers that none learns."""
    for name, value in state.items():
        if value is None:
            raise ValueError(f"{name} is None")
        example = like.get(name)
        if isinstance(example, np.ndarray) and np.ndim(value) != example.ndim:
            raise ValueError(f"{name} must have {example.ndim} dimensions, has {np.ndim(value)}")
        if isinstance(value, np.ndarray) and value.size and value.dtype.kind in "fi":
            _check_range(name, value)


def _check_range(name: str, value: npt.NDArray[Any]) -> None:
    low, high = (-_LARGEST, _LARGEST) if value.dtype.kind == "f" else (0, _MOST)
    low, high = {"alpha": (0, np.inf), "user_row": (-1, _MOST)}.get(name, (low, high))
    if np.isnan(value.min()):
        raise ValueError(f"{name} holds NaN")
    if value.min() < low or value.max() > high:
        raise ValueError(
            f"{name} must lie in [{low:g}, {high:g}], got {value.min()} to {value.max()}"
        )
