"""The items of a trained model: their ids, and what their table says of them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import polars as pl

from clubcascade.datasets.columns import column_of, has_column
from clubcascade.errors import InvalidArgument
from clubcascade.features.rows import as_known
from clubcascade.validation import brief


class ItemTable:
    """Ids of items, and their columns.

    Parameters
    ----------
    ids
        The ids, in the order of the catalogue.
    columns
        A list per column, None where a cell is empty.
    title
        The column that names an item.

    Examples
    --------
    >>> items = ItemTable(["a", "b"], {"name": ["tea", "jam"], "price": [3, None]}, "name")
    >>> items.title("b"), items["a"]
    ('jam', {'name': 'tea', 'price': 3})
    """

    def __init__(
        self, ids: list[Hashable], columns: dict[str, list[Any]], title: str | None = None
    ) -> None:
        self.ids, self.columns, self.title_column = ids, columns, title
        self._places = {each: place for place, each in enumerate(ids)}

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, each: Hashable) -> bool:
        return as_known(each, self._places) in self._places

    def row(self, each: Hashable) -> int:
        """Return the place of an item."""
        known = as_known(each, self._places)
        if known not in self._places:
            raise InvalidArgument(f"item must be one of the {len(self)} known, got {brief(each)}")
        return self._places[known]

    def __getitem__(self, each: Hashable) -> dict[str, Any]:
        place = self.row(each)
        return {name: values[place] for name, values in self.columns.items()}

    def title(self, each: Hashable) -> str:
        """Return what an item is called; its id if its table has no title."""
        found = self.columns[self.title_column][self.row(each)] if self.title_column else None
        return str(each if found is None else found)

    def added(self, ids: Sequence[Hashable], rows: pl.DataFrame) -> ItemTable:
        """Return a table with more items at its end."""
        new = {name: _plain(rows[name]) for name in rows.columns if name in self.columns}
        empty: list[Any] = [None] * len(ids)
        columns = {name: [*old, *new.get(name, empty)] for name, old in self.columns.items()}
        return ItemTable([*self.ids, *ids], columns, self.title_column)


def item_table(
    ids: Sequence[Hashable],
    table_ids: Sequence[Hashable],
    frame: pl.DataFrame | None,
    id_name: str | None,
) -> ItemTable:
    """Return the items ``ids`` with the columns of a frame whose rows are ``table_ids``."""
    if frame is None:
        return ItemTable(list(ids), {})
    place = {each: row for row, each in enumerate(table_ids)}
    rows = [place.get(each) for each in ids]
    columns = {}
    for name in frame.columns:
        if name == id_name or _is_vector(frame[name]):
            continue
        values = _plain(frame[name])
        columns[name] = [None if row is None else values[row] for row in rows]
    title = column_of("title", list(columns), None, "") if has_column("title", [*columns]) else None
    return ItemTable(list(ids), columns, title)


def _is_vector(column: pl.Series) -> bool:
    dtype = column.dtype
    if dtype == pl.String:
        some = column.drop_nulls().head(20)
        return bool(len(some)) and bool(some.str.contains(r"^\s*\[\s*-?[0-9.]").all())
    nested = dtype in (pl.List, pl.Array)
    return (nested and dtype.inner.is_numeric()) or dtype in (pl.Struct, pl.Object, pl.Binary)  # type: ignore[attr-defined]


def _plain(column: pl.Series) -> list[Any]:
    """Return values that a file keeps: times as text, NaN as None."""
    if column.dtype.is_temporal() or column.dtype.is_decimal():
        column = column.cast(pl.String)
    if column.dtype in (pl.List, pl.Array):
        return [None if cell is None else cell.to_list() for cell in column]
    values = column.to_list()
    if column.dtype.is_float():
        return [None if value is None or math.isnan(value) else value for value in values]
    return values
