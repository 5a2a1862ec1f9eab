"""Decisions that are remembered in memory: the newest ones, and all that are not yet durable."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable

from clubcascade.errors import StoreError
from clubcascade.service.records import Record
from clubcascade.storage import Store

ROOM = 20_000
"""Durable decisions that are kept in memory; older ones are read from the store."""


class Shelf:
    """Finds decisions by number or by request id: in memory first, then in the store."""

    def __init__(self, store: Store, room: int = ROOM) -> None:
        self._store = store
        self._room = room
        self._lock = threading.Lock()
        self._records: OrderedDict[int, Record] = OrderedDict()  # a dict finds its first slowly
        self._requests: dict[str, Record] = {}
        self._durable: set[int] = set()

    def add(self, record: Record) -> None:
        """Remember a decision that is not durable yet."""
        with self._lock:
            self._records[record.number] = record
            if record.request is not None:
                self._requests[record.request] = record

    def saved(self, records: list[Record]) -> None:
        """Note that decisions are durable: they may leave the memory when it is full."""
        with self._lock:
            self._durable.update(record.number for record in records)
            while len(self._records) > self._room and self._durable:
                oldest = next(iter(self._records))
                if oldest not in self._durable:
                    break
                self._drop(oldest)

    def forget(self, records: list[Record]) -> None:
        """Forget decisions; those that are durable can still be found in the store."""
        with self._lock:
            for record in records:
                self._drop(record.number)

    def forget_durable(self) -> None:
        """Forget all that the store knows: it may know more than we do."""
        with self._lock:
            for number in list(self._durable):
                self._drop(number)

    def _drop(self, number: int) -> None:
        self._durable.discard(number)
        record = self._records.pop(number, None)
        if record is not None and record.request is not None:
            self._requests.pop(record.request, None)

    def find(self, number: int) -> Record | None:
        """Return the decision of that number."""
        record = self._records.get(number)
        if record is None:
            row = self._store.decision(number)
            record = None if row is None else Record.read(row)
        return record

    def find_many(self, numbers: Iterable[int]) -> dict[int, Record | StoreError | None]:
        """Return what :meth:`find` returns for each number, or raises; with one look at most."""
        found: dict[int, Record | StoreError | None] = {n: self._records.get(n) for n in numbers}
        missing = [number for number, record in found.items() if record is None]
        if not missing:
            return found
        try:
            found.update((row.number, Record.read(row)) for row in self._store.decisions(missing))
        except StoreError:  # one of them is damaged, or all cannot be read: who asks is told
            for number in missing:
                try:
                    found[number] = self.find(number)
                except StoreError as error:
                    found[number] = error
        return found

    def find_request(self, request: str) -> Record | None:
        """Return the decision that was made for a request id."""
        record = self._requests.get(request)
        if record is None:
            row = self._store.by_request(request)
            record = None if row is None else Record.read(row)
        return record
