"""Ids as text: many short strings in one piece of memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import overload

import numpy as np
import numpy.typing as npt


class Ids(Sequence[str]):
    """A sequence of texts that does not change, held as UTF-8 with the place of each.

    A million Python strings cost 60 MB and a noticeable while to make; this costs their length.

    Parameters
    ----------
    letters
        All texts in UTF-8, one after the other.
    ends
        Where each text ends.

    Examples
    --------
    >>> ids = Ids.of(["alice", "bob", ""])
    >>> ids[1], len(ids), list(ids), ids == ("alice", "bob", "")
    ('bob', 3, ['alice', 'bob', ''], True)
    """

    __slots__ = ("_ends", "_letters")

    def __init__(self, letters: npt.NDArray[np.uint8], ends: npt.NDArray[np.int64]) -> None:
        self._letters = np.ascontiguousarray(letters, dtype=np.uint8)
        self._ends = np.ascontiguousarray(ends, dtype=np.int64)
        for array in (self._letters, self._ends):
            array.flags.writeable = False

    @classmethod
    def of(cls, texts: Iterable[str]) -> Ids:
        """Gather texts."""
        parts = [text.encode() for text in texts]
        ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
        return cls(np.frombuffer(b"".join(parts), dtype=np.uint8), ends)

    @property
    def letters(self) -> npt.NDArray[np.uint8]:
        """All texts in UTF-8, one after the other."""
        return self._letters

    @property
    def ends(self) -> npt.NDArray[np.int64]:
        """Where each text ends."""
        return self._ends

    def kept(self, wanted: npt.NDArray[np.bool_]) -> Ids:
        """Return the wanted texts, in the same order.

        >>> list(Ids.of(["a", "bc", "d"]).kept(np.array([True, False, True])))
        ['a', 'd']
        """
        lengths = np.diff(self._ends, prepend=0)
        return Ids(self._letters[np.repeat(wanted, lengths)], np.cumsum(lengths[wanted]))

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        place = range(len(self))[index]
        start = 0 if place == 0 else int(self._ends[place - 1])
        return self._letters[start : int(self._ends[place])].tobytes().decode()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash((self._letters.tobytes(), self._ends.tobytes()))

    def __repr__(self) -> str:
        shown = ", ".join(repr(text) for text in self[:3])
        return f"Ids({shown}{', …' if len(self) > 3 else ''}; {len(self)})"
