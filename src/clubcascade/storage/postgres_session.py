"""Sessions with PostgreSQL: one writer, fenced by an epoch that every commit checks."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from clubcascade.errors import StoreDamaged, StoreError, StoreFenced, StoreLocked, StoreUnavailable
from clubcascade.storage.base import FORMAT

SCHEMA = """
CREATE TABLE IF NOT EXISTS clubcascade_about (
  one BOOLEAN PRIMARY KEY CHECK (one), format INTEGER NOT NULL, epoch BIGINT NOT NULL,
  owner TEXT NOT NULL
);
INSERT INTO clubcascade_about VALUES (true, 1, 0, '') ON CONFLICT DO NOTHING;
CREATE TABLE IF NOT EXISTS clubcascade_log (
  number BIGINT PRIMARY KEY, payload BYTEA NOT NULL, sum BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS clubcascade_decisions (
  number BIGINT PRIMARY KEY, at BIGINT NOT NULL, request TEXT, payload BYTEA NOT NULL,
  outcome TEXT, event BIGINT, sum BIGINT NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS clubcascade_by_request ON clubcascade_decisions (request)
  WHERE request IS NOT NULL;
CREATE INDEX IF NOT EXISTS clubcascade_waiting ON clubcascade_decisions (number)
  WHERE outcome IS NULL;
CREATE TABLE IF NOT EXISTS clubcascade_snapshots (
  number BIGINT, part INTEGER, payload BYTEA NOT NULL, PRIMARY KEY (number, part)
);
"""
_KEY = 0x636C7562  # the advisory lock of the writer, within the database
_PATIENCE = 1.0
"""Seconds to wait for a lock that an ended session still holds."""


class Session:
    """A connection that writes and one that reads.

    Whoever opens a session raises the store's epoch. A commit of a writer with another epoch is
    refused inside its own transaction, so a writer that was paused while another took over cannot
    write.

    Parameters
    ----------
    url
        ``postgresql://user@host/database``.
    takeover
        Take the store from a writer that seems to live but does not answer.
    """

    def __init__(self, url: str, *, takeover: bool) -> None:
        self.url = url
        self.notes: list[str] = []
        self._reading = threading.Lock()
        self._write: psycopg.Connection[Any] | None = None
        self._read: psycopg.Connection[Any] | None = None
        self.epoch = 0
        try:
            with problems("open the store"):
                self._connect()
                self._own(takeover)
        except BaseException:
            self.close()
            raise

    # -- opening -------------------------------------------------------------------------------

    def _connect(self) -> None:
        self._write = psycopg.connect(self.url, autocommit=True, connect_timeout=10)
        self._read = psycopg.connect(self.url, autocommit=True, connect_timeout=10)
        self._write.execute("SET synchronous_commit = on")

    def _own(self, takeover: bool) -> None:
        write = self._write
        assert write is not None
        if not self._try_lock(write):
            owner = write.execute("SELECT owner FROM clubcascade_about").fetchone()
            name = owner[0] if owner else "unknown"
            if not takeover:
                raise StoreLocked(
                    f"the store is open in another process ({name}); a store has one writer: "
                    f"stop that process, or open with takeover=True if it no longer answers"
                )
            self.notes.append(f"the store was taken over from {name}")
        with write.transaction():
            write.execute(SCHEMA)
            me = f"process {os.getpid()} on {socket.gethostname()}"
            row = write.execute(
                "UPDATE clubcascade_about SET epoch = epoch + 1, owner = %s "
                "RETURNING epoch, format",
                (me,),
            ).fetchone()
            assert row is not None
            self.epoch, found = int(row[0]), row[1]
            if not 1 <= found <= FORMAT:
                raise StoreDamaged(
                    f"the store must be of format 1 to {FORMAT}, got {found}; a newer clubcascade "
                    f"may read it"
                )
        if takeover:
            self._end_old_writers(write)

    def _try_lock(self, write: psycopg.Connection[Any]) -> bool:
        """Take the writer's lock; a session that has just ended may hold it for a moment."""
        until = time.monotonic() + _PATIENCE
        while True:
            row = write.execute("SELECT pg_try_advisory_lock(%s)", (_KEY,)).fetchone()
            if row and row[0]:
                return True
            if time.monotonic() > until:
                return False
            time.sleep(0.05)

    def _end_old_writers(self, write: psycopg.Connection[Any]) -> None:
        """End the sessions of writers before us: a courtesy, for the epoch already fences them."""
        write.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND "
            "objid = %s AND pid <> pg_backend_pid() AND "
            "database = (SELECT oid FROM pg_database WHERE datname = current_database())",
            (_KEY,),
        )
        self._try_lock(write)

    # -- using ---------------------------------------------------------------------------------

    @contextmanager
    def fenced(self, what: str) -> Iterator[psycopg.Cursor[Any]]:
        """Open a transaction that only the owner of the epoch can commit."""
        with problems(what):
            if self._write is None:
                raise StoreUnavailable("the store is closed")
            with self._write.transaction(), self._write.cursor() as cursor:
                # Held until the commit: a newcomer that raises the epoch waits for us.
                row = cursor.execute("SELECT epoch FROM clubcascade_about FOR SHARE").fetchone()
                if row is None or row[0] != self.epoch:
                    raise StoreFenced(
                        f"another process has taken the store over (epoch {row and row[0]}, "
                        f"ours is {self.epoch}); this one can write nothing more: start it anew"
                    )
                yield cursor

    def ask(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query; any thread may ask."""
        with self._reading, problems("read the store"):
            if self._read is None:
                raise StoreUnavailable("the store is closed")
            if self._read.closed:
                self._read = psycopg.connect(self.url, autocommit=True, connect_timeout=10)
            return self._read.execute(query, values).fetchall()

    # -- ends ----------------------------------------------------------------------------------

    def recover(self) -> None:
        """Connect anew after an error; raise if another writer came in between."""
        self._disconnect()
        with problems("open the store again"):
            self._connect()
            assert self._write is not None
            with self.fenced("open the store again"):
                pass
            if not self._try_lock(self._write):
                # Our own broken session may still hold it for a moment; the epoch fences others.
                self.notes.append("the writer's lock is still held by an earlier session")

    def _disconnect(self) -> None:
        with self._reading:
            for connection in (self._read, self._write):
                if connection is not None:
                    try:
                        connection.close()
                    except psycopg.Error:
                        pass  # it is gone already
            self._read = self._write = None

    def close(self) -> None:
        """Let the store go."""
        if self._write is not None:
            try:
                self._write.execute("SELECT pg_advisory_unlock_all()")
            except psycopg.Error:
                pass  # the session is gone, and its lock with it
        self._disconnect()


@contextmanager
def problems(what: str) -> Iterator[None]:
    """Turn the errors of PostgreSQL into ours."""
    try:
        yield
    except StoreError:
        raise
    except psycopg.Error as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise StoreUnavailable(f"could not {what}: {reason}") from error
