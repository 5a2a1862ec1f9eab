"""Old events of the log as Parquet files: written once, checked whenever they are read."""

from __future__ import annotations

import hashlib
import io
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from clubcascade.errors import MissingExtra, StoreDamaged, StoreUnavailable
from clubcascade.storage.base import Segment, checksum
from clubcascade.storage.folder import write_whole

EVENTS = 20_000
"""Events of a segment, and at most:"""
ROOM = 64 * 2**20
"""Bytes of a segment."""
STRAY = 3_600.0
"""Seconds after which a file that no store lists goes: of a server that ended while writing."""


class Archive:
    """A folder of segments; which of its files count, the store knows.

    A file has the columns ``position``, ``payload`` and ``crc``, an event a row.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, events: Sequence[tuple[int, bytes]]) -> Segment:
        """Write a segment: whole, durable, and not yet part of any log."""
        pyarrow, parquet = modules()
        positions, payloads = zip(*events, strict=True)
        sums = [checksum(at, payload) for at, payload in events]
        table = pyarrow.table(
            {
                "position": pyarrow.array(positions, pyarrow.int64()),
                "payload": pyarrow.array(payloads, pyarrow.binary()),
                "crc": pyarrow.array(sums, pyarrow.int64()),
            }
        )
        stream = io.BytesIO()
        parquet.write_table(table, stream, compression="zstd", use_dictionary=False)
        found = hashlib.sha256(stream.getbuffer()).hexdigest()
        name = f"{positions[0]:020d}-{positions[-1]:020d}-{found}.parquet"
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_whole(self.folder / name, [stream.getbuffer()])
        except OSError as error:
            raise StoreUnavailable(f"the archive cannot be written: {error}") from error
        return Segment(positions[0], positions[-1], name)

    def read(self, segment: Segment) -> list[tuple[int, bytes, int]]:
        """Return positions, payloads and checksums of a segment; raise if a bit is wrong."""
        pyarrow, parquet = modules()
        first, last, name = segment
        where = f"events {first} to {last} of the log are in the archive's file {name}, which"
        try:
            data = (self.folder / name).read_bytes()
        except OSError as error:
            raise StoreDamaged(f"{where} is not in {self.folder}: {error.strerror}") from None
        if f"-{hashlib.sha256(data).hexdigest()}." not in name:
            raise StoreDamaged(f"{where} is damaged: its checksum does not fit")
        table = parquet.read_table(pyarrow.BufferReader(data))
        columns = (table[column].to_pylist() for column in ("position", "payload", "crc"))
        return list(zip(*columns, strict=True))

    def found(self) -> list[tuple[int, int, str, int]]:
        """Return first, last, name and time of the files that are here, the newest of each part."""
        files = sorted(self.folder.glob("*.parquet"), key=lambda path: path.stat().st_mtime)
        newest = {path.name[:41]: path for path in files}
        return [
            (int(part[:20]), int(part[21:]), path.name, int(path.stat().st_mtime * 1000))
            for part, path in sorted(newest.items())
        ]

    def drop(self, segment: Segment) -> None:
        """Remove a file."""
        (self.folder / segment.name).unlink(missing_ok=True)

    def drop_strays(self, listed: Sequence[Segment]) -> None:
        """Remove old files that no store lists."""
        known, old = {segment.name for segment in listed}, time.time() - STRAY
        with suppress(OSError):  # another server may be faster; the next time will do
            for path in self.folder.glob("*-*-*"):
                if path.name not in known and path.stat().st_mtime < old:
                    path.unlink(missing_ok=True)


def modules() -> tuple[Any, Any]:
    """Return what reads and writes Parquet."""
    try:
        import pyarrow  # noqa: PLC0415 - an extra
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra(
            'an archive needs its extra: pip install "clubcascade[export]"'
        ) from error
    return pyarrow, parquet
