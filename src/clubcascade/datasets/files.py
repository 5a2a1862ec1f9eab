"""Files that are read with progress, and written whole or not at all."""

import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from clubcascade.errors import DataMissing, InvalidData
from clubcascade.model_file import atomic_write, remove_abandoned

Progress = Callable[[str, int, int], None]
"""What is being done, how many bytes are done, of how many."""
PathLike = str | os.PathLike[str]
ABANDONED = 3600.0
"""Seconds after which a temporary file counts as that of a killed process."""


def silent(_what: str, _done: int, _total: int) -> None:
    """Report no progress."""


def opened(path: Path, progress: Progress = silent, what: str = "reading") -> io.BufferedReader:
    """Open a file for reading, and report every piece that is read of it."""
    return io.BufferedReader(_Monitored(path, progress, what), 1 << 20)


class _Monitored(io.FileIO):
    def __init__(self, path: Path, progress: Progress, what: str) -> None:
        super().__init__(path, "rb")
        self._progress, self._what = progress, what
        self._done, self._total = 0, path.stat().st_size

    def readinto(self, buffer: Any, /) -> int:
        count = super().readinto(buffer) or 0
        self._done = min(self._done + count, self._total)
        self._progress(self._what, self._done, self._total)
        return count


def existing(path: PathLike) -> Path:
    """Return a path that is there; say so plainly if it is not."""
    found = Path(path).expanduser()
    if not found.exists():
        raise DataMissing(f"path must be a file on this machine, got {str(path)!r}: no such file")
    return found


def file_at(path: PathLike) -> Path:
    """Return a path that is a file with something in it."""
    found = existing(path)
    if not found.is_file():
        raise InvalidData(f"path must be a file, got the folder {str(path)!r}")
    if not found.stat().st_size:
        raise InvalidData(f"{found} is empty")
    return found


@contextmanager
def written(path: Path) -> Iterator[BinaryIO]:
    """Open a file that has its name, in a folder that is made, once all of it is on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_abandoned(path.parent, ABANDONED, f".{path.name}.*.tmp")
    with atomic_write(path, sync=True) as stream:
        yield stream
