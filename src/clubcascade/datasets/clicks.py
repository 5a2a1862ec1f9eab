"""Pairs of a user and an item that come in blocks, gathered with Arrow into a matrix of clicks."""

import gzip
import tarfile
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from clubcascade.datasets.ids import Ids
from clubcascade.datasets.interactions import Interactions, assemble
from clubcascade.errors import ClubCascadeError, InvalidData

Array = Any
"""An Arrow array (Arrow has no types for mypy)."""

_UNIFY = 1 << 22
"""Ids in the dictionaries of blocks after which the blocks become one, with one dictionary."""
_WHOLE_NUMBER = r"^(0|-?[1-9][0-9]{0,17})$"
_DAMAGE = (
    gzip.BadGzipFile,
    pa.ArrowException,
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)


@contextmanager
def readable(where: object) -> Iterator[None]:
    """Turn whatever is wrong with a file into InvalidData that names the file."""
    try:
        yield
    except ClubCascadeError:
        raise
    except _DAMAGE as error:
        words = " ".join(str(error).split()) or type(error).__name__
        words = words if len(words) <= 300 else f"{words[:300]} …"
        raise InvalidData(f"{where} cannot be read: {words}") from error


class Clicks:
    """Clicks on their way from a file into a matrix: eight bytes per row, and the distinct ids."""

    def __init__(self) -> None:
        self._users: list[Array] = []
        self._items: list[Array] = []
        self.rows = self.incomplete = 0

    def add(self, users: Array, items: Array) -> None:
        """Take the next rows; those without a user or without an item are counted and left out."""
        users, items = _texts(users), _texts(items)
        there = pc.and_(pc.not_equal(users, ""), pc.not_equal(items, ""))
        missing = len(users) - (pc.sum(there).as_py() or 0)
        self.rows += len(users)
        self.incomplete += missing
        for column, blocks in ((users, self._users), (items, self._items)):
            some = column.filter(there) if missing else column
            blocks.append(some.dictionary_encode().cast(_DICTIONARY))
            known, *others = (len(block.dictionary) for block in blocks)
            if sum(others) > max(_UNIFY, known):
                blocks[:] = [_unified(blocks)]

    def finish(
        self, name: str, source: dict[str, Any], only: Collection[str] | None = None
    ) -> Interactions:
        """Return the data set. Rows and columns follow the ids, so the order of the file is gone.

        ``only`` are the ids of the items to keep; None: all. The numbers of rows are added to the
        source.
        """
        users, user_ids = _encoded(self._users)
        items, item_ids = _encoded(self._items)
        used, shape = len(users), (len(user_ids), len(item_ids))
        clicks = sparse.coo_array((np.ones(used, np.bool_), (users, items)), shape=shape).tocsr()
        if only is not None:
            wanted = pc.is_in(item_ids, pa.array(only, item_ids.type)).to_numpy(False)
            used = int(np.count_nonzero(wanted[items]))
            source = source | {"others": len(items) - used}
            clicks = clicks[:, np.flatnonzero(wanted)]
            active = np.diff(clicks.indptr) > 0
            clicks = clicks[np.flatnonzero(active)]
            clicks.sort_indices()
            user_ids, item_ids = user_ids.filter(active), item_ids.filter(wanted)
        if not used:
            rows = f"no row to use among {self.rows:,}" if self.rows else "no rows"
            raise InvalidData(f"{source['file']} has {rows}")
        source = source | {"rows": self.rows, "used": used, "incomplete": self.incomplete}
        ids = _ids(user_ids), _ids(item_ids)
        return assemble(name, clicks.indptr, clicks.indices, *ids, source=source)


_DICTIONARY = pa.dictionary(pa.int32(), pa.large_string())


def _texts(column: Array) -> Array:
    """Ids as text; whole numbers that were stored as floats lose their ``.0``."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        column = column.cast(pa.int64())
    return column if pa.types.is_string(column.type) else column.cast(pa.large_string())


def _encoded(blocks: list[Array]) -> tuple[npt.NDArray[np.int32], Array]:
    """Return a column as numbers into its distinct ids, and these in an order of their own.

    Whole numbers are ordered as numbers, everything else as text.
    """
    column = _unified(blocks)
    blocks.clear()
    ids = column.dictionary
    numeric = pc.all(pc.match_substring_regex(ids, _WHOLE_NUMBER)).as_py()
    order = pc.array_sort_indices(ids.cast(pa.int64()) if numeric else ids)
    rank = np.empty(len(ids), dtype=np.int32)
    rank[order.to_numpy()] = np.arange(len(ids), dtype=np.int32)
    return rank[column.indices.to_numpy()], ids.take(order)


def _unified(blocks: list[Array]) -> Array:
    """Join blocks into one with one dictionary."""
    return pa.chunked_array(blocks, _DICTIONARY).combine_chunks()


def _ids(texts: Array) -> Ids:
    """Take over the memory of a new Arrow array of texts."""
    _, offsets, letters = texts.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[1 : len(texts) + 1]
    return Ids(np.frombuffer(letters, dtype=np.uint8)[: ends[-1]], ends)
