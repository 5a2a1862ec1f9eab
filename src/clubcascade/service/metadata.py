"""What is known of items besides their vectors (titles, categories, prices): checked and kept."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from clubcascade.errors import InvalidArgument
from clubcascade.validation import brief

COLUMNS = 100
"""Columns that an item may have."""
LARGEST = 2**16
"""Bytes that they may take, as JSON."""
LONGEST = 1_000
"""Characters that are kept of a text of a training table."""

Row = dict[str, Any]
"""The columns of one item."""

_json = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def checked_row(name: str, row: Any) -> Row:
    """Return the columns of an item: texts, numbers, truth values, None, lists of these.

    >>> checked_row("metadata", {"title": "tea", "price": 3.5, "tags": ["hot", "green"]})
    {'title': 'tea', 'price': 3.5, 'tags': ['hot', 'green']}
    """
    if not isinstance(row, Mapping) or not all(isinstance(column, str) for column in row):
        raise InvalidArgument(f"{name} must map columns to values, got {brief(row)}")
    if len(row) > COLUMNS:
        raise InvalidArgument(f"{name} must have at most {COLUMNS} columns, got {len(row)}")
    for column, value in row.items():
        for part in value if isinstance(value, list | tuple) else [value]:
            if not _is_plain(part):
                raise InvalidArgument(
                    f"{name} must hold text, finite numbers, true, false, null or lists of these, "
                    f"got {brief(part)} in column {brief(column)}"
                )
    try:
        size = len(_json(row))
        "".join(row).encode()
    except (UnicodeEncodeError, ValueError) as error:
        raise InvalidArgument(f"{name} must be text that can be kept, got {error}") from None
    if size > LARGEST:
        raise InvalidArgument(f"{name} must take at most {LARGEST} bytes as JSON, got {size}")
    return {
        column: list(value) if isinstance(value, tuple) else value for column, value in row.items()
    }


def described(name: str, rows: Any, count: int) -> list[Any]:
    """Return the columns of so many items, None where nothing is said of one."""
    if isinstance(rows, str | Mapping) or not isinstance(rows, Iterable):
        raise InvalidArgument(f"{name} must be a row per item, got {brief(rows)}")
    found = [None if row is None else checked_row(name, row) for row in rows]
    if len(found) != count:
        raise InvalidArgument(f"{name} must have {count} rows, one per item, got {len(found)}")
    return found


def _is_plain(value: Any) -> bool:
    if type(value) is int:
        return -(2**63) <= value < 2**63
    if type(value) is float:
        return math.isfinite(value)
    if type(value) is str:
        return not any("\ud800" <= letter <= "\udfff" for letter in value)
    return value is None or type(value) is bool


def pack_rows(ids: Iterable[Hashable], rows: Mapping[Hashable, Row]) -> npt.NDArray[np.uint8]:
    """Return the columns of items as bytes, in the order of their ids.

    >>> unpack_rows(["tea", "jam"], pack_rows(["tea", "jam"], {"jam": {"price": 2}}))
    {'jam': {'price': 2}}
    """
    return np.frombuffer(_json([rows.get(each) for each in ids]).encode(), np.uint8)


def unpack_rows(ids: Sequence[Hashable], data: npt.NDArray[np.uint8]) -> dict[Hashable, Row]:
    """Return what :func:`pack_rows` was given."""
    found = zip(ids, json.loads(data.tobytes()), strict=True)
    return {each: row for each, row in found if row is not None}


class Kinds:
    """What the columns of a training table are, so that cells of text become what they say.

    Parameters
    ----------
    features
        Kind and state of a maker of features.
    """

    def __init__(self, features: Mapping[str, Any]) -> None:
        state = features["state"]
        table = state.get("table", state)
        self.columns: dict[str, str] = dict(table.get("kinds", {}))
        self.id_name: str = table.get("id_name") or "item"
        encoders = zip(table.get("columns", ()), table.get("encoders", {}).values(), strict=True)
        self._separators = {name: state.get("separator") for name, state in encoders}

    def typed(self, row: Mapping[str, Any]) -> Row:
        """Return the cells of a row: numbers as numbers, tags as lists, long texts cut."""
        return {column: self._cell(column, value) for column, value in row.items()}

    def _cell(self, column: str, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        kind, separator = self.columns.get(column), self._separators.get(column)
        if kind == "number":
            try:
                number = float(value)
            except ValueError:
                return None
            return number if math.isfinite(number) else None
        if kind == "tags" and separator:
            return [part.strip() for part in value.split(separator) if part.strip()]
        return value[:LONGEST]
