"""Make a usable store of a damaged one: keep every good row up to the first bad event."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from clubcascade.errors import StoreDamaged
from clubcascade.storage import starts
from clubcascade.storage.base import DecisionRow, checksum, row_checksum
from clubcascade.storage.folder_lock import FolderLock
from clubcascade.storage.head_mark import HeadMark
from clubcascade.storage.snapshot_files import SnapshotFiles
from clubcascade.storage.sqlite import DATABASE
from clubcascade.storage.sqlite_database import SCHEMA


def salvage(folder: str | os.PathLike[str]) -> list[str]:
    """Rebuild the database of a folder from its good rows; return what was done, in sentences.

    The damaged files are kept in a folder ``damaged-N``. Decisions whose answer was logged in a
    lost event wait again, so that a client that sends it once more is heard.
    """
    home = Path(folder)
    lock = FolderLock(home / "lock")
    try:
        aside = _move_aside(home)
        start = _newest_snapshot(home)
        log = list(_good_events(aside / DATABASE, start))
        last = log[-1][0] if log else start
        decisions, bad = _good_decisions(aside / DATABASE, last)
        fresh = sqlite3.connect(home / DATABASE, isolation_level=None)
        fresh.executescript(f"PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; {SCHEMA}")
        fresh.execute("BEGIN")
        opened = starts.write(_starts(aside / DATABASE))
        fresh.execute("INSERT INTO about VALUES ('format', '1'), ('starts', ?)", (opened,))
        fresh.executemany("INSERT INTO log VALUES (?, ?, ?)", log)
        fresh.executemany("INSERT OR IGNORE INTO decisions VALUES (?, ?, ?, ?, ?, ?, ?)", decisions)
        fresh.execute("COMMIT")
        fresh.close()
        mark = HeadMark(home / "head")
        mark.write(log[-1][0] if log else 0)
        mark.close()
    finally:
        lock.release()
    return [
        f"the store was damaged: it goes on from event {last} with {len(decisions)} decisions; "
        f"{bad} decisions were unreadable; the damaged files are in {aside.name}"
    ]


def _newest_snapshot(home: Path) -> int:
    files = SnapshotFiles(home / "snapshots")
    for number in files.numbers():
        try:
            files.load(number)
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


def _starts(path: Path) -> int:
    """Return how often the damaged store was opened, or what nobody has used."""
    try:
        with closing(sqlite3.connect(path)) as connection:
            row = connection.execute("SELECT value FROM about WHERE name='starts'").fetchone()
        return starts.read(row[0])
    except (sqlite3.Error, StoreDamaged, TypeError, AttributeError, ValueError):
        return starts.unknown()


def _rows(path: Path, table: str, after: int = 0) -> Iterator[tuple[Any, ...]]:
    """Yield what can be read of a table, in order; stop where nothing more can be read."""
    try:
        connection = sqlite3.connect(path)
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        yield from connection.execute(
            f"SELECT * FROM {table} WHERE number > ? ORDER BY number", (after,)
        )
    except (sqlite3.Error, OverflowError):
        return
    finally:
        try:
            connection.close()
        except (sqlite3.Error, UnboundLocalError):
            pass


def _good_events(path: Path, after: int) -> Iterator[tuple[int, bytes, int]]:
    for row in _rows(path, "log", after):
        if len(row) != 3 or row[0] != after + 1 or not isinstance(row[1], bytes):
            return
        if checksum(row[0], row[1]) != row[2]:
            return
        after = row[0]
        yield row[0], row[1], row[2]


def _good_decisions(path: Path, last: int) -> tuple[list[tuple[Any, ...]], int]:
    good: list[tuple[Any, ...]] = []
    bad = 0
    for found in _rows(path, "decisions"):
        whole = len(found) == 7 and isinstance(found[3], bytes) and isinstance(found[1], int)
        row = DecisionRow(*found[:6])
        if not whole or row_checksum(row) != found[6]:
            bad += 1
        elif row.event is not None and row.event > last:
            good.append((*found[:4], None, None, checksum(row.number, row.payload)))
        else:
            good.append(found)
    return good, bad
