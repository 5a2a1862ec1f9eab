"""Ids as text: many short strings in one piece of memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


class Ids(Sequence[str]):
    """A sequence of texts that does not change, held as UTF-8 with the place of each.

    A million Python strings cost 60 MB and a noticeable while to make; this costs their length.

    ``letters`` are all texts in UTF-8, one after the other; ``ends`` says where each ends.

    Examples
    --------
    >>> ids = Ids.of(["alice", "bob", ""])
    >>> ids[1], len(ids), list(ids), ids == ("alice", "bob", "")
    ('bob', 3, ['alice', 'bob', ''], True)
    """

    __slots__ = ("ends", "letters")

    def __init__(self, letters: npt.NDArray[np.uint8], ends: npt.NDArray[np.int64]) -> None:
        self.letters = np.ascontiguousarray(letters, dtype=np.uint8)
        self.ends = np.ascontiguousarray(ends, dtype=np.int64)
        for array in (self.letters, self.ends):
            array.flags.writeable = False

    @classmethod
    def of(cls, texts: Iterable[str]) -> Ids:
        """Encode texts."""
        parts = [text.encode() for text in texts]
        ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
        return cls(np.frombuffer(b"".join(parts), dtype=np.uint8), ends)

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        place = range(len(self))[index]
        start = int(self.ends[place - 1]) if place else 0
        return self.letters[start : int(self.ends[place])].tobytes().decode()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash((self.letters.tobytes(), self.ends.tobytes()))

    def __repr__(self) -> str:
        shown = ", ".join(repr(text) for text in self[:3])
        return f"Ids({shown}{', …' if len(self) > 3 else ''}; {len(self)})"
