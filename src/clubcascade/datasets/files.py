"""Files that are read with progress, and written whole or not at all."""

from __future__ import annotations

import io
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from clubcascade.errors import DataMissing, InvalidData

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
def naming(path: Path) -> Iterator[None]:
    """Name the file in errors of the system that name none, such as that of a full disk."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or type(error) is not OSError or error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error


@contextmanager
def written(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file, and give it its name once all of it is on the disk.

    Whatever goes wrong, nothing half-written is left, and an earlier file stays as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    for old in path.parent.glob(f".{path.name}.*.tmp"):
        with suppress(OSError):
            if time.time() - old.stat().st_mtime > ABANDONED:
                old.unlink()
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with naming(path), temporary.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    with suppress(OSError):  # the new name survives a power loss too, where the system can do that
        handle = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
