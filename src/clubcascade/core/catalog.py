"""A fixed set of items, and the lists that are shown of it."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from clubcascade import validation
from clubcascade.core.arrays import Floats, Ints
from clubcascade.errors import InvalidArgument, InvalidItems
from clubcascade.model_file import check_ids


class Catalog:
    """A fixed set of items. Scoring a catalogue is many times faster than scoring a matrix.

    Parameters
    ----------
    items
        One row of features per item, of Euclidean norm at most 1 (1.00001, for unit vectors of
        single precision; rows are used as they are), or a frame of pandas or polars or an Arrow
        table, each column a feature. The catalogue keeps a copy.
    ids
        One distinct id per item, as users have them, or the name of a frame's column of ids. By
        default the index of a pandas frame, else the row numbers.

    Examples
    --------
    >>> catalog = Catalog([[1.0, 0.0], [0.6, 0.8]], ids=["tea", "milk"])
    >>> len(catalog), catalog.ids[1], catalog.index("milk")
    (2, 'milk', 1)
    >>> np.asarray(catalog[[1]])
    array([[0.6, 0.8]])
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": ["tea", "milk"], "hot": [1, 0], "white": [0, 1]})
    >>> Catalog(frame, ids="item").ids
    ['tea', 'milk']
    """

    def __init__(self, items: npt.ArrayLike, ids: Sequence[Hashable] | None = None) -> None:
        rows, names = _read(items, ids)
        self._set(np.array(rows), range(len(rows)) if names is None else names)

    def _set(self, rows: Floats, ids: Sequence[Hashable]) -> None:
        if not isinstance(ids, range):
            check_ids("ids", ids)
        if len(ids) != len(rows):
            raise InvalidArgument(f"ids must name {len(rows)} items, got {len(ids)} names")
        self._rows = rows
        self.ids = ids
        self._index = {name: row for row, name in enumerate(ids)}
        if len(self._index) != len(rows):
            name = validation.brief(Counter(ids).most_common(1)[0][0])
            raise InvalidArgument(f"ids must be distinct, got {name} twice")
        self._every = np.arange(len(rows))
        self.origin: tuple[weakref.ref[Catalog], Ints] | None = None

    def _derive(self, rows: Floats, ids: Sequence[Hashable], origin: Ints) -> Catalog:
        """Make a catalogue of which row i was row ``origin[i]`` here, or is new (-1)."""
        other = Catalog.__new__(Catalog)
        other._set(rows, ids)
        other.origin = (weakref.ref(self), origin)
        return other

    def replace(self, rows: npt.ArrayLike, items: npt.ArrayLike) -> Catalog:
        """Return a catalogue with other features at ``rows``; scores of the rest are kept.

        >>> Catalog(np.eye(2)).replace([1], [[0.6, 0.8]]).features[1]
        array([0.6, 0.8])
        """
        chosen = self[rows].rows
        features = validation.feature_rows("items", items, self.n_features)
        if len(features) != len(chosen):
            raise InvalidItems(f"items must be {len(chosen)} rows, one each, got {len(features)}")
        table, origin = self._rows.copy(), self._every.copy()
        table[chosen], origin[chosen] = features, -1
        return self._derive(table, self.ids, origin)

    def add(self, items: npt.ArrayLike, ids: Sequence[Hashable] | None = None) -> Catalog:
        """Return a catalogue with more items at its end; scores of the rest are kept.

        >>> len(Catalog(np.eye(2)).add([[0.6, 0.8]]))
        3
        """
        features, ids = _read(items, ids, self.n_features)
        n = len(self)
        if ids is None and not isinstance(self.ids, range):
            raise InvalidArgument(
                "ids must name the new items, as the old ones have names, got None"
            )
        names: Sequence[Hashable] = range(n + len(features)) if ids is None else [*self.ids, *ids]
        origin = np.concatenate([self._every, np.full(len(features), -1)])
        return self._derive(np.concatenate([self._rows, features]), names, origin)

    def remove(self, rows: npt.ArrayLike) -> Catalog:
        """Return a catalogue without ``rows``, its ids kept; scores of the rest are kept.

        >>> Catalog(np.eye(3), ids="abc").remove([1]).ids
        ['a', 'c']
        """
        kept = np.delete(self._every, self[rows].rows)
        if kept.size == 0:
            raise InvalidItems("rows must leave at least one item, got all of them")
        names = [self.ids[row] for row in kept.tolist()]
        return self._derive(self._rows[kept], names, kept)

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle a catalogue without what it was derived from."""
        return vars(self) | {"origin": None}

    @property
    def features(self) -> Floats:
        """One row of features per item; read-only."""
        view = self._rows.view()
        view.flags.writeable = False
        return view

    @property
    def n_features(self) -> int:
        """Number of features of an item."""
        return int(self._rows.shape[1])

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, rows: Any) -> Slate:
        """Give the shown list of these rows, ready for ``update``."""
        try:
            picked = self._every[rows]
            return Slate(self, picked if picked.ndim else picked.reshape(1))
        except IndexError:
            raise InvalidItems(
                f"rows must be whole numbers in [0, {len(self) - 1}], "
                f"got {validation.brief(rows)}; catalog.index(id) is the row of an id"
            ) from None

    def index(self, name: Hashable) -> int:
        """Return the row of the item of that id."""
        try:
            return self._index[name]
        except (KeyError, TypeError):
            raise InvalidArgument(
                f"no item of the catalogue has id {validation.brief(name)}"
            ) from None

    def __repr__(self) -> str:
        return f"Catalog({len(self)} items, {self.n_features} features)"


class Slate:
    """A list of items of one catalogue, as it was shown. Made by ``catalog[ranking]``.

    With a matrix of rows, one list per row of it, as ``update_many`` takes them.
    """

    __slots__ = ("catalog", "rows")

    def __init__(self, catalog: Catalog, rows: Ints) -> None:
        self.catalog = catalog
        self.rows = rows

    @property
    def features(self) -> Floats:
        """The items' features, one row per position."""
        chosen: Floats = self.catalog.features[self.rows]
        return chosen

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return self.features.astype(dtype or np.float64, copy=False)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"Slate({self.rows.tolist()} of {self.catalog!r})"


def _read(
    items: Any, ids: Any, n_features: int | None = None
) -> tuple[Floats, Sequence[Hashable] | None]:
    """Read the arguments ``items`` and ``ids``."""
    if _is_frame(items):
        items, ids = _read_frame(items, ids)
    rows = validation.feature_rows("items", items, n_features)
    if ids is None or isinstance(ids, range):
        return rows, ids
    try:
        return rows, list(ids)
    except TypeError:
        raise InvalidArgument(f"ids must be a list of ids, got {validation.brief(ids)}") from None


def _is_frame(items: Any) -> bool:
    """Tell whether items come as named columns."""
    kind = type(items)
    named = hasattr(kind, "column_names") or (hasattr(kind, "columns") and hasattr(kind, "dtypes"))
    return named and hasattr(kind, "__len__")


def _read_frame(frame: Any, ids: Any) -> tuple[Floats, Sequence[Hashable] | None]:
    """Return the features of the rows of a frame (pandas, polars, Arrow) and their ids.

    ``ids`` is the name of the column of ids, ids, or None for the index. Every other column is a
    feature. No index, or one that counts the rows: None.
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


Items = npt.ArrayLike | Catalog
Shown = npt.ArrayLike | Slate


def check_slate(shown: Slate, n_features: int | None, lists: int) -> None:
    """Raise unless the slate is one list (1) or many (2) of a fitting catalogue, none empty."""
    if n_features not in (None, shown.catalog.n_features):
        raise InvalidItems(
            f"shown must come from a catalogue of {n_features} features, "
            f"got {shown.catalog.n_features}"
        )
    if shown.rows.ndim != lists or shown.rows.size == 0:
        wanted = "one list of at least one item" if lists == 1 else "lists x items, none empty"
        raise InvalidItems(f"shown must be {wanted}, got shape {shown.rows.shape}")


def shown_rows(shown: Shown, n_features: int | None) -> Floats:
    """Read the ``shown`` argument of ``update`` as a matrix of features."""
    if isinstance(shown, Slate):
        check_slate(shown, n_features, lists=1)
        return shown.features
    try:
        return validation.feature_rows("shown", shown, n_features)
    except InvalidItems as error:
        if isinstance(shown, Catalog) or _is_flat(shown):  # a catalogue, row numbers or ids
            raise InvalidItems(f"{error}; pass the shown items as catalog[ranking]") from None
        raise


def _is_flat(values: Any) -> bool:
    try:
        return bool(np.ndim(values) == 1)
    except ValueError:  # rows of different lengths
        return False
