"""Features from clicks and from a table together: new items get both from their row."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from clubcascade import validation
from clubcascade.core import Floats
from clubcascade.errors import InvalidArgument
from clubcascade.features.base import (
    FeatureMaker,
    largest_norm,
    rows_by_id,
    unit,
)
from clubcascade.features.clicks import ClickFeatures
from clubcascade.features.rows import id_column, texts_to_ids
from clubcascade.features.table import TableFeatures
from clubcascade.features.tables import Table, open_table

_PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0)


@dataclass(repr=False, eq=False)
class CombinedFeatures(FeatureMaker):
    """The features from clicks beside those from a table.

    An item that nobody clicked yet has no features from clicks: they are predicted from those of
    its table row, by a ridge regression over the items that have both.
    """

    kind = "combined"

    clicks: ClickFeatures
    table: TableFeatures
    table_weight: float
    mapping: Floats
    scale: float = 1.0

    @property
    def id_name(self) -> str | None:
        """The column of the table that names items."""
        return self.table.id_name

    def transform(self, new_items: Table) -> Floats:
        """Return the vectors of table rows; those of items with clicks use these as well."""
        source = open_table(new_items, "new_items")
        rows = self.table.transform(source)
        name = self.table.id_name
        name = name if name in source.columns else id_column(source)
        ids: list[Hashable] = [None] * len(rows)
        if name is not None:
            ids = texts_to_ids(source.frame([name])[name], source.name, self.clicks._places)
        return self.join(ids, rows)

    def join(self, ids: list[Hashable], rows: Floats) -> Floats:
        """Return the vectors of items from their ids and the vectors of their table rows."""
        return unit(self._join(ids, rows), self.scale)

    def _join(self, ids: list[Hashable], rows: Floats) -> Floats:
        known, found = rows_by_id(ids, self.clicks._places, self.clicks.vectors)
        clicked = found & (known != 0).any(axis=1)
        known = np.where(clicked[:, None], known, rows @ self.mapping)
        parts = [known] if not self.table_weight else [known, self.table_weight * rows]
        return np.hstack(parts)

    def check(self) -> None:
        """Raise a ValueError unless the two parts and their mapping fit together."""
        super().check()
        clicks, table = self.clicks.n_features, self.table.n_features
        if self.mapping.shape != (table, clicks) or not np.isfinite(self.mapping).all():
            raise ValueError(f"mapping must lead from table to clicks, got {self.mapping.shape}")
        validation.number("scale", self.scale, low=0, open_low=True)
        if self.n_features != clicks + (table if self.table_weight else 0):
            raise ValueError(f"vectors must have the features of both, got {self.n_features}")


def combine(
    clicks: ClickFeatures, table: TableFeatures, *, table_weight: float = 1.0
) -> CombinedFeatures:
    """Put features from clicks and features from a table together.

    Items of either are items of the result. Those without clicks get features from clicks that are
    predicted from their table row.

    Parameters
    ----------
    clicks
        What :func:`from_clicks` returned.
    table
        What :func:`from_table` returned.
    table_weight
        How much the features from the table weigh beside those from clicks; with 0 they only serve
        to predict those of new items.

    Examples
    --------
    >>> from clubcascade.features import from_clicks, from_table
    >>> clicks = [{"user": u, "item": i} for u, i in ("ax", "ay", "bx", "by", "cz", "cw", "dz")]
    >>> shelf = [{"item": i, "kind": "tea" if i in "xy" else "jam"} for i in "wxyz"]
    >>> features = combine(from_clicks(clicks, n_features=3), from_table(shelf))
    >>> new = features.transform([{"item": "v", "kind": "tea"}])
    >>> alike = features.vectors @ new[0]
    >>> bool(alike[features.ids.index("x")] > alike[features.ids.index("z")])
    True
    """
    if not isinstance(clicks, ClickFeatures) or not isinstance(table, TableFeatures):
        raise InvalidArgument(
            f"clicks and table must be features from clicks and from a table, got "
            f"{type(clicks).__name__} and {type(table).__name__}"
        )
    weight = validation.number("table_weight", table_weight, low=0, high=100)
    known = set(table.ids)
    others = [each for each in clicks.ids if each not in known]
    rows = np.vstack([table.vectors, np.zeros((len(others), table.n_features))])
    targets, found = rows_by_id(table.ids, clicks._places, clicks.vectors)
    found &= (targets != 0).any(axis=1)
    features = CombinedFeatures(clicks, table, weight, _ridge(table.vectors[found], targets[found]))
    features.ids = [*table.ids, *others]
    features.scale = largest_norm(features._join(features.ids, rows))
    features.vectors = features.join(features.ids, rows)
    features.said = [*clicks.said, *table.said]
    if others:
        features.said.append(f"{len(others):,} clicked items are not in the table: kept, by clicks")
    if cold := int((~found).sum()):
        features.said.append(
            f"{cold:,} items of the table have no click: their features from clicks are predicted"
        )
    return features


def _ridge(inputs: Floats, targets: Floats) -> Floats:
    """Return the ridge regression of least leave-one-out error."""
    d = inputs.shape[1]
    best, least = np.zeros((d, targets.shape[1])), np.inf
    if not len(inputs):
        return best
    for penalty in _PENALTIES:
        solved = np.linalg.solve(inputs.T @ inputs + penalty * np.eye(d), inputs.T)
        mapping = solved @ targets
        leverage = np.einsum("ij,ji->i", inputs, solved)
        errors = (targets - inputs @ mapping) / np.maximum(1.0 - leverage, 1e-6)[:, None]
        total = float((errors**2).sum())
        if total < least:
            best, least = mapping, total
    return best
