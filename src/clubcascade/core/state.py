"""States of policies: read with every part checked before any is taken over."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from clubcascade.core.paged_arrays import copy_written
from clubcascade.errors import ModelFileError


def read_state(state: Mapping[str, Any], like: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a state that has the parts of another one; a ModelFileError if it has not.

    Arrays must have the same shape and no NaN, generators must be generators of that kind.

    Parameters
    ----------
    state
        What ``load_state`` was given.
    like
        What ``state()`` returns; for arrays that grow, with the shapes that are to be read.

    Examples
    --------
    >>> read_state({"count": [1, 2]}, like={"count": np.zeros(2)})
    {'count': array([1., 2.])}
    >>> read_state({"counts": [1, 2]}, like={"count": np.zeros(2)})
    Traceback (most recent call last):
        ...
    clubcascade.errors.ModelFileError: state must have the parts count, got counts
    """
    if not isinstance(state, Mapping) or state.keys() != like.keys():
        got = ", ".join(map(str, state)) if isinstance(state, Mapping) else repr(state)
        raise ModelFileError(f"state must have the parts {', '.join(like)}, got {got or 'none'}")
    return {name: _read(name, state[name], example) for name, example in like.items()}


def generator_of(place: Any) -> np.random.Generator:
    """Return the generator whose place in its stream was kept, as ``rng.bit_generator.state``.

    >>> rng = np.random.default_rng(7)
    >>> kept = rng.bit_generator.state
    >>> generator_of(kept).random() == rng.random()
    True
    """
    try:
        bits = getattr(np.random, place["bit_generator"])()
        bits.state = place
        return np.random.Generator(bits)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ModelFileError(
            f"a generator must be a rng.bit_generator.state, got {place!r}: {error!r}"
        ) from None


def same(left: Any, right: Any) -> bool:
    """Tell whether two states, or parts of them, are equal bit for bit."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same(left[name], right[name]) for name in left)
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return np.array_equal(left, right)
    return bool(left == right)


def _read(name: str, value: Any, like: Any) -> Any:
    if value is None and like is not None:
        raise ModelFileError(f"{name} is None")
    if isinstance(like, np.ndarray):
        try:
            array = np.array(value, dtype=like.dtype)
        except (TypeError, ValueError) as error:
            raise ModelFileError(f"{name} must be an array of {like.dtype}: {error}") from None
        if array.shape != like.shape:
            raise ModelFileError(f"{name} must have shape {like.shape}, got {array.shape}")
        if array.dtype.kind == "f" and np.isnan(array).any():
            raise ModelFileError(f"{name} holds NaN")
        return array
    if isinstance(like, Mapping) and "bit_generator" in like:
        return generator_of(value).bit_generator.state
    if not isinstance(value, type(like)):
        raise ModelFileError(f"{name} must be a {type(like).__name__}, got {value!r}")
    return value


def array_of(
    state: Mapping[str, Any],
    name: str,
    shape: tuple[int, ...],
    dtype: Any = np.float64,
    below: int | None = None,
    low: int = 0,
) -> npt.NDArray[Any]:
    """Return an array of a state; raise unless it has that shape (-1 for any length) and kind.

    Parameters
    ----------
    below
        Number of the things that the array points to.
    low
        The least number allowed then: -1 where it may point to none.
    """
    value, kind = state[name], np.dtype(dtype)
    if not isinstance(value, np.ndarray) or value.dtype.kind != kind.kind:
        got = getattr(value, "dtype", type(value).__name__)
        raise ValueError(f"{name} must be an array of {kind}, got {got}")
    fits = len(shape) == value.ndim
    if not fits or any(w not in (-1, n) for w, n in zip(shape, value.shape, strict=True)):
        raise ValueError(f"{name} must have shape {shape}, got {value.shape}")
    if below is not None and value.size and not low <= value.min() <= value.max() < below:
        bounds = f"[{low}, {below - 1}]"
        raise ValueError(f"{name} must lie in {bounds}, got {value.min()} to {value.max()}")
    return value


def fill(
    target: npt.NDArray[Any],
    state: Mapping[str, Any],
    name: str,
    below: int | None = None,
    low: int = 0,
) -> None:
    """Copy an array of a state to its place, of whose shape and kind it must be."""
    copy_written(target, array_of(state, name, target.shape, target.dtype, below, low))
