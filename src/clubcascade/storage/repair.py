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
from clubcascade.storage.base import BLANK, Row, checksum
from clubcascade.storage.folder import Lock
from clubcascade.storage.sql import is_whole
from clubcascade.storage.sqlite import DATABASE, SqliteStore, read_count, unknown_count


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
