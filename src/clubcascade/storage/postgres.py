"""A store in PostgreSQL: one writer, fenced by an epoch that every commit checks."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg

from clubcascade.errors import StoreDamaged, StoreError, StoreFenced, StoreLocked, StoreUnavailable
from clubcascade.storage import snapshot_codec
from clubcascade.storage.base import (
    FORMAT,
    Batch,
    DecisionRow,
    Store,
    answered,
    checksum,
    row_checksum,
)

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
_PART = 8 * 2**20
_PATIENCE = 1.0
"""Seconds to wait for a lock that an ended session still holds."""
_DECISION = "SELECT number, at, request, payload, outcome, event, sum FROM clubcascade_decisions"


class PostgresStore(Store):
    """Tables ``clubcascade_*`` in one database.

    Whoever opens the store raises its epoch. A commit of a writer with another epoch is refused
    inside its own transaction, so a writer that was paused while another took over cannot write.

    Parameters
    ----------
    url
        ``postgresql://user@host/database``.
    takeover
        Take the store from a writer that seems to live but does not answer.
    """

    remote = True

    def __init__(self, url: str, *, takeover: bool = False) -> None:
        self.url = url
        self.notes = []
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
            self.epoch, found = row
            self.starts = int(self.epoch)
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

    # -- writing -------------------------------------------------------------------------------

    @contextmanager
    def _fenced(self, what: str) -> Iterator[psycopg.Cursor[Any]]:
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

    def commit(self, batch: Batch) -> None:
        """Make a batch durable, whole."""
        with self._fenced("write to the store") as cursor:
            if batch.decisions:
                cursor.executemany(
                    "INSERT INTO clubcascade_decisions (number, at, request, payload, sum) "
                    "VALUES (%s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
                    [(*row[:4], checksum(row.number, row.payload)) for row in batch.decisions],
                )
            if batch.events:
                cursor.executemany(
                    "INSERT INTO clubcascade_log VALUES (%s, %s, %s)",
                    [(n, payload, checksum(n, payload)) for n, payload in batch.events],
                )
            if batch.answers:
                cursor.executemany(
                    "UPDATE clubcascade_decisions SET outcome=%s, event=%s, sum=%s WHERE number=%s",
                    [
                        (a.outcome, a.event, answered(a.base, a.outcome, a.event), a.number)
                        for a in batch.answers
                    ],
                )

    def forget_events(self, upto: int, limit: int) -> int:
        """Drop up to ``limit`` events numbered ``upto`` or below; the last one always stays."""
        with self._fenced("compact the log") as cursor:
            cursor.execute(
                "DELETE FROM clubcascade_log WHERE number IN (SELECT number FROM clubcascade_log "
                "WHERE number <= %s AND number < (SELECT max(number) FROM clubcascade_log) "
                "ORDER BY number LIMIT %s)",
                (upto, limit),
            )
            return cursor.rowcount

    def forget_decisions(self, before: int, limit: int) -> int:
        """Drop up to ``limit`` of the oldest decisions made before a time."""
        with self._fenced("drop old decisions") as cursor:
            cursor.execute(
                "DELETE FROM clubcascade_decisions WHERE at < %s AND number IN "
                "(SELECT number FROM clubcascade_decisions ORDER BY number LIMIT %s)",
                (before, limit),
            )
            return cursor.rowcount

    # -- reading -------------------------------------------------------------------------------

    def _ask(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._reading, problems("read the store"):
            if self._read is None:
                raise StoreUnavailable("the store is closed")
            if self._read.closed:
                self._read = psycopg.connect(self.url, autocommit=True, connect_timeout=10)
            return self._read.execute(query, values).fetchall()

    def _number(self, query: str) -> int:
        return int(self._ask(query)[0][0])

    def decisions(self, numbers: Sequence[int]) -> list[DecisionRow]:
        """Return those of the decisions of these numbers that are known, in any order."""
        possible = [number for number in numbers if number < 2**63]
        found = self._ask(f"{_DECISION} WHERE number = ANY(%s)", possible)
        return [checked(row) for row in found]

    def by_request(self, request: str) -> DecisionRow | None:
        """Return the decision that was made for a client's request id."""
        found = self._ask(f"{_DECISION} WHERE request=%s", request)
        return checked(found[0]) if found else None

    def unanswered(self, after: int, before: int, limit: int) -> list[DecisionRow]:
        """Return decisions numbered above ``after``, made before that time, without an answer."""
        found = self._ask(
            f"{_DECISION} WHERE number > %s AND at < %s AND outcome IS NULL "
            "ORDER BY number LIMIT %s",
            after,
            before,
            limit,
        )
        return [checked(row) for row in found]

    def waiting(self) -> int:
        """Count the decisions without an answer."""
        return self._number("SELECT count(*) FROM clubcascade_decisions WHERE outcome IS NULL")

    def last_event(self) -> int:
        """Return the number of the last event, 0 if there is none."""
        return self._number("SELECT coalesce(max(number), 0) FROM clubcascade_log")

    def last_decision(self) -> int:
        """Return the number of the last decision, 0 if there is none."""
        return self._number("SELECT coalesce(max(number), 0) FROM clubcascade_decisions")

    def events(self, after: int) -> Iterator[tuple[int, bytes]]:
        """Yield the events numbered above ``after``, in order, without a gap."""
        last = self.last_event()
        while after < last:
            found = self._ask(
                "SELECT number, payload, sum FROM clubcascade_log WHERE number > %s "
                "ORDER BY number LIMIT 1000",
                after,
            )
            for number, payload, expected in found:
                if number != after + 1:
                    raise StoreDamaged(
                        f"event {after + 1} of the log is missing; the last is {last}"
                    )
                if checksum(number, payload) != expected:
                    raise StoreDamaged(f"event {number} of the log is damaged; the last is {last}")
                after = number
                yield number, payload

    # -- snapshots -----------------------------------------------------------------------------

    def save_snapshot(self, number: int, chunks: Iterable[bytes | memoryview]) -> None:
        """Keep a snapshot of the state after event ``number``: whole or not at all."""
        data = b"".join(chunks)
        with problems("write the snapshot"), psycopg.connect(self.url) as connection:
            row = connection.execute("SELECT epoch FROM clubcascade_about FOR SHARE").fetchone()
            if row is None or row[0] != self.epoch:
                raise StoreFenced("another process has taken the store over")
            connection.execute("DELETE FROM clubcascade_snapshots WHERE number = %s", (number,))
            for part, start in enumerate(range(0, len(data), _PART)):
                connection.execute(
                    "INSERT INTO clubcascade_snapshots VALUES (%s, %s, %s)",
                    (number, part, data[start : start + _PART]),
                )

    def snapshots(self) -> list[int]:
        """Return the numbers of the snapshots, newest first."""
        found = self._ask("SELECT DISTINCT number FROM clubcascade_snapshots ORDER BY number DESC")
        return [int(row[0]) for row in found]

    def load_snapshot(self, number: int) -> bytes:
        """Return the snapshot of that number."""
        parts = self._ask(
            "SELECT payload FROM clubcascade_snapshots WHERE number = %s ORDER BY part", number
        )
        data = b"".join(row[0] for row in parts)
        try:
            snapshot_codec.check(data)
        except StoreDamaged as error:
            raise StoreDamaged(f"snapshot {number} cannot be used: {error}") from None
        return data

    def drop_snapshots(self, keep: int) -> None:
        """Drop all but the newest ``keep`` snapshots."""
        with self._fenced("drop old snapshots") as cursor:
            for number in self.snapshots()[keep:]:
                cursor.execute("DELETE FROM clubcascade_snapshots WHERE number = %s", (number,))

    # -- ends ----------------------------------------------------------------------------------

    def recover(self) -> None:
        """Connect anew after an error; raise if another writer came in between."""
        self._disconnect()
        with problems("open the store again"):
            self._connect()
            assert self._write is not None
            with self._fenced("open the store again"):
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


def checked(found: tuple[Any, ...]) -> DecisionRow:
    """Return a decision as it was written; raise if its checksum does not fit."""
    row = DecisionRow(*found[:6])
    if row_checksum(row) != found[6]:
        raise StoreDamaged(f"decision {row.number} is damaged in the store")
    return row


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
