"""Files that say how much of them was read."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

Progress = Callable[[str, int, int], None]
"""What is being done, how many bytes are done, of how many."""


def silent(_what: str, _done: int, _total: int) -> None:
    """Say nothing."""


def opened(path: Path, progress: Progress = silent, what: str = "reading") -> io.BufferedReader:
    """Open a file for reading, and report every piece that is read of it."""
    return io.BufferedReader(_Watched(path, progress, what), 1 << 20)


class _Watched(io.FileIO):
    def __init__(self, path: Path, progress: Progress, what: str) -> None:
        super().__init__(path, "rb")
        self._progress, self._what = progress, what
        self._done, self._total = 0, path.stat().st_size

    def readinto(self, buffer: Any, /) -> int:
        count = super().readinto(buffer) or 0
        self._done = min(self._done + count, self._total)
        self._progress(self._what, self._done, self._total)
        return count
