"""Which items the rows of a table are: the ids of a column, or a list of ids."""

from __future__ import annotations

from collections.abc import Container, Hashable, Mapping, Sequence
from typing import Any

import polars as pl

from clubcascade.datasets.columns import column_of, has_column
from clubcascade.features.cells import id_texts
from clubcascade.features.tables import Source, Table, open_table


def id_column(source: Source, named: str | None = None) -> str | None:
    """Return the column of the items' ids: the named one, one called item or id, or None."""
    if named is not None or has_column("item", source.columns):
        return column_of("item", source.columns, named, source.name)
    plain = {column.lower(): column for column in source.columns}
    return plain.get("id")


def ids_of(items: Table, known: Container[Hashable]) -> list[Hashable]:
    """Return the ids of a list of ids, or of a table's column, as they are known.

    >>> ids_of(["1", 2, "x"], {1: 0, 2: 1})
    [1, 2, 'x']
    """
    if _is_list(items):
        return [as_known(each, known) for each in items]
    source = open_table(items, "new_items")
    column = id_column(source)
    if column is None:
        column = column_of("item", source.columns, None, source.name)
    return texts_to_ids(source.frame([column])[column], source.name, known)


def texts_to_ids(column: pl.Series, where: str, known: Container[Hashable]) -> list[Hashable]:
    """Return the ids of a column as they are known."""
    return [as_known(each, known) for each in id_texts(column, where)[0].to_list()]


def as_known(each: Hashable, known: Container[Hashable]) -> Hashable:
    """Return an id as it is known: ``"7"`` for 7, and the other way round.

    >>> as_known("7", {7}), as_known(7, {"7"}), as_known("x", {7})
    (7, '7', 'x')
    """
    try:
        if each in known:
            return each
        other: Any = None
        if isinstance(each, str):
            text = each.strip()
            other = int(text) if text.lstrip("-").isdecimal() and len(text) < 20 else text
        elif isinstance(each, int) and not isinstance(each, bool):
            other = str(each)
        return other if other is not None and other in known else each
    except (TypeError, ValueError):
        return each


def _is_list(items: Any) -> bool:
    plain = isinstance(items, Sequence) and not isinstance(items, str | bytes)
    return plain and not any(isinstance(each, Mapping) for each in items)
