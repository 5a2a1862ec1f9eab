"""What SQL stores have in common: how the log and the decisions are read, and checked."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from clubcascade.errors import StoreDamaged
from clubcascade.storage import folder
from clubcascade.storage.base import (
    BLANK,
    OWN,
    Prepared,
    Row,
    Segment,
    Store,
    checksum,
    row_checksum,
)
from clubcascade.storage.folder import Archive

PAGE = 1_000
"""Events that are read at a time."""


class SqlStore(Store):
    """A store whose tables ``log`` and ``decisions`` can be asked by SQL.

    ``prefix`` stands before the names of the tables; ``?`` in a query stands for a value.
    """

    prefix = ""
    archive: Archive | None = None

    @abstractmethod
    def _transaction(self, what: str) -> AbstractContextManager[Any]:
        """Give a cursor to one who writes; what is done with it is done whole or not at all."""

    @abstractmethod
    def ask(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query; any thread may ask."""

    def _number(self, query: str, *values: Any) -> int:
        return int(self.ask(query, *values)[0][0])

    def rows(self, which: str, *values: Any, damaged: bool = True) -> list[Row]:
        """Return the decisions that a condition picks; damaged ones raise, or are left out."""
        columns = "number, at, request, payload, outcome, event, sum"
        found = self.ask(f"SELECT {columns} FROM {self.prefix}decisions {which}", *values)
        return [checked(row) for row in found if damaged or is_whole(row)]

    # -- the log -------------------------------------------------------------------------------

    def events(self, after: int, until: int | None = None) -> Iterator[tuple[int, bytes]]:
        last = self.head() if until is None else until
        while after < last:
            found = self.ask(
                f"SELECT number, payload, sum FROM {self.prefix}log WHERE number > ? AND "
                "number <= ? ORDER BY number LIMIT ?",
                *(after, last, PAGE),
            )
            if not found or found[0][0] != after + 1:
                found = self._archived(after + 1, last)
            if not found:
                raise StoreDamaged(f"event {after + 1} of the log is missing; the last is {last}")
            for number, payload, expected in found:
                if number != after + 1:
                    break
                if not isinstance(payload, bytes) or checksum(number, payload) != expected:
                    raise StoreDamaged(f"event {number} of the log is damaged; the last is {last}")
                after = number
                yield number, payload

    def first(self) -> int:
        moved = self._number(f"SELECT coalesce(min(first), 0) FROM {self.prefix}segments")
        return moved or self._first_row()

    def _first_row(self) -> int:
        return self._number(f"SELECT coalesce(min(number), 0) FROM {self.prefix}log")

    def erase(self, positions: Sequence[int], numbers: Sequence[int]) -> None:
        with self._transaction("erase") as write:
            write.executemany(
                f"UPDATE {self.prefix}log SET payload = ?, sum = ? WHERE number = ?",
                [(BLANK, checksum(at, BLANK), at) for at in positions],
            )
            write.executemany(
                f"DELETE FROM {self.prefix}decisions WHERE number = ?", [(n,) for n in numbers]
            )

    # -- the archive ---------------------------------------------------------------------------

    def segments(self) -> list[Segment]:
        """Return what is in the archive, in order."""
        found = self.ask(f"SELECT first, last, name FROM {self.prefix}segments ORDER BY first")
        return [Segment(*row) for row in found]

    def _archived(self, position: int, last: int) -> list[tuple[int, bytes, int]]:
        """Return the events of the segment that holds a position, from there on."""
        held = [one for one in self.segments() if one.first <= position <= one.last]
        if not held:
            return []
        if self.archive is None:
            raise StoreDamaged(
                f"event {position} of the log is in the archive: name its folder (--archive)"
            )
        try:
            rows = self.archive.read(held[0])
        except StoreDamaged:
            if held[0] in self.segments():
                raise
            return self._archived(position, last)  # someone was erased meanwhile
        return [row for row in rows if position <= row[0] <= last]

    def segment(self, until: int) -> Prepared | None:
        first, until = self._first_row(), min(until, self.head() - 1)  # one stays: the head
        if self.archive is None or not first:
            return None
        events: list[tuple[int, bytes]] = []
        size = 0
        for at, payload in self.events(first - 1, until):
            events.append((at, payload))
            size += len(payload)
            if len(events) == folder.SEGMENT_EVENTS or size >= folder.SEGMENT_ROOM:
                found = self.archive.write(events)
                return found, [expected for _, _, expected in self.archive.read(found)]
        return None

    def move(self, prepared: Prepared) -> bool:
        assert self.archive is not None
        segment, sums = prepared
        between = segment[:2]
        which = f"FROM {self.prefix}log WHERE number BETWEEN ? AND ?"
        with self._transaction("move events to the archive") as write:
            found = write.execute(f"SELECT sum {which} ORDER BY number", between).fetchall()
            same = [row[0] for row in found] == sums
            if same:
                row = (*segment, int(time.time() * 1000))
                write.execute(f"INSERT INTO {self.prefix}segments VALUES (?, ?, ?, ?)", row)
                write.execute(f"DELETE {which}", between)
        if not same:
            self.archive.drop(segment)
        self.archive.drop_strays(self.segments())
        return same

    def rewritten(self, positions: Sequence[int]) -> Iterator[tuple[Segment, Segment]]:
        for old in self.segments():
            gone = {at for at in positions if old.first <= at <= old.last}
            if gone and self.archive is not None:
                rows = [(at, payload) for at, payload, _ in self.archive.read(old)]
                if any(at in gone and payload != BLANK for at, payload in rows):
                    rows = [(at, BLANK if at in gone else payload) for at, payload in rows]
                    yield old, self.archive.write(rows)

    def replace(self, old: Segment, new: Segment) -> None:
        assert self.archive is not None
        query = f"UPDATE {self.prefix}segments SET name = ? WHERE name = ?"
        with self._transaction("erase") as write:
            done = write.execute(query, (new.name, old.name)).rowcount
        self.archive.drop(old if done else new)

    def drop_segments(self, before: int) -> int:
        query = f"FROM {self.prefix}segments WHERE at < ?"
        old = [Segment(*row) for row in self.ask(f"SELECT first, last, name {query}", before)]
        if old and self.archive is not None:
            with self._transaction("drop old events") as write:
                write.execute(f"DELETE {query}", (before,))
            for segment in old:
                self.archive.drop(segment)
        return len(old)

    # -- decisions -----------------------------------------------------------------------------

    def by_request(self, request: str) -> Row | None:
        return next(iter(self.rows("WHERE request = ?", request)), None)

    def unanswered(self, before: int, limit: int) -> list[Row]:
        which = "WHERE at < ? AND outcome IS NULL ORDER BY at LIMIT ?"
        return self.rows(which, before, limit, damaged=False)

    def every_decision(self, after: int, limit: int) -> list[Row]:
        return self.rows("WHERE number > ? ORDER BY number LIMIT ?", after, limit)

    def forget_decisions(self, before: int, limit: int) -> int:
        table = f"{self.prefix}decisions"
        if not self.ask(f"SELECT 1 FROM {table} WHERE at < ? LIMIT 1", before):
            return 0  # the usual case, every second: nothing is that old
        which = f"SELECT number FROM {table} WHERE at < ? ORDER BY at LIMIT ?"
        with self._transaction("drop old decisions") as write:
            done = write.execute(f"DELETE FROM {table} WHERE number IN ({which})", (before, limit))
            return int(done.rowcount)

    def waiting(self) -> int:
        return self._number(f"SELECT count(*) FROM {self.prefix}decisions WHERE outcome IS NULL")

    def last_decision(self, server: int) -> int:
        return self._number(
            f"SELECT coalesce(max(number), 0) FROM {self.prefix}decisions "
            "WHERE number BETWEEN ? AND ?",
            *(server << OWN, (server + 1 << OWN) - 1),
        )


def checked(found: tuple[Any, ...]) -> Row:
    """Return a decision as it was written; raise if its checksum does not fit."""
    if not is_whole(found):
        raise StoreDamaged(f"decision {found[0]} is damaged in the store")
    return Row(*found[:6])


def is_whole(found: tuple[Any, ...]) -> bool:
    """Tell whether a decision is as it was written."""
    row = Row(*found[:6])
    typed = isinstance(row.payload, bytes) and isinstance(row.at, int)
    return typed and row_checksum(row) == found[6]
