"""The database of a folder: SQLite in WAL mode, one connection that writes and one that reads."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clubcascade.errors import StoreDamaged, StoreError, StoreUnavailable

SCHEMA = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS log (
  number INTEGER PRIMARY KEY, payload BLOB NOT NULL, sum INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS decisions (
  number INTEGER PRIMARY KEY, at INTEGER NOT NULL, request TEXT, payload BLOB NOT NULL,
  outcome TEXT, event INTEGER, sum INTEGER NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS by_request ON decisions (request) WHERE request IS NOT NULL;
CREATE INDEX IF NOT EXISTS waiting ON decisions (number) WHERE outcome IS NULL;
"""


class Database:
    """Every commit is synchronised with the disk before it returns.

    Parameters
    ----------
    path
        The file, made if it does not exist; its folder exists.
    vfs
        Name of the SQLite file system to use, None for the default one.
    """

    def __init__(self, path: Path, vfs: str | None) -> None:
        self._path, self._vfs = path, vfs
        self._reading = threading.Lock()
        self._write: sqlite3.Connection | None = None
        self._read: sqlite3.Connection | None = None

    def open(self) -> None:
        """Connect, and make the tables if there are none."""
        self._write = self._connect()
        mode = self._write.execute("PRAGMA journal_mode=WAL").fetchone()[0]
        if mode != "wal":
            raise StoreUnavailable(
                f"{self._path.parent} must be on a disk that allows WAL, got {mode!r}"
            )
        self._write.execute("PRAGMA synchronous=FULL")
        self._write.execute("PRAGMA wal_autocheckpoint=2000")
        self._write.executescript(SCHEMA)
        self._read = self._connect()
        self._read.execute("PRAGMA query_only=ON")

    def _connect(self) -> sqlite3.Connection:
        path = self._path.absolute().as_uri()
        uri = path if self._vfs is None else f"{path}?vfs={self._vfs}"
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
        connection.text_factory = str
        return connection

    def reopen(self) -> None:
        """Connect anew after an error, and believe nothing that is not on the disk.

        After a failed sync the last commit may stand in the write-ahead log without being on the
        disk. Everything is therefore copied into the database, and that synchronised, before
        anything is believed.
        """
        self.close()
        with self._reading, problems("open the store again"):
            self.open()
            busy = self.write.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if busy:
            raise StoreUnavailable("could not open the store again: the database is busy")

    @property
    def write(self) -> sqlite3.Connection:
        """The connection that writes; for one thread at a time."""
        if self._write is None:
            raise StoreUnavailable("the store is closed")
        return self._write

    @contextmanager
    def reader(self) -> Iterator[sqlite3.Connection]:
        """Give the connection that reads to one thread at a time."""
        with self._reading, problems("read the store"):
            if self._read is None:
                raise StoreUnavailable("the store is closed")
            yield self._read

    def close(self) -> None:
        """Let both connections go."""
        with self._reading:
            for connection in (self._read, self._write):
                if connection is not None:
                    try:
                        connection.close()
                    except sqlite3.Error:
                        pass  # a disk that fails now is found by the next open
            self._read = self._write = None


@contextmanager
def problems(what: str) -> Iterator[None]:
    """Turn the errors of SQLite into ours."""
    try:
        yield
    except StoreError:
        raise
    except (sqlite3.DatabaseError, OSError, OverflowError, UnicodeDecodeError) as error:
        name = getattr(error, "sqlite_errorname", "")
        passing = isinstance(error, sqlite3.OperationalError | OSError)
        if passing and "CORRUPT" not in name:
            raise StoreUnavailable(f"could not {what}: {error} {name}".rstrip()) from error
        raise StoreDamaged(f"could not {what}: the database is damaged: {error}") from error
