"""Decisions in memory: the newest ones, and all that are not yet durable; bounded by bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable

from clubcascade.errors import StoreError
from clubcascade.service.decision import Decision
from clubcascade.storage import Store

ROOM = 64 * 2**20
"""Bytes of durable decisions that are kept in memory; others are read from the store."""

Known = Decision | StoreError | None
"""A decision, why it cannot be read, or None for one that is not known."""


class Recent:
    """Finds decisions by number or by request id: in memory first, then in the store."""

    def __init__(self, store: Store, room: int = ROOM) -> None:
        self._store, self._room = store, room
        self._lock = threading.Lock()
        self._decisions: OrderedDict[int, Decision] = OrderedDict()
        self._requests: dict[str, Decision] = {}
        self._durable: set[int] = set()
        self._bytes = 0

    def add(self, decision: Decision) -> None:
        """Remember a decision that is not durable yet."""
        with self._lock:
            self._decisions[decision.number] = decision
            self._bytes += decision.size
            if decision.request is not None:
                self._requests[decision.request] = decision

    def saved(self, decisions: Iterable[Decision]) -> None:
        """Note that decisions are durable: they may leave the memory when it is full."""
        with self._lock:
            self._durable.update(d.number for d in decisions if d.number in self._decisions)
            while self._bytes > self._room and self._durable:
                oldest = next(iter(self._decisions))
                if oldest not in self._durable:
                    break
                self._drop(oldest)

    def forget(self, decisions: Iterable[Decision]) -> None:
        """Forget decisions; those that are durable can still be found in the store."""
        with self._lock:
            for decision in decisions:
                self._drop(decision.number)

    def forget_durable(self, numbers: Iterable[int] | None = None) -> None:
        """Forget what the store knows better: these decisions, by default all durable ones."""
        with self._lock:
            for number in list(self._durable if numbers is None else numbers):
                if number in self._durable:
                    self._drop(number)

    def _drop(self, number: int) -> None:
        self._durable.discard(number)
        decision = self._decisions.pop(number, None)
        if decision is None:
            return
        self._bytes -= decision.size
        if decision.request is not None:
            self._requests.pop(decision.request, None)

    def find(self, number: int | None) -> Decision | None:
        """Return a decision that is in memory."""
        return None if number is None else self._decisions.get(number)

    def find_many(self, numbers: Iterable[int]) -> dict[int, Known]:
        """Return the decision of each number, with one look at the store at most."""
        found: dict[int, Known] = {n: self._decisions.get(n) for n in numbers}
        missing = [number for number, decision in found.items() if decision is None]
        if not missing:
            return found
        try:
            found.update((row.number, Decision.of(row)) for row in self._store.decisions(missing))
        except StoreError:  # one of them is damaged, or all cannot be read: who asks is told
            for number in missing:
                try:
                    rows = self._store.decisions([number])
                    found[number] = Decision.of(rows[0]) if rows else None
                except StoreError as error:
                    found[number] = error
        return found

    def find_request(self, request: str, *, memory_only: bool = False) -> Decision | None:
        """Return the decision that was made for a request id."""
        decision = self._requests.get(request)
        if decision is None and not memory_only:
            row = self._store.by_request(request)
            decision = None if row is None else Decision.of(row)
        return decision
