"""What every data set becomes: which user clicked which item, and where that is known from."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from clubcascade.datasets.ids import Ids
from clubcascade.errors import InvalidData


@dataclass(frozen=True, eq=False)
class Interactions:
    """Which user clicked (rated, reviewed, bought) which item.

    Attributes
    ----------
    name
        What the data set is called.
    fingerprint
        SHA-256 of the content, the same on every machine: clicks, order and ids.
    clicks
        Users x items, sparse, of booleans; each pair once. Read-only.
    user_ids, item_ids
        Whose the rows are and which the columns, as text.
    source
        Where it comes from: kind, file, checksum, counts, terms.
    """

    name: str
    fingerprint: str
    clicks: sparse.csr_array
    user_ids: Sequence[str]
    item_ids: Sequence[str]
    source: dict[str, Any] = field(default_factory=dict)

    @property
    def n_users(self) -> int:
        """Number of users."""
        return int(self.clicks.shape[0])

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.clicks.shape[1])

    @property
    def n_clicks(self) -> int:
        """Number of distinct pairs of a user and an item."""
        return int(self.clicks.nnz)

    @property
    def density(self) -> float:
        """Share of all pairs of a user and an item that were clicked."""
        return self.n_clicks / (self.n_users * self.n_items)


def assemble(
    name: str,
    indptr: npt.NDArray[Any],
    indices: npt.NDArray[Any],
    user_ids: Ids,
    item_ids: Ids,
    source: dict[str, Any],
    fingerprint: str | None = None,
) -> Interactions:
    """Put the parts of a data set together, and check that they fit.

    ``indptr`` and ``indices`` are the items of each user in the compressed form of SciPy:
    ascending, each once. The fingerprint is computed where it is not known.
    """
    starts = np.ascontiguousarray(indptr, dtype="<i8")
    columns = np.ascontiguousarray(indices, dtype="<i4")
    if not _fits(starts, columns, len(user_ids), len(item_ids)):
        raise InvalidData(f"data set {name!r} does not fit together: its file was damaged")
    known = fingerprint or _fingerprint(starts, columns, user_ids, item_ids)
    kind = np.int32 if len(columns) < np.iinfo(np.int32).max else np.int64
    ones: Any = np.ones(len(columns), np.bool_)
    parts = ones, columns.astype(kind, copy=False), starts.astype(kind)
    clicks = sparse.csr_array(parts, (len(user_ids), len(item_ids)))
    clicks.has_canonical_format = True
    for array in (clicks.data, clicks.indices, clicks.indptr):
        array.flags.writeable = False
    return Interactions(name, known, clicks, user_ids, item_ids, source)


def _fits(starts: npt.NDArray[Any], columns: npt.NDArray[Any], n_users: int, n_items: int) -> bool:
    """Whether these are the rows of a matrix of that size, each row ascending without repeats."""
    if len(starts) != n_users + 1 or starts[0] != 0 or starts[-1] != len(columns):
        return False
    if np.any(np.diff(starts) < 0) or not n_users or not n_items:
        return False
    if columns.size and (columns.min() < 0 or columns.max() >= n_items):
        return False
    falls = np.flatnonzero(columns[1:] <= columns[:-1]) + 1
    return bool(np.isin(falls, starts).all())


def _fingerprint(
    starts: npt.NDArray[Any], columns: npt.NDArray[Any], user_ids: Ids, item_ids: Ids
) -> str:
    digest = hashlib.sha256(b"clubcascade clicks")
    digest.update(np.array([len(user_ids), len(item_ids), len(columns)], dtype="<i8").data)
    for array in (starts, columns):
        digest.update(array.data)
    for ids in (user_ids, item_ids):
        digest.update(ids.ends.astype("<i8", copy=False).data)
        digest.update(ids.letters.data)
    return digest.hexdigest()
