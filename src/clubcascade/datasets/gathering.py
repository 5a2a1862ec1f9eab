"""Pairs of a user and an item that come in blocks, gathered into a matrix of clicks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from clubcascade.datasets.arrow import Array, pa, pc
from clubcascade.datasets.codes import Codes
from clubcascade.datasets.ids import Ids
from clubcascade.datasets.interactions import Interactions, assemble
from clubcascade.errors import InvalidData


class Gathering:
    """Clicks on their way from a file into a matrix: eight bytes per row, and the distinct ids."""

    def __init__(self) -> None:
        self._users = Codes()
        self._items = Codes()
        self.rows = 0
        self.incomplete = 0

    def add(self, users: Array, items: Array) -> None:
        """Take the next rows; those without a user or without an item are counted and left out."""
        self.rows += len(users)
        users, items = _texts(users), _texts(items)
        there = pc.and_(_present(users), _present(items))
        missing = len(users) - (pc.sum(there).as_py() or 0)
        if missing:
            self.incomplete += missing
            users, items = users.filter(there), items.filter(there)
        if len(users):
            self._users.add(users)
            self._items.add(items)

    def finish(
        self, name: str, source: dict[str, Any], only: set[str] | None = None
    ) -> Interactions:
        """Return the data set. Rows and columns follow the ids, so the order of the file is gone.

        Parameters
        ----------
        name, source
            What it is called, and where it comes from; the numbers of rows are added.
        only
            The items to keep, by id; None: all.
        """
        users, user_ids = self._users.finish()
        items, item_ids = self._items.finish()
        if only is not None:
            wanted = np.fromiter((text in only for text in item_ids), bool, len(item_ids))
            kept = wanted[items]
            users, user_ids = _used(users[kept], user_ids)
            items, item_ids = _used(items[kept], item_ids)
            source = source | {"others": int(np.sum(~kept))}
        if not len(users):
            rows = f"no row to use among {self.rows:,}" if self.rows else "no rows"
            raise InvalidData(f"{source['file']} has {rows}")
        matrix = _matrix(users, items, (len(user_ids), len(item_ids)))
        counts = {"rows": self.rows, "used": len(users), "incomplete": self.incomplete}
        parts = (matrix.indptr, matrix.indices, user_ids, item_ids)
        return assemble(name, *parts, source=source | counts)


def _matrix(
    users: npt.NDArray[np.int32], items: npt.NDArray[np.int32], shape: tuple[int, int]
) -> sparse.csr_array:
    ones = np.ones(len(users), dtype=np.bool_)
    return sparse.coo_array((ones, (users, items)), shape=shape).tocsr()  # each pair once


def _used(codes: npt.NDArray[np.int32], ids: Ids) -> tuple[npt.NDArray[np.int32], Ids]:
    """Drop the ids that no row uses any more, and number the others anew."""
    used = np.zeros(len(ids), dtype=bool)
    used[codes] = True
    places = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return places[codes], ids.kept(used)


def _texts(column: Array) -> Array:
    """Ids as text; whole numbers that were stored as floats lose their ``.0``."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        column = column.cast(pa.int64())
    return column.cast(pa.large_string()) if not pa.types.is_string(column.type) else column


def _present(column: Array) -> Array:
    return pc.fill_null(pc.not_equal(column, ""), False)
