"""A store in one folder: SQLite in WAL mode, every commit synchronised with the disk."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from clubcascade.errors import StoreDamaged, StoreUnavailable
from clubcascade.storage import starts
from clubcascade.storage.base import (
    FORMAT,
    Batch,
    DecisionRow,
    Store,
    answered,
    checksum,
    row_checksum,
)
from clubcascade.storage.folder_lock import FolderLock
from clubcascade.storage.head_mark import HeadMark
from clubcascade.storage.snapshot_files import SnapshotFiles
from clubcascade.storage.sqlite_database import Database, problems

DATABASE = "store.db"

_DECISION = "SELECT number, at, request, payload, outcome, event, sum FROM decisions"
_DECISIONS_OF = f"{_DECISION} WHERE number IN (SELECT value FROM json_each(?))"


class SqliteStore(Store):
    """A folder with a database, snapshots, a lock and a mark.

    Parameters
    ----------
    folder
        Made if it does not exist.
    vfs
        Name of the SQLite file system to use; the default one unless a test breaks disks.
    """

    def __init__(self, folder: str | os.PathLike[str], *, vfs: str | None = None) -> None:
        self.folder = Path(folder)
        self.notes = []
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise StoreUnavailable(f"{self.folder} must be a folder, got a file") from None
        self._lock = FolderLock(self.folder / "lock")
        self._mark = HeadMark(self.folder / "head")
        self._database = Database(self.folder / DATABASE, vfs)
        try:
            self._files = SnapshotFiles(self.folder / "snapshots")
            with problems("open the store"):
                self._database.open()
                self._check_format()
                self._check_mark()
                self._count_start()
        except BaseException:
            self.close()
            raise

    # -- opening -------------------------------------------------------------------------------

    def _check_format(self) -> None:
        row = self._database.write.execute("SELECT value FROM about WHERE name='format'").fetchone()
        if row is None:
            self._database.write.execute("INSERT INTO about VALUES ('format', ?)", (str(FORMAT),))
            return
        if not row[0].isdecimal() or not 1 <= int(row[0]) <= FORMAT:
            raise StoreDamaged(
                f"{self.folder} must be a store of format 1 to {FORMAT}, got format {row[0]!r}; a "
                f"newer clubcascade may read it"
            )

    def _check_mark(self) -> None:
        marked, last = self._mark.read(), self.last_event()
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

    def _count_start(self) -> None:
        row = self._database.write.execute("SELECT value FROM about WHERE name='starts'").fetchone()
        used = self.last_event() > 0
        self.starts = starts.following(None if row is None else row[0], used=used)
        self._database.write.execute(
            "INSERT OR REPLACE INTO about VALUES ('starts', ?)", (starts.write(self.starts),)
        )

    # -- writing -------------------------------------------------------------------------------

    def commit(self, batch: Batch) -> None:
        """Make a batch durable, whole."""
        write = self._database.write
        with problems("write to the store"):
            write.execute("BEGIN IMMEDIATE")
            try:
                self._insert(write, batch)
                write.execute("COMMIT")
            except BaseException:
                if write.in_transaction:
                    write.execute("ROLLBACK")
                raise
        if batch.events:
            self._mark.write(batch.events[-1][0])

    def _insert(self, write: sqlite3.Connection, batch: Batch) -> None:
        if batch.decisions:
            write.executemany(
                "INSERT OR IGNORE INTO decisions (number, at, request, payload, sum) "
                "VALUES (?, ?, ?, ?, ?)",
                [(*row[:4], checksum(row.number, row.payload)) for row in batch.decisions],
            )
        if batch.events:
            write.executemany(
                "INSERT INTO log VALUES (?, ?, ?)",
                [(number, payload, checksum(number, payload)) for number, payload in batch.events],
            )
        if batch.answers:
            write.executemany(
                "UPDATE decisions SET outcome=?, event=?, sum=? WHERE number=?",
                [
                    (a.outcome, a.event, answered(a.base, a.outcome, a.event), a.number)
                    for a in batch.answers
                ],
            )

    def forget_events(self, upto: int, limit: int) -> int:
        """Drop up to ``limit`` events numbered ``upto`` or below; the last one always stays."""
        with problems("compact the log"):
            done = self._database.write.execute(
                "DELETE FROM log WHERE number IN (SELECT number FROM log WHERE number <= ? AND "
                "number < (SELECT max(number) FROM log) ORDER BY number LIMIT ?)",
                (upto, limit),
            )
        return done.rowcount

    def forget_decisions(self, before: int, limit: int) -> int:
        """Drop up to ``limit`` of the oldest decisions made before a time."""
        with problems("drop old decisions"):
            write = self._database.write
            oldest = write.execute("SELECT at FROM decisions ORDER BY number LIMIT 1").fetchone()
            if oldest is None or oldest[0] >= before:
                return 0  # the usual case, every second: nothing is that old
            done = write.execute(
                "DELETE FROM decisions WHERE at < ? AND number IN "
                "(SELECT number FROM decisions ORDER BY number LIMIT ?)",
                (before, limit),
            )
        return done.rowcount

    # -- reading -------------------------------------------------------------------------------

    def decisions(self, numbers: Sequence[int]) -> list[DecisionRow]:
        """Return those of the decisions of these numbers that are known, in any order."""
        with self._database.reader() as read:
            found = read.execute(_DECISIONS_OF, (f"[{','.join(map(str, numbers))}]",)).fetchall()
        return [checked(row) for row in found]

    def by_request(self, request: str) -> DecisionRow | None:
        """Return the decision that was made for a client's request id."""
        with self._database.reader() as read:
            found = read.execute(f"{_DECISION} WHERE request=?", (request,)).fetchone()
        return None if found is None else checked(found)

    def unanswered(self, after: int, before: int, limit: int) -> list[DecisionRow]:
        """Return decisions numbered above ``after``, made before that time, without an answer."""
        query = f"{_DECISION} WHERE number > ? AND at < ? AND outcome IS NULL ORDER BY number LIMIT"
        with self._database.reader() as read:
            found = read.execute(f"{query} ?", (after, before, limit)).fetchall()
        return [checked(row) for row in found]

    def waiting(self) -> int:
        """Count the decisions without an answer."""
        return self._number("SELECT count(*) FROM decisions WHERE outcome IS NULL")

    def last_event(self) -> int:
        """Return the number of the last event, 0 if there is none."""
        return self._number("SELECT coalesce(max(number), 0) FROM log")

    def last_decision(self) -> int:
        """Return the number of the last decision, 0 if there is none."""
        return self._number("SELECT coalesce(max(number), 0) FROM decisions")

    def _number(self, query: str) -> int:
        with self._database.reader() as read:
            return int(read.execute(query).fetchone()[0])

    def events(self, after: int) -> Iterator[tuple[int, bytes]]:
        """Yield the events numbered above ``after``, in order, without a gap."""
        last = self.last_event()
        while after < last:
            with self._database.reader() as read:
                found = read.execute(
                    "SELECT number, payload, sum FROM log WHERE number > ? ORDER BY number LIMIT ?",
                    (after, 1000),
                ).fetchall()
            for number, payload, expected in found:
                if number != after + 1:
                    break
                if not isinstance(payload, bytes) or checksum(number, payload) != expected:
                    raise StoreDamaged(f"event {number} of the log is damaged; the last is {last}")
                after = number
                yield number, payload
            else:
                if found:
                    continue
            raise StoreDamaged(f"event {after + 1} of the log is missing; the last is {last}")

    # -- snapshots -----------------------------------------------------------------------------

    def save_snapshot(self, number: int, chunks: Iterable[bytes | memoryview]) -> None:
        """Keep a snapshot of the state after event ``number``: whole or not at all."""
        self._files.save(number, chunks)

    def snapshots(self) -> list[int]:
        """Return the numbers of the snapshots, newest first."""
        return self._files.numbers()

    def load_snapshot(self, number: int) -> bytes:
        """Return the snapshot of that number."""
        return self._files.load(number)

    def drop_snapshots(self, keep: int) -> None:
        """Drop all but the newest ``keep`` snapshots."""
        self._files.keep(keep)

    # -- ends ----------------------------------------------------------------------------------

    def recover(self) -> None:
        """Open the database anew after an error of :meth:`commit`."""
        self._database.reopen()

    def close(self) -> None:
        """Let the store go."""
        self._database.close()
        self._mark.close()
        self._lock.release()


def checked(found: tuple[int, int, str | None, bytes, str | None, int | None, int]) -> DecisionRow:
    """Return a decision as it was written; raise if its checksum does not fit."""
    row = DecisionRow(*found[:6])
    whole = isinstance(row.payload, bytes) and isinstance(row.at, int)
    if not whole or row_checksum(row) != found[6]:
        raise StoreDamaged(f"decision {row.number} is damaged in the store")
    return row
