"""Ids of any kind as numbers, gathered block by block: each distinct id is kept once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from clubcascade.core import Ints
from clubcascade.datasets.arrow import Array, pa, pc
from clubcascade.datasets.ids import Ids

Codes32 = npt.NDArray[np.int32]

_PATIENCE = 1 << 21
"""Ids that may wait before they are merged with those known."""


class Codes:
    """A column of ids that comes in blocks, as numbers into the distinct ids.

    Blocks are reduced to their own distinct ids; these wait until they are worth a merge. Four
    bytes stay per row, and each distinct id once.

    Examples
    --------
    >>> column = Codes()
    >>> column.add(pa.array(["bob", "alice", "bob"]))
    >>> column.add(pa.array(["carol", "alice"]))
    >>> codes, ids = column.finish()
    >>> codes, list(ids)
    (array([1, 0, 1, 2, 0], dtype=int32), ['alice', 'bob', 'carol'])
    """

    def __init__(self) -> None:
        self._known: Array = pa.array([], pa.large_string())
        self._waiting: list[Array] = []
        self._n_waiting = 0
        self._rows: list[Codes32] = []
        self._settled = 0

    def add(self, block: Array) -> None:
        """Take the next rows of the column; none of them may be null."""
        encoded = block.dictionary_encode() if not pa.types.is_dictionary(block.type) else block
        codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
        self._rows.append(codes + np.int32(len(self._known) + self._n_waiting))
        self._waiting.append(encoded.dictionary.cast(pa.large_string()))
        self._n_waiting += len(encoded.dictionary)
        if self._n_waiting > max(_PATIENCE, len(self._known)):
            self._merge()

    def finish(self) -> tuple[Codes32, Ids]:
        """Return the rows as numbers and the distinct ids, in an order that is theirs alone.

        Whole numbers are ordered as numbers, everything else as text.
        """
        self._merge()
        order = _order(self._known)
        rank = np.empty(len(order), dtype=np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        for place, codes in enumerate(self._rows):
            self._rows[place] = rank[codes]
        rows = np.concatenate(self._rows) if self._rows else np.zeros(0, np.int32)
        self._rows = []
        return rows, _ids(self._known.take(pa.array(order)))

    def _merge(self) -> None:
        if not self._waiting:
            return
        together = pa.concat_arrays([self._known, *self._waiting]).dictionary_encode()
        places = together.indices.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
        for place in range(self._settled, len(self._rows)):
            self._rows[place] = places[self._rows[place]]
        self._settled = len(self._rows)
        self._known = together.dictionary
        self._waiting, self._n_waiting = [], 0


def _order(ids: Array) -> Ints:
    numbers = _as_numbers(ids)
    if numbers is not None:
        return np.argsort(numbers, kind="stable")
    order: Ints = pc.array_sort_indices(ids).to_numpy(zero_copy_only=False).astype(np.int64)
    return order


def _as_numbers(ids: Array) -> npt.NDArray[np.int64] | None:
    """Return the ids as whole numbers if each is written as one in the usual way."""
    if (
        not len(ids)
        or not pc.all(pc.match_substring_regex(ids, r"^(0|-?[1-9][0-9]{0,17})$")).as_py()
    ):
        return None
    numbers: npt.NDArray[np.int64] = ids.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return numbers


def _ids(texts: Array) -> Ids:
    """Take over the memory of an Arrow array of texts."""
    whole = pa.concat_arrays([texts])  # no offset into a larger array
    _, offsets, letters = whole.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[whole.offset : whole.offset + len(whole) + 1]
    if not len(whole):
        return Ids(np.zeros(0, np.uint8), np.zeros(0, np.int64))
    content = np.frombuffer(letters, dtype=np.uint8)[ends[0] : ends[-1]]
    return Ids(content.copy(), (ends[1:] - ends[0]).astype(np.int64))
