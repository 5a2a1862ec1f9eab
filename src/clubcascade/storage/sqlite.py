"""A store in one folder, for servers of one host: SQLite in WAL mode, every commit synchronised."""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from clubcascade.errors import StoreDamaged, StoreError, StoreUnavailable
from clubcascade.storage.base import (
    BLANK,
    FORMAT,
    SERVERS,
    Group,
    Row,
    answered,
    checksum,
    row_checksum,
)
from clubcascade.storage.folder import Archive, Lock, Mark, SnapshotFiles, open_private
from clubcascade.storage.sql import SqlStore, is_whole

DATABASE = "store.db"
SCHEMA = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS log (
  number INTEGER PRIMARY KEY, payload BLOB NOT NULL, sum INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS segments (
  first INTEGER PRIMARY KEY, last INTEGER NOT NULL, name TEXT NOT NULL, at INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS decisions (
  number INTEGER PRIMARY KEY, at INTEGER NOT NULL, request TEXT, payload BLOB NOT NULL,
  outcome TEXT, event INTEGER, sum INTEGER NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS by_request ON decisions (request) WHERE request IS NOT NULL;
DROP INDEX IF EXISTS waiting;
CREATE INDEX IF NOT EXISTS unanswered ON decisions (at) WHERE outcome IS NULL;
CREATE INDEX IF NOT EXISTS by_time ON decisions (at);
"""
PATIENCE = 5.0
"""Seconds that a writer waits for another one."""
POLL = 0.01
"""Seconds between two looks for what other servers appended."""
_INSERT = (
    "INSERT OR IGNORE INTO decisions (number, at, request, payload, sum) VALUES (?, ?, ?, ?, ?)"
)


class SqliteStore(SqlStore):
    """A folder with a database, snapshots, locks and a mark; servers of this host share it.

    Parameters
    ----------
    folder
        Made if it does not exist.
    archive
        Folder of old events, by default ``archive`` in the folder, if pyarrow is installed.
    vfs
        Name of the SQLite file system to use; the default one unless a test breaks disks.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        archive: str | os.PathLike[str] | None = None,
        vfs: str | None = None,
    ) -> None:
        self.folder, self._vfs = Path(folder), vfs
        if archive is not None or find_spec("pyarrow"):
            self.archive = Archive(Path(archive or self.folder / "archive"))
        self.notes = []
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            (self.folder / "servers").mkdir(exist_ok=True, mode=0o700)
        except FileExistsError:
            raise StoreUnavailable(f"{self.folder} must be a folder, got a file") from None
        self._reading = threading.Lock()
        self._write: sqlite3.Connection | None = None
        self._read: sqlite3.Connection | None = None
        self._changes: sqlite3.Connection | None = None
        self._seen = -1
        self._mine: Lock | None = None
        self._shared = Lock(self.folder / "lock")
        self._turn, self._chores = Lock(self.folder / "turn"), Lock(self.folder / "chores")
        self._mark = Mark(self.folder / "head")
        try:
            if not self._shared.take(shared=True):
                raise self._shared.refuse()
            self._shared.sign()
            self._files = SnapshotFiles(self.folder / "snapshots")
            with problems("open the store"), self._turn.turn(PATIENCE):
                self._connect()
                self._check_format()
                self._check_mark()
                self._count_opening()
        except BaseException:
            self.close()
            raise

    # -- opening -------------------------------------------------------------------------------

    def _connect(self) -> None:
        os.close(open_private(self.folder / DATABASE))
        write = self._write = self._connection()
        mode = write.execute("PRAGMA journal_mode=WAL").fetchone()[0]
        if mode != "wal":
            raise StoreUnavailable(f"{self.folder} must be on a disk that allows WAL, got {mode!r}")
        write.execute("PRAGMA synchronous=FULL")
        write.execute("PRAGMA wal_autocheckpoint=2000")
        write.execute("PRAGMA secure_delete=ON")  # what goes cannot be read in free pages
        write.executescript(SCHEMA)
        self._read, self._changes = self._connection(), self._connection()
        for connection in (self._read, self._changes):
            connection.execute("PRAGMA query_only=ON")

    def _connection(self) -> sqlite3.Connection:
        path = (self.folder / DATABASE).absolute().as_uri()
        uri = path if self._vfs is None else f"{path}?vfs={self._vfs}"
        return sqlite3.connect(
            uri, uri=True, isolation_level=None, check_same_thread=False, timeout=PATIENCE
        )

    def _about(self, name: str) -> str | None:
        row = self._writer.execute("SELECT value FROM about WHERE name=?", (name,)).fetchone()
        return None if row is None else row[0]

    def _say(self, name: str, value: str) -> None:
        self._writer.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (name, value))

    def _check_format(self) -> None:
        found = self._about("format")
        if found is not None and not (found.isdecimal() and 1 <= int(found) <= FORMAT):
            raise StoreDamaged(
                f"{self.folder} must be a store of format 1 to {FORMAT}, got format {found!r}; a "
                f"newer clubcascade may read it"
            )
        if found != str(FORMAT):
            self._say("format", str(FORMAT))

    def _check_mark(self) -> None:
        marked, last = self._mark.read(), self.head()
        if marked is None:
            self._mark.clear()
            if last > 0:
                self.notes.append("the mark of the last durable event is damaged; it was made anew")
        elif marked > last:
            raise StoreDamaged(
                f"{self.folder} has lost events {last + 1} to {marked}, which were acknowledged: "
                f"the database was damaged or replaced by an older one"
            )
        self._mark.write(last)

    def _count_opening(self) -> None:
        kept = self._about("starts")
        used = 1 if self.head() else 0
        self.server = (used if kept is None else read_count(kept)) % (SERVERS - 1) + 1
        self._say("starts", write_count(self.server))
        for path in (self.folder / "servers").iterdir():  # of servers that have ended
            lock = Lock(path)
            if lock.take():
                path.unlink(missing_ok=True)
            lock.release()
        self._mine = Lock(self.folder / "servers" / str(self.server))
        self._mine.take()

    # -- connections ---------------------------------------------------------------------------

    @property
    def _writer(self) -> sqlite3.Connection:
        if self._write is None:
            raise StoreUnavailable("the store is closed")
        return self._write

    @contextmanager
    def _transaction(self, what: str) -> Iterator[sqlite3.Connection]:
        """Write in turn with others; the mark follows the log."""
        write = self._writer
        with problems(what), self._turn.turn(PATIENCE):
            write.execute("BEGIN IMMEDIATE")
            try:
                yield write
                if write.in_transaction:
                    write.execute("COMMIT")
            except BaseException:
                if write.in_transaction:
                    write.execute("ROLLBACK")
                raise
            self._mark.write(_number(write, "SELECT coalesce(max(number), 0) FROM log"))

    def ask(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._reading, problems("read the store"):
            if self._read is None:
                raise StoreUnavailable("the store is closed")
            return self._read.execute(query, values).fetchall()

    # -- the log -------------------------------------------------------------------------------

    def append(self, group: Group) -> int | None:
        with self._transaction("write to the store") as write:
            self._insert(write, group.decisions)
            if not group.events:
                return 0
            first = _number(write, "SELECT coalesce(max(number), 0) FROM log") + 1
            answers = [
                (e.outcome, at, answered(e.base, e.outcome, at), e.number)
                for at, e in enumerate(group.events, first)
                if e.number is not None
            ]
            done = write.executemany(
                "UPDATE decisions SET outcome=?, event=?, sum=? WHERE number=? AND outcome IS NULL",
                answers,
            )
            if answers and done.rowcount != len(answers):
                write.execute("ROLLBACK")
                return None
            write.executemany(
                "INSERT INTO log VALUES (?, ?, ?)",
                [
                    (at, e.payload, checksum(at, e.payload))
                    for at, e in enumerate(group.events, first)
                ],
            )
        return first

    def _insert(self, write: sqlite3.Connection, rows: list[Row]) -> None:
        found = [(*row[:4], checksum(row.number, row.payload)) for row in rows]
        write.executemany(_INSERT, found)
        asked = [(number, at, None, *rest) for number, at, request, *rest in found if request]
        if asked:  # one whose request is there already is kept without it
            write.executemany(_INSERT, asked)

    def head(self) -> int:
        if self._read is None:
            return _number(self._writer, "SELECT coalesce(max(number), 0) FROM log")
        return int(self.ask("SELECT coalesce(max(number), 0) FROM log")[0][0])

    def wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            time.sleep(POLL)
            with self._reading, problems("read the store"):
                if self._changes is None:
                    return
                seen = _number(self._changes, "PRAGMA data_version")
            if seen != self._seen:
                self._seen = seen
                return

    def erase(self, positions: Sequence[int], numbers: Sequence[int]) -> None:
        super().erase(positions, numbers)
        with problems("erase"):  # nor may they stand in the write-ahead log
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def fill(self, server: int, events: Iterable[tuple[int, bytes]], rows: Iterable[Row]) -> None:
        with self._transaction("restore") as write:
            self._say("starts", write_count(server))
            logged = ((at, payload, checksum(at, payload)) for at, payload in events)
            write.executemany("INSERT INTO log VALUES (?, ?, ?)", logged)
            found = ((*row, row_checksum(row)) for row in rows)
            write.executemany("INSERT OR IGNORE INTO decisions VALUES (?, ?, ?, ?, ?, ?, ?)", found)

    def adopt_archive(self) -> None:
        """Believe the names of the archive's files, where nothing else is known."""
        found = [] if self.archive is None else self.archive.found()
        with self._transaction("repair") as write:
            write.executemany("INSERT INTO segments VALUES (?, ?, ?, ?)", found)

    # -- decisions -----------------------------------------------------------------------------

    def decisions(self, numbers: Sequence[int]) -> list[Row]:
        which = "WHERE number IN (SELECT value FROM json_each(?))"
        return self.rows(which, f"[{','.join(map(str, numbers))}]")

    # -- servers -------------------------------------------------------------------------------

    def lives(self, server: int) -> bool:
        path = self.folder / "servers" / str(server)
        if server == self.server or not path.exists():
            return server == self.server
        lock = Lock(path)
        try:
            return not lock.take(shared=True)
        finally:
            lock.release()

    def leads(self) -> bool:
        return self._chores.take()

    # -- snapshots -----------------------------------------------------------------------------

    def save_snapshot(self, position: int, chunks: Iterable[bytes | memoryview]) -> None:
        self._files.save(position, chunks)

    def snapshots(self) -> list[int]:
        return self._files.positions()

    def load_snapshot(self, position: int) -> bytes:
        return self._files.load(position)

    def drop_snapshots(self, positions: Iterable[int]) -> None:
        self._files.drop(positions)

    # -- ends ----------------------------------------------------------------------------------

    def recover(self) -> None:
        """Connect anew after an error, and believe nothing that is not on the disk.

        After a failed sync the last commit may stand in the write-ahead log without being on the
        disk. Everything is therefore copied into the database, and that synchronised, before
        anything is believed.
        """
        with self._reading:
            self._disconnect()
            with problems("open the store again"), self._turn.turn(PATIENCE):
                self._connect()
                found = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if found[0]:
            raise StoreUnavailable("could not open the store again: the database is busy")

    def _disconnect(self) -> None:
        for connection in (self._read, self._changes, self._write):
            if connection is not None:
                try:
                    connection.close()
                except sqlite3.Error:
                    pass  # a disk that fails now is found by the next open
        self._read = self._changes = self._write = None

    def close(self) -> None:
        with self._reading:
            self._disconnect()
        self._mark.close()
        for lock in (self._turn, self._chores, self._mine, self._shared):
            if lock is not None:
                lock.release()


def _number(connection: sqlite3.Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])


# -- the count of openings -----------------------------------------------------------------------


def write_count(number: int) -> str:
    """Return the count as the store keeps it."""
    return f"{number} {checksum(number, b'starts')}"


def read_count(text: str) -> int:
    """Return the count that :func:`write_count` wrote; raise if it is damaged.

    >>> read_count(write_count(12))
    12
    """
    number, _, _ = text.partition(" ")
    if not (number.isascii() and number.isdecimal() and len(number) < 10):
        raise StoreDamaged(f"the count of the store's openings is damaged: {text[:40]!r}")
    if write_count(int(number)) != text:
        raise StoreDamaged(f"the checksum of the store's openings does not fit: {text[:40]!r}")
    return int(number)


def unknown_count() -> int:
    """Return a count where the true one is lost, one that was hardly used before."""
    return SERVERS // 2 + secrets.randbelow(SERVERS // 4)


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


# -- repair ----------------------------------------------------------------------------------------


def repaired(
    folder: str | os.PathLike[str], archive: str | os.PathLike[str] | None = None
) -> list[str]:
    """Rebuild the database of a folder from its good rows; return what was done, in sentences.

    The damaged files are kept in a folder ``damaged-N``. Decisions whose answer was logged in a
    lost event wait again, so that a client that sends it once more is heard. The archive is read
    from the names of its files.
    """
    home = Path(folder)
    lock = Lock(home / "lock")
    try:
        if not lock.take():
            raise lock.refuse()
        aside = _move_aside(home)
    finally:
        lock.release()
    with closing(SqliteStore(home, archive=archive)) as store:
        log = _good_events(aside / DATABASE, _newest_snapshot(store))
        last = log[-1][0] if log else 0
        rows, bad = _good_decisions(aside / DATABASE, last)
        store.fill(_openings(aside / DATABASE), log, rows)
        store.adopt_archive()
    return [
        f"the store was damaged: it goes on from event {last} with {len(rows)} decisions; "
        f"{bad} decisions were unreadable; the damaged files are in {aside.name}"
    ]


def _newest_snapshot(store: SqliteStore) -> int:
    for number in store.snapshots():
        try:
            store.load_snapshot(number)
        except StoreDamaged:
            continue
        return number
    return 0


def _move_aside(home: Path) -> Path:
    number = 1
    while (home / f"damaged-{number}").exists():
        number += 1
    aside = home / f"damaged-{number}"
    aside.mkdir()
    for name in (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", "head"):
        if (home / name).exists():
            shutil.move(home / name, aside / name)
    # SQLite tidies a database that it opens: it gets copies, the evidence stays as it is.
    for name in (DATABASE, f"{DATABASE}-wal"):
        if (aside / name).exists():
            shutil.copyfile(aside / name, aside / f"evidence-{name}")
    return aside


def _openings(path: Path) -> int:
    """Return how often the damaged store was opened, or what nobody has used."""
    try:
        with closing(sqlite3.connect(path)) as connection:
            row = connection.execute("SELECT value FROM about WHERE name='starts'").fetchone()
        return read_count(row[0])
    except (sqlite3.Error, StoreDamaged, TypeError, AttributeError, ValueError):
        return unknown_count()


def _rows(path: Path, table: str) -> Iterator[tuple[Any, ...]]:
    """Yield what can be read of a table, in order; stop where nothing more can be read."""
    try:
        connection = sqlite3.connect(path)
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        yield from connection.execute(f"SELECT * FROM {table} ORDER BY number")
    except (sqlite3.Error, OverflowError):
        return
    finally:
        try:
            connection.close()
        except (sqlite3.Error, UnboundLocalError):
            pass


def _good_events(path: Path, start: int) -> list[tuple[int, bytes]]:
    """Return the good events that the snapshot of ``start`` holds, and those right behind it."""
    log: list[tuple[int, bytes]] = []
    after = start
    for row in _rows(path, "log"):
        good = len(row) == 3 and isinstance(row[1], bytes) and checksum(row[0], row[1]) == row[2]
        if row[0] > start:
            if not good or row[0] != after + 1:
                break
            after = row[0]
        if good:
            log.append((row[0], row[1]))
    if after == start > 0 and (not log or log[-1][0] < start):
        log.append((start, BLANK))  # the log goes on behind the snapshot
    return log


def _good_decisions(path: Path, last: int) -> tuple[list[Row], int]:
    found = list(_rows(path, "decisions"))
    good = [Row(*one[:6]) for one in found if len(one) == 7 and is_whole(one)]
    rows = [
        row._replace(outcome=None, position=None) if (row.position or 0) > last else row
        for row in good
    ]
    return rows, len(found) - len(good)
