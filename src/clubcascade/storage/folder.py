"""The files of a store beside its database: locks, a mark, snapshots, old events.

Only their owner reads them. A lock of the system (``flock``) ends with the process that holds it,
however that ends.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import os
import re
import socket
import struct
import threading
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from clubcascade.errors import MissingExtra, StoreDamaged, StoreLocked, StoreUnavailable
from clubcascade.storage import snapshot_codec
from clubcascade.storage.base import Segment, checksum

_MARK = struct.Struct("<QI")
_NAME = re.compile(r"(\d{20})\.snapshot")
_PAUSE = 0.0005


def open_private(path: Path) -> int:
    """Open a file to read and write, made for its owner alone if it is new."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


class Lock:
    """A lock file, held until :meth:`release`; it says who held it last."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle = open_private(path)

    def take(self, *, shared: bool = False) -> bool:
        """Take the lock if that is possible now; tell whether it is held."""
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        try:
            fcntl.flock(self._handle, kind | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def sign(self) -> None:
        """Write down who holds it."""
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)

    def refuse(self) -> StoreLocked:
        """Return the error of one who cannot have it."""
        owner = os.read(self._handle, 200).decode("utf-8", "replace").strip() or "unknown"
        return StoreLocked(
            f"{self.path.parent} is open in another process ({owner}) that shares it with "
            f"nobody: stop that process, or use another folder"
        )

    @contextmanager
    def turn(self, patience: float) -> Iterator[None]:
        """Hold the lock for a moment; writers that wait take turns."""
        until = time.monotonic() + patience
        while not self.take():
            if time.monotonic() > until:
                raise StoreUnavailable(
                    f"another server has been writing for {patience:g} seconds: it hangs"
                )
            time.sleep(_PAUSE)
        try:
            yield
        finally:
            fcntl.flock(self._handle, fcntl.LOCK_UN)

    def release(self) -> None:
        """Let it go for good."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


class Mark:
    """How far the log was known to be durable, in a file of twelve bytes outside the log.

    A database that has lost its last pages, or its write-ahead log a few bits, opens without a
    word at an earlier state. The mark tells: it is written after a commit became durable, so a
    log that ends before it has lost something. The mark itself need not be durable: an older one
    says less, never something wrong.
    """

    def __init__(self, path: Path) -> None:
        self._handle = open_private(path)

    def read(self) -> int | None:
        """Return the marked position; None if there is no mark, or a damaged one."""
        data = os.pread(self._handle, _MARK.size + 1, 0)
        if len(data) != _MARK.size:
            return None
        position, found = _MARK.unpack(data)
        return int(position) if found == zlib.crc32(data[:8]) else None

    def write(self, position: int) -> None:
        """Mark that the log is durable up to a position."""
        packed = position.to_bytes(8, "little")
        try:
            os.pwrite(self._handle, _MARK.pack(position, zlib.crc32(packed)), 0)
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


class SnapshotFiles:
    """The snapshots of one store, a file each: written aside, made durable, renamed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True, mode=0o700)
        old = time.time() - 3600
        for aside in folder.glob("*.aside"):  # of a process that was stopped while writing
            try:
                if aside.stat().st_mtime < old:
                    aside.unlink()
            except FileNotFoundError:
                pass  # another server was faster

    def _path(self, position: int) -> Path:
        return self.folder / f"{position:020d}.snapshot"

    def positions(self) -> list[int]:
        """Return the positions of the snapshots, newest first."""
        found = (_NAME.fullmatch(path.name) for path in self.folder.iterdir())
        return sorted((int(match[1]) for match in found if match), reverse=True)

    def save(self, position: int, chunks: Iterable[bytes | memoryview]) -> None:
        """Write a snapshot; an interrupted one leaves nothing that could be taken for whole."""
        try:
            write_whole(self._path(position), chunks)
        except OSError as error:
            raise StoreUnavailable(f"the snapshot could not be written: {error}") from error

    def load(self, position: int) -> bytes:
        """Return a snapshot; raise if it is damaged."""
        try:
            data = self._path(position).read_bytes()
            snapshot_codec.check(data)
        except (OSError, StoreDamaged) as error:
            raise StoreDamaged(f"snapshot {position} cannot be used: {error}") from None
        return data

    def drop(self, positions: Iterable[int]) -> None:
        """Remove snapshots."""
        for position in positions:
            self._path(position).unlink(missing_ok=True)


def write_whole(target: Path, chunks: Iterable[bytes | memoryview]) -> None:
    """Write a file aside, make it durable, rename it: it is there whole or not at all."""
    aside = target.with_suffix(f".{os.getpid()}.{threading.get_ident()}.aside")
    try:
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as stream:
            for chunk in chunks:
                stream.write(chunk)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(aside, target)
    except OSError:
        aside.unlink(missing_ok=True)
        raise
    handle = os.open(target.parent, os.O_RDONLY)  # its name is durable, too
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# -- archive ---------------------------------------------------------------------------------------


SEGMENT_EVENTS = 20_000
"""Events of a segment, and at most:"""
SEGMENT_ROOM = 64 * 2**20
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
