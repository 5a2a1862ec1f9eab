"""Features of items from their rows of a table: numbers, categories, tags, texts, vectors."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import polars as pl

from clubcascade.core import Floats
from clubcascade.errors import InvalidData
from clubcascade.features.base import (
    FeatureMaker,
    largest_norm,
    rank_of,
    unit,
)
from clubcascade.features.cells import id_texts, natural_ids
from clubcascade.features.encoders import Encoder, NumberEncoder, TagsEncoder, ValuesEncoder
from clubcascade.features.kinds import kinds_of
from clubcascade.features.reduced import TextEncoder, VectorEncoder, truncated_svd
from clubcascade.features.rows import id_column
from clubcascade.features.tables import Source, Table, open_table

_ENCODERS: dict[str, type[Encoder]] = {
    "number": NumberEncoder,
    "time": NumberEncoder,
    "category": ValuesEncoder,
    "tags": TagsEncoder,
    "text": TextEncoder,
    "vector": VectorEncoder,
}


@dataclass(repr=False, eq=False)
class TableFeatures(FeatureMaker):
    """Vectors of items from the columns of their table; the first feature is a constant.

    Attributes
    ----------
    kinds
        What each column was taken for: number, category, tags, text, vector, time or ignore.
    """

    kind = "table"

    kinds: dict[str, str]
    encoders: dict[str, Encoder]
    id_name: str | None
    widths: dict[str, float] = field(default_factory=dict)
    components: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    scale: float = 1.0

    def transform(self, new_items: Table) -> Floats:
        """Return the vectors of rows; columns that are missing count as empty cells."""
        return self._vectors(open_table(new_items, "new_items"))

    def _vectors(self, source: Source) -> Floats:
        wanted = [column for column in self.encoders if column in source.columns]
        if not wanted and self.encoders:
            raise InvalidData(
                f"{source.name} must have some of the columns {', '.join(self.encoders)}, got "
                f"{', '.join(source.columns)}"
            )
        frame = source.frame(wanted or source.columns[:1])
        return self.reduce(self._blocks(frame, source.name))

    def _blocks(self, frame: pl.DataFrame, where: str) -> Floats:
        """Return all numbers of all columns, each column scaled to the same mean square."""
        blocks = []
        for column, encoder in self.encoders.items():
            cells = frame[column] if column in frame.columns else _empty(column, len(frame))
            cells = _empty(column, len(frame)) if cells.dtype == pl.Null else cells
            blocks.append(encoder.encode(cells, where) * self.widths.get(column, 1.0))
        return np.hstack([np.zeros((len(frame), 0)), *blocks])

    def reduce(self, blocks: Floats) -> Floats:
        """Return vectors of norm at most 1: a constant, and the directions of all numbers."""
        directions = blocks @ self.components
        return unit(np.hstack([np.ones((len(blocks), 1)), directions]), self.scale)

    def fit(self, source: Source, frame: pl.DataFrame, n_features: int) -> None:
        """Learn the scales of the columns, and the directions of all of them together."""
        for column, encoder in self.encoders.items():
            block = encoder.encode(frame[column], source.name)
            square = float((block**2).sum(axis=1).mean()) if block.size else 0.0
            self.widths[column] = 1.0 / np.sqrt(square) if square > 0 else 1.0
            note = f": {encoder.said}" if encoder.said else ""
            self.said.append(f"{column} ({self.kinds[column]}){note}")
        blocks = self._blocks(frame, source.name)
        total = float((blocks**2).sum())
        if blocks.shape[1] <= n_features - 1 or not total:
            self.components = np.eye(blocks.shape[1])
        else:
            _, s, vt = truncated_svd(blocks, max(n_features - 1, 1))
            self.components = vt.T[:, : n_features - 1].astype(np.float64)
            share = float((s**2).sum()) / total
            self.said.append(f"all columns together: {len(s)} directions, {share:.0%} of them")
        directions = blocks @ self.components
        self.scale = largest_norm(np.hstack([np.ones((len(blocks), 1)), directions]))
        self.vectors = self.reduce(blocks)
        if not total:
            self.said.append("all items are alike: nothing tells them apart")

    def state(self) -> dict[str, Any]:
        """Return what was learned of every column."""
        encoders = {str(n): e.state() for n, e in enumerate(self.encoders.values())}
        return {**super().state(), "columns": list(self.encoders), "encoders": encoders}

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Self:
        """Return what has a state; an error if its parts do not fit together."""
        kinds, parts = state["kinds"], state["encoders"].values()
        encoders = {
            column: _ENCODERS[kinds[column]].restore(part)
            for column, part in zip(state["columns"], parts, strict=True)
        }
        return super().restore({**state, "encoders": encoders})

    def check(self) -> None:
        """Raise a ValueError unless the components lead from the columns to the vectors."""
        super().check()
        if not np.isfinite(list(self.widths.values())).all():
            raise ValueError(f"widths must be finite, got {self.widths}")
        blocks = self._blocks(pl.DataFrame({"": [""]}), "the file")
        shape = self.components.shape
        if (
            shape != (blocks.shape[1], self.n_features - 1)
            or not np.isfinite(self.components).all()
        ):
            raise ValueError(f"components must fit the columns, got {shape}")
        if not (self.scale > 0 and np.isfinite(self.scale)):
            raise ValueError(f"scale must be above 0, got {self.scale}")


def from_table(
    items: Table,
    *,
    id: str | None = None,
    kinds: Mapping[str, str] | None = None,
    n_features: int = 32,
) -> TableFeatures:
    """Make features of items from their table.

    Numbers become deviations from their mean, categories and tags a feature for each of the 50 most
    frequent values, texts TF-IDF weights and vectors of your own both reduced by an SVD. Every
    column weighs the same. All together are reduced to ``n_features``, of which the first is a
    constant, and divided by the largest norm.

    Parameters
    ----------
    items
        A path (CSV, Parquet, JSON lines), a frame of polars or pandas, an Arrow table, or a list
        of dicts.
    id
        The column of ids; by default one called item, item_id, id, sku, …; else the row numbers.
    kinds
        What columns are, where the guess is wrong: ``{"zip": "category", "code": "ignore"}``.
    n_features
        The most features to make.

    Examples
    --------
    >>> shelf = [
    ...     {"id": 1, "kind": "tea", "price": 3.0}, {"id": 2, "kind": "tea", "price": 4.5},
    ...     {"id": 3, "kind": "jam", "price": None}]
    >>> features = from_table(shelf)
    >>> print(features)
    TableFeatures(3 items, 4 features)
      kind (category): 2 values
      price (number): 1 without a value count as the mean
    >>> features.transform([{"kind": "jam", "price": 3}]).round(2)
    array([[ 0.5 ,  0.  ,  0.61, -0.61]])
    """
    rank = rank_of(n_features)
    source = open_table(items, "items")
    name = id_column(source, id)
    frame, ids, said = read_items(source, name)
    kind_of = kinds_of(frame, kinds, [] if name is None else [name])
    encoders = {
        column: _ENCODERS[kind].fit(frame[column], source.name)
        for column, kind in kind_of.items()
        if kind != "ignore"
    }
    features = TableFeatures(kind_of, encoders, name)
    features.ids = ids
    features.fit(source, frame, rank)
    unused = [column for column, kind in kind_of.items() if kind == "ignore"]
    if unused:
        features.said.append(f"not used: {', '.join(unused)}")
    features.said += said
    return features


def read_items(
    source: Source, id_name: str | None
) -> tuple[pl.DataFrame, list[Hashable], list[str]]:
    """Return the rows of a table of items, one per id, the ids, and what was left out."""
    frame = source.frame()
    if not len(frame):
        raise InvalidData(f"{source.name} has no rows")
    if id_name is None:
        return (
            frame,
            list(range(len(frame))),
            ["no column of ids: items are numbered by their rows"],
        )
    texts, blanks = id_texts(frame[id_name], source.name)
    there = texts.is_not_null() & texts.is_first_distinct()
    said = []
    if blanks:
        said.append(f"ids of {blanks:,} rows had blanks around them, which were taken off")
    if missing := texts.null_count():
        said.append(f"{missing:,} rows without an id: left out")
    if repeated := len(texts) - missing - int(there.sum()):
        row = int((texts.is_not_null() & ~texts.is_first_distinct()).arg_max() or 0)
        said.append(
            f"{repeated:,} rows repeating an id, the first {texts[row]!r} in row {row + 1}: the "
            f"first row of each id counts"
        )
    if not there.any():
        raise InvalidData(f"{source.name} has no id in column {id_name!r}")
    return frame.filter(there), natural_ids(texts.filter(there).to_list()), said


def _empty(name: str, length: int) -> pl.Series:
    return pl.Series(name, [None] * length, dtype=pl.String)
