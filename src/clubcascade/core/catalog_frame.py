"""Frames as items: pandas, polars and Arrow tables by what they have in common, without imports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from clubcascade import validation
from clubcascade.core.arrays import Floats
from clubcascade.errors import InvalidArgument, InvalidItems


def is_frame(items: Any) -> bool:
    """Tell whether items come as named columns."""
    kind = type(items)
    named = hasattr(kind, "column_names") or (hasattr(kind, "columns") and hasattr(kind, "dtypes"))
    return named and hasattr(kind, "__len__")


def read_frame(frame: Any, ids: Any) -> tuple[Floats, Sequence[Hashable] | None]:
    """Return the features of a frame's rows and their ids, None for the row numbers.

    Parameters
    ----------
    frame
        A frame; every column but that of the ids is a feature.
    ids
        Name of the column of ids, ids, or None for the index, if there is one.
    """
    names = list(frame.column_names if hasattr(frame, "column_names") else frame.columns)
    name, times = Counter(names).most_common(1)[0] if names else (None, 0)
    if times > 1:
        raise InvalidItems(f"items must have columns of distinct names, got {name!r} twice")
    if isinstance(ids, str):
        if ids not in names:
            listed = validation.brief(names)
            raise InvalidArgument(f"ids must be a column of items, one of {listed}, got {ids!r}")
        names.remove(ids)
        ids = _id_column(ids, frame[ids])
    elif ids is None:
        ids = _index(frame)
    if not names:
        raise InvalidItems("items must have at least one column of features, got none")
    return np.column_stack([_feature(name, frame[name]) for name in names]), ids


def _id_column(name: str, column: Any) -> list[Hashable]:
    ids: list[Hashable] = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
    for row, value in enumerate(ids):
        if value is None:
            raise InvalidArgument(
                f"ids must name every item, got None in column {name!r}, row {row}"
            )
    return ids


def _index(frame: Any) -> list[Hashable] | None:
    """Return the ids of an index; one that counts the rows, as every new frame has it, is none."""
    index: Any = getattr(frame, "index", None)
    if not hasattr(index, "tolist"):
        return None
    ids: list[Hashable] = index.tolist()
    return None if ids == list(range(len(ids))) else ids


def _feature(name: Any, column: Any) -> Floats:
    values = validation.reals(f"items, column {name!r},", column)
    if values.ndim != 1:
        shape = values.shape[1:]
        raise InvalidItems(f"items, column {name!r}, must hold one number a row, got shape {shape}")
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        row = int(bad[0])
        raise InvalidItems(f"items must be finite, got {values[row]} in column {name!r}, row {row}")
    return values
