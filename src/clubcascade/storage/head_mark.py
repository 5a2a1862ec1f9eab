"""A mark of how far the log was known to be durable, outside the log.

A database that has lost its last pages, or its write-ahead log a few bits, opens without a word at
an earlier state. The mark tells: it is written after a commit became durable, so a log that ends
before it has lost something. The mark itself need not be durable: an older one says less, never
something wrong.
"""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path

_MARK = struct.Struct("<QI")


class HeadMark:
    """The mark of one store, in a file of twelve bytes."""

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def read(self) -> int | None:
        """Return the number of the marked event; None if there is no mark, or a damaged one."""
        data = os.pread(self._handle, _MARK.size + 1, 0)
        if len(data) != _MARK.size:
            return None
        number, found = _MARK.unpack(data)
        return int(number) if found == zlib.crc32(data[:8]) else None

    def write(self, number: int) -> None:
        """Mark that event ``number`` is durable."""
        packed = number.to_bytes(8, "little")
        try:
            os.pwrite(self._handle, _MARK.pack(number, zlib.crc32(packed)), 0)
        except OSError:
            pass  # an older mark stays: it says less, but nothing wrong

    def clear(self) -> None:
        """Remove a damaged mark."""
        os.ftruncate(self._handle, 0)

    def close(self) -> None:
        """Close the file."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
