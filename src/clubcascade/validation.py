"""Checks at the public edge: every message names the argument, its range and the value got."""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from numbers import Integral, Number, Real
from typing import Any

import numpy as np
import numpy.typing as npt

from clubcascade.errors import InvalidArgument, InvalidItems
from clubcascade.errors import brief as brief

NORM_TOLERANCE = 1e-5
"""How far above 1 the norm of an item may be: rounding of a row that was scaled to length 1.

It is that of single precision with thousands of features, also for float64: there, numbers of
seven digits from JSON or CSV arrive. Such rows are used as they are, not scaled again.
"""


LEAST_RIDGE, MOST_RIDGE = 1e-6, 1e9
"""Bounds of a ridge constant: beyond them inverses are rounding, and sums of clicks overflow."""
MOST_FACTOR = 1e9
"""The largest factor of a confidence radius or of a draw."""


def ridge(name: str, value: Any) -> float:
    """Return a ridge constant with which the arithmetic of a model stays finite."""
    return number(name, value, low=LEAST_RIDGE, high=MOST_RIDGE)


def deviation(name: str, value: Any) -> float:
    """Return a standard deviation whose square is a ridge constant."""
    return number(name, value, low=1e-3, high=3e4)


def factor(name: str, value: Any) -> float:
    """Return the factor of a confidence radius or of a draw."""
    return number(name, value, low=0, high=MOST_FACTOR)


def number(
    name: str,
    value: Any,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    open_low: bool = False,
    infinite: bool = False,
) -> float:
    """Return ``value`` as a float within ``[low, high]`` (``open_low``: above ``low``)."""
    bounds = f"{'(' if open_low else '['}{low:g}, {high:g}{']' if infinite else ')'}"
    if high < math.inf:
        bounds = f"{bounds[:-1]}]"
    wanted = f"{name} must be a number in {bounds}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise InvalidArgument(f"{wanted}, got {brief(value)}")
    try:
        result = float(value)
    except OverflowError:
        raise InvalidArgument(f"{wanted}, got {brief(value)}") from None
    below = result <= low if open_low else result < low
    if math.isnan(result) or below or result > high or (math.isinf(result) and not infinite):
        raise InvalidArgument(f"{wanted}, got {brief(value)}")
    return result


def whole(name: str, value: Any, *, low: int, high: int | None = None) -> int:
    """Return ``value`` as an int within ``[low, high]``."""
    bounds = f">= {low}" if high is None else f"in [{low}, {high}]"
    wanted = f"{name} must be a whole number {bounds}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise InvalidArgument(f"{wanted}, got {brief(value)}")
    result = int(value)
    if result < low or (high is not None and result > high):
        raise InvalidArgument(f"{wanted}, got {brief(value)}")
    return result


def choice(name: str, value: Any, options: Iterable[Any]) -> Any:
    """Return ``value`` if it is one of ``options``."""
    known = list(options)
    array = isinstance(value, np.ndarray)  # no truth value
    if array or not any(value is option or value == option for option in known):
        listed = ", ".join(repr(option) for option in known)
        raise InvalidArgument(f"{name} must be one of {listed}, got {brief(value)}")
    return value


def _iterates(value: Any) -> bool:
    return isinstance(value, Iterable) and getattr(value, "ndim", 1) > 0


def discounts(name: str, value: Any) -> tuple[float, ...] | None:
    """Return position discounts: numbers in [0, 1] that never rise; None for none."""
    if value is None:
        return None
    wanted = f"{name} must be numbers in [0, 1] that never rise, one per position"
    if isinstance(value, str) or not _iterates(value):
        raise InvalidArgument(f"{wanted}, got {brief(value)}")
    result = tuple(number(f"{name}[{p}]", each, low=0, high=1) for p, each in enumerate(value))
    if not result or any(later > earlier for earlier, later in pairwise(result)):
        raise InvalidArgument(f"{wanted}, got {brief(value)}")
    return result


def listed(name: str, value: Any, of: str) -> list[Any] | tuple[Any, ...]:
    """Return ``value`` if it is a list of something, or a column of a frame as a list; no text.

    >>> listed("clicks", np.array([0, 2]), "positions")
    [0, 2]
    """
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return value if isinstance(value, list | tuple) else list(value)
    if hasattr(type(value), "__array__") and np.ndim(value) == 1:
        plain = isinstance(value, np.ndarray) and value.dtype.kind in "iufU"  # numbers and texts
        return value.tolist() if plain else list(value)
    raise InvalidArgument(f"{name} must be a list of {of}, got {brief(value)}")


def list_length(k: Any, n_items: int) -> int:
    """Return ``k`` as an int, at least 1 and at most the number of items."""
    if type(k) is int and 1 <= k <= n_items:  # the common case, at once
        return k
    result = whole("k", k, low=1)
    if result > n_items:
        raise InvalidArgument(f"k must be at most the number of items, {n_items}, got {brief(k)}")
    return result


def reals(name: str, values: Any) -> npt.NDArray[np.float64]:
    """Return ``values`` as C-contiguous float64; text, dates and masked entries are no numbers."""
    if type(values) is np.ndarray and values.dtype.kind in "fiub":  # the common case, at once
        return np.asarray(values, dtype=np.float64, order="C")
    wanted = f"{name} must be real numbers"
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InvalidItems(f"{wanted}, got {np.ma.getmaskarray(values).sum()} masked entries")
    for way in ("toarray", "features"):  # sparse matrices, catalogues
        if hasattr(values, way) and not hasattr(values, "__array__"):
            raise InvalidItems(f"{wanted}, got {type(values).__name__}: its matrix is .{way}")
    try:
        raw = np.asarray(values)
        if raw.dtype.kind == "O":
            _check_objects(wanted, raw)
        elif raw.dtype.kind not in "fiub":
            raise InvalidItems(f"{wanted}, got {raw.dtype}")
        return np.asarray(raw, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, InvalidItems):
            raise
        raise InvalidItems(f"{wanted}, got {type(values).__name__}: {error}") from None


def _check_objects(wanted: str, raw: npt.NDArray[Any]) -> None:
    for place, value in np.ndenumerate(raw):
        if isinstance(value, complex) or not isinstance(value, Number | np.bool_):
            row = f" in row {place[0]}" if place else ""
            raise InvalidItems(f"{wanted}, got {type(value).__name__} {brief(value)}{row}")


def feature_rows(name: str, rows: Any, n_features: int | None = None) -> npt.NDArray[np.float64]:
    """Return ``rows`` as a C-contiguous float64 matrix of items: finite, norms at most 1."""
    matrix = reals(name, rows)
    columns = "features" if n_features is None else f"{n_features} features"
    if matrix.ndim != 2 or (n_features is not None and matrix.shape[1] != n_features):
        raise InvalidItems(f"{name} must have shape (items, {columns}), got {matrix.shape}")
    if matrix.shape[0] == 0:
        raise InvalidItems(f"{name} must hold at least one item, got shape {matrix.shape}")
    if matrix.shape[1] == 0:
        raise InvalidItems(f"{name} must have at least one feature, got shape {matrix.shape}")
    squares = np.einsum("ij,ij->i", matrix, matrix)
    largest = float(squares.max())
    if not largest <= (1 + NORM_TOLERANCE) ** 2:
        raise _wrong_rows(name, matrix, squares)
    # a copy takes microseconds; kernels compiled once more, for read-only arrays, take many seconds
    return matrix if matrix.flags.writeable else matrix.copy()


def _wrong_rows(
    name: str, matrix: npt.NDArray[np.float64], squares: npt.NDArray[np.float64]
) -> InvalidItems:
    bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if bad.size:
        row = int(bad[0])
        value = matrix[row][~np.isfinite(matrix[row])][0]
        return InvalidItems(f"{name} must be finite, got {value} in row {row}")
    row = int(np.argmax(squares))
    norm = math.hypot(*matrix[row].tolist())
    return InvalidItems(
        f"{name} must have rows of Euclidean norm at most 1, got norm {norm:.9g} in row {row}; "
        f"divide all items by one constant, for example by their largest norm: "
        f"items / np.linalg.norm(items, axis=1).max()"
    )
