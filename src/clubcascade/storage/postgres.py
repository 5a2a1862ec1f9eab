"""A store in PostgreSQL, for servers on any number of hosts."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Self

import psycopg

from clubcascade.errors import StoreDamaged, StoreError, StoreLocked, StoreUnavailable
from clubcascade.storage import snapshot_codec
from clubcascade.storage.base import (
    FORMAT,
    SERVERS,
    Entry,
    Group,
    Row,
    answered,
    batched,
    checksum,
    row_checksum,
)
from clubcascade.storage.folder import Archive
from clubcascade.storage.sql import SqlStore

SCHEMA = """
CREATE TABLE IF NOT EXISTS clubcascade_about (
  one BOOLEAN PRIMARY KEY CHECK (one), format INTEGER NOT NULL, epoch BIGINT NOT NULL,
  owner TEXT NOT NULL
);
INSERT INTO clubcascade_about VALUES (true, 2, 0, '') ON CONFLICT DO NOTHING;
CREATE TABLE IF NOT EXISTS clubcascade_log (
  number BIGINT PRIMARY KEY, payload BYTEA NOT NULL, sum BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS clubcascade_head (
  one BOOLEAN PRIMARY KEY CHECK (one), position BIGINT NOT NULL
);
INSERT INTO clubcascade_head SELECT true, coalesce(max(number), 0) FROM clubcascade_log
  ON CONFLICT DO NOTHING;
CREATE TABLE IF NOT EXISTS clubcascade_segments (
  first BIGINT PRIMARY KEY, last BIGINT NOT NULL, name TEXT NOT NULL, at BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS clubcascade_decisions (
  number BIGINT PRIMARY KEY, at BIGINT NOT NULL, request TEXT, payload BYTEA NOT NULL,
  outcome TEXT, event BIGINT, sum BIGINT NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS clubcascade_by_request ON clubcascade_decisions (request)
  WHERE request IS NOT NULL;
DROP INDEX IF EXISTS clubcascade_waiting;
CREATE INDEX IF NOT EXISTS clubcascade_unanswered ON clubcascade_decisions (at)
  WHERE outcome IS NULL;
CREATE INDEX IF NOT EXISTS clubcascade_by_time ON clubcascade_decisions (at);
CREATE TABLE IF NOT EXISTS clubcascade_snapshots (
  number BIGINT, part INTEGER, payload BYTEA NOT NULL, PRIMARY KEY (number, part)
);
"""
_KEY = 0x636C7562
"""The advisory locks: of a writer of format 1; with 0 of who does the chores; with the number of
a server while that one lives."""
GRACE = 5.0
"""Seconds after a lost connection in which other servers may still be connecting anew."""
_PART = 2**20
PATIENCE = 4.0
"""Seconds that a statement may take."""
PACE = 2**20
"""Bytes of a large event for which it may take a second more."""
_SETTINGS = (
    "-c statement_timeout=4000 -c lock_timeout=3000 -c idle_in_transaction_session_timeout=5000"
)
_INSERT = (
    "INSERT INTO clubcascade_decisions (number, at, request, payload, sum) SELECT * FROM "
    "unnest(%s::bigint[], %s::bigint[], %s::text[], %b::bytea[], %s::bigint[]) "
    "ON CONFLICT DO NOTHING RETURNING number"
)


class PostgresStore(SqlStore):
    """Tables ``clubcascade_*`` in one database.

    Parameters
    ----------
    url
        ``postgresql://user@host/database``.
    archive
        Folder of old events, which all servers share; without one, none is moved.
    """

    remote, prefix = True, "clubcascade_"

    def __init__(self, url: str, *, archive: str | os.PathLike[str] | None = None) -> None:
        self._url = url
        if archive is not None:
            self.archive = Archive(Path(archive))
        self.notes = []
        self._leads = False
        self._write, self._read = Session(url), Session(url)
        self._news = Session(url)  # hears of what others append, and tells that we live
        self._lost = time.monotonic()
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        with self._write.use("open the store") as write, write.transaction():
            write.execute("SELECT pg_advisory_xact_lock(%s, -1)", (_KEY,))  # one at a time
            known = write.execute("SELECT to_regclass('clubcascade_about')").fetchone()
            found = FORMAT
            if known and known[0]:
                (found,) = write.execute("SELECT format FROM clubcascade_about").fetchone() or [0]
            if not 1 <= found <= FORMAT:
                raise StoreDamaged(
                    f"the store must be of format 1 to {FORMAT}, got {found}; a newer clubcascade "
                    f"may read it"
                )
            held = write.execute("SELECT pg_try_advisory_xact_lock(%s)", (_KEY,)).fetchone()
            if found == 1 and not (held and held[0]):
                raise StoreLocked(
                    "the store is open in a process of an earlier version that shares it with "
                    "nobody: stop that process"
                )
            write.execute(SCHEMA)
            row = write.execute(
                "UPDATE clubcascade_about SET format = %s, epoch = epoch %% %s + 1 RETURNING epoch",
                (FORMAT, SERVERS - 1),
            ).fetchone()
            assert row is not None
            self.server = int(row[0])
        self._listen()

    def _listen(self) -> None:
        with self._news.use("open the store") as news:
            news.execute("LISTEN clubcascade")
            news.execute("SELECT pg_advisory_lock(%s, %s)", (_KEY, self.server))

    # -- the log -------------------------------------------------------------------------------

    @contextmanager
    def _transaction(self, what: str) -> Iterator[psycopg.Cursor[Any]]:
        with self._write.use(what) as write, write.transaction(), write.cursor() as cursor:
            yield cursor

    @contextmanager
    def _apart(self, what: str) -> Iterator[psycopg.Cursor[Any]]:
        """Write much in one transaction, in a session of its own: nobody waits for it."""
        session = Session(self._url)
        try:
            with session.use(what) as apart, apart.transaction(), apart.cursor() as cursor:
                yield cursor
        finally:
            session.close()

    def append(self, group: Group) -> int | None:
        n, size = len(group.events), sum(len(entry.payload) for entry in group.events)
        with self._write.patient(size), self._transaction("write to the store") as cursor:
            self._write.wait_longer(cursor)
            first = 0
            if n or any(row.request for row in group.decisions):
                first = self._advance(cursor, n)
            self._insert(cursor, group.decisions)
            if n and not self._answer(cursor, first, group.events):
                raise psycopg.Rollback
            if n:
                self._log(cursor, first, [entry.payload for entry in group.events])
            return first if n else 0
        return None

    def _advance(self, cursor: psycopg.Cursor[Any], n: int) -> int:
        """Take the next positions; the row's lock orders the commits of all servers."""
        row = cursor.execute(
            "UPDATE clubcascade_head SET position = position + %s RETURNING position", (n,)
        ).fetchone()
        assert row is not None
        return int(row[0]) - n + 1

    def _insert(self, cursor: psycopg.Cursor[Any], rows: list[Row]) -> None:
        if not rows:
            return
        columns = [list(column) for column in zip(*[row[:4] for row in rows], strict=True)]
        columns.append([checksum(row.number, row.payload) for row in rows])
        done = {number for (number,) in cursor.execute(_INSERT, columns).fetchall()}
        left = [row for row in rows if row.number not in done and row.request is not None]
        if left:  # one whose request is there already is kept without it
            self._insert(cursor, [row._replace(request=None) for row in left])

    def _answer(self, cursor: psycopg.Cursor[Any], first: int, entries: list[Entry]) -> bool:
        found = [(at, entry) for at, entry in enumerate(entries, first) if entry.number is not None]
        if not found:
            return True
        done = cursor.execute(
            "UPDATE clubcascade_decisions d SET outcome = a.outcome, event = a.event, sum = a.sum "
            "FROM unnest(%s::bigint[], %s::text[], %s::bigint[], %s::bigint[]) "
            "AS a(number, outcome, event, sum) WHERE d.number = a.number AND d.outcome IS NULL",
            (
                [entry.number for _, entry in found],
                [entry.outcome for _, entry in found],
                [at for at, _ in found],
                [answered(entry.base, entry.outcome, at) for at, entry in found],
            ),
        )
        return done.rowcount == len(found)

    def _log(self, cursor: psycopg.Cursor[Any], first: int, payloads: list[bytes]) -> None:
        positions = list(range(first, first + len(payloads)))
        cursor.execute(
            "INSERT INTO clubcascade_log "
            "SELECT * FROM unnest(%s::bigint[], %b::bytea[], %s::bigint[])",
            (positions, payloads, [*map(checksum, positions, payloads)]),
        )
        cursor.execute("NOTIFY clubcascade")

    def ask(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._read.ask(query, *values)

    def head(self) -> int:
        return self._number("SELECT position FROM clubcascade_head")

    def wait(self, seconds: float) -> None:
        if not self._news.is_open:
            self._lost = time.monotonic()
            self._listen()
        with self._news.use("hear of other servers") as news:
            for _ in news.notifies(timeout=seconds, stop_after=1):
                return

    def fill(self, server: int, events: Iterable[tuple[int, bytes]], rows: Iterable[Row]) -> None:
        with self._apart("restore") as cursor:
            cursor.execute("UPDATE clubcascade_about SET epoch = ?", (server,))
            last = 0
            for some in batched(events):
                first, last = some[0][0], some[-1][0]
                self._log(cursor, first, [payload for _, payload in some])
            cursor.execute("UPDATE clubcascade_head SET position = ?", (last,))
            for kept in batched(rows):
                cursor.executemany(
                    "INSERT INTO clubcascade_decisions VALUES (?, ?, ?, ?, ?, ?, ?)",
                    [(*row, row_checksum(row)) for row in kept],
                )

    # -- decisions -----------------------------------------------------------------------------

    def decisions(self, numbers: Sequence[int]) -> list[Row]:
        possible = [number for number in numbers if number < 2**63]
        return self.rows("WHERE number = ANY(?)", possible)

    # -- servers -------------------------------------------------------------------------------

    def lives(self, server: int) -> bool:
        if time.monotonic() - self._lost < GRACE:
            return True
        query = (
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = ? AND "
            "objid = ? AND database = (SELECT oid FROM pg_database WHERE datname = "
            "current_database())"
        )
        return self._number(query, _KEY, server) > 0

    def leads(self) -> bool:
        if not self._leads or not self._write.is_open:
            with self._write.use("look who does the chores") as write:
                row = write.execute("SELECT pg_try_advisory_lock(%s, 0)", (_KEY,)).fetchone()
            self._leads = bool(row and row[0])
        return self._leads

    # -- snapshots -----------------------------------------------------------------------------

    def save_snapshot(self, position: int, chunks: Iterable[bytes | memoryview]) -> None:
        data = b"".join(chunks)
        with self._apart("write the snapshot") as cursor:
            # one writer at a time: two servers may have the same position
            cursor.execute("LOCK TABLE clubcascade_snapshots IN SHARE ROW EXCLUSIVE MODE")
            cursor.execute("DELETE FROM clubcascade_snapshots WHERE number = ?", (position,))
            for part, start in enumerate(range(0, len(data), _PART)):
                cursor.execute(
                    "INSERT INTO clubcascade_snapshots VALUES (?, ?, %b)",
                    (position, part, data[start : start + _PART]),
                )

    def snapshots(self) -> list[int]:
        found = self._read.ask(
            "SELECT DISTINCT number FROM clubcascade_snapshots ORDER BY number DESC"
        )
        return [int(row[0]) for row in found]

    def load_snapshot(self, position: int) -> bytes:
        query = "SELECT payload FROM clubcascade_snapshots WHERE number = %s AND part = %s"
        parts: list[bytes] = []
        while found := self._read.ask(query, position, len(parts)):
            parts.append(found[0][0])
        data = b"".join(parts)
        try:
            snapshot_codec.check(data)
        except StoreDamaged as error:
            raise StoreDamaged(f"snapshot {position} cannot be used: {error}") from None
        return data

    def drop_snapshots(self, positions: Iterable[int]) -> None:
        with self._transaction("drop old snapshots") as cursor:
            cursor.execute(
                "DELETE FROM clubcascade_snapshots WHERE number = ANY(%s)", (list(positions),)
            )

    # -- ends ----------------------------------------------------------------------------------

    def recover(self) -> None:
        self._leads = False
        self._lost = time.monotonic()
        for session in (self._write, self._read):
            session.disconnect()
        self.head()
        with self._write.use("open the store again") as write:
            write.execute("SELECT 1")

    def close(self) -> None:
        for session in (self._write, self._read, self._news):
            session.close()


# -- sessions ------------------------------------------------------------------------------------


class Session:
    """A connection that one thread uses at a time, made anew after it broke.

    A server that was stopped, or a network that swallows everything, sends no error: the time
    limits of the server itself do not help then. So a thread looks twice a second for statements
    that take too long, and shuts the socket down under them.

    Parameters
    ----------
    url
        ``postgresql://user@host/database``.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._using = threading.RLock()
        self._connection: psycopg.Connection[Any] | None = None
        self._closed = False
        self._since = self._more = 0.0
        _watch.add(self)

    @contextmanager
    def use(self, what: str) -> Iterator[psycopg.Connection[Any]]:
        """Give the connection to one thread; errors are ours."""
        with self._using, problems(what):
            if self._closed:
                raise StoreUnavailable("the store is closed")
            if self._connection is None or self._connection.closed:
                self._connection = psycopg.connect(
                    self._url,
                    autocommit=True,
                    connect_timeout=3,
                    options=_SETTINGS,
                    cursor_factory=partial(_Cursor, self),  # type: ignore[arg-type]
                )
            self.begin()
            try:
                yield self._connection
            finally:
                self._since = 0.0

    @contextmanager
    def patient(self, size: int) -> Iterator[None]:
        """Give statements that carry so many bytes more time, here and in the server."""
        self._more = size / PACE if size > PACE else 0.0
        try:
            yield
        finally:
            self._more = 0.0

    def wait_longer(self, cursor: psycopg.Cursor[Any]) -> None:
        """Tell the server of a transaction that carries many bytes."""
        if self._more:
            limit = int(1_000 * (PATIENCE + self._more))
            cursor.execute(f"SET LOCAL statement_timeout = {limit}")
            cursor.execute(f"SET LOCAL idle_in_transaction_session_timeout = {limit}")

    def begin(self) -> None:
        """Note that a statement begins."""
        self._since = time.monotonic()

    @property
    def is_open(self) -> bool:
        """Whether there is a connection that has not broken."""
        return self._connection is not None and not self._connection.closed

    def ask(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query; any thread may ask."""
        with self.use("read the store") as connection:
            return connection.execute(query, values, binary=True).fetchall()

    def hang_up_if_late(self, now: float) -> None:
        """Shut the socket down if a statement takes too long."""
        connection = self._connection
        if not self._since or now - self._since < PATIENCE + self._more or connection is None:
            return
        try:
            with socket.socket(fileno=os.dup(connection.fileno())) as copy:
                copy.shutdown(socket.SHUT_RDWR)
        except (OSError, psycopg.Error):
            pass  # it broke by itself

    def disconnect(self) -> None:
        """Let the connection go; the next use makes another."""
        with self._using:
            if self._connection is not None:
                try:
                    self._connection.close()
                except psycopg.Error:
                    pass  # it is gone already
            self._connection = None

    def close(self) -> None:
        """Let the connection go for good."""
        self._closed = True
        self.disconnect()
        _watch.drop(self)


class _Cursor(psycopg.Cursor[Any]):
    """Tells its session when a statement begins; ``?`` stands for a value, as in SQLite."""

    def __init__(self, session: Session, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._session = session

    def execute(self, query: Any, *args: Any, **options: Any) -> Self:
        self._session.begin()
        return super().execute(query.replace("?", "%s"), *args, **options)

    def executemany(self, query: Any, *args: Any, **options: Any) -> None:
        self._session.begin()
        super().executemany(query.replace("?", "%s"), *args, **options)


class _Watch:
    """One thread for all sessions of a process; it lives while there are any."""

    def __init__(self) -> None:
        self._lock, self._sessions = threading.Lock(), set[Session]()
        self._thread: threading.Thread | None = None

    def add(self, session: Session) -> None:
        with self._lock:
            self._sessions.add(session)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="pg-watch", daemon=True)
                self._thread.start()

    def drop(self, session: Session) -> None:
        with self._lock:
            self._sessions.discard(session)

    def _run(self) -> None:
        while True:
            time.sleep(0.5)
            with self._lock:
                if not self._sessions:
                    self._thread = None
                    return
                sessions = list(self._sessions)
            for session in sessions:
                session.hang_up_if_late(time.monotonic())


_watch = _Watch()


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
