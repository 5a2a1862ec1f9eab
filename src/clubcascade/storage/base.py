"""What a store promises: decisions, a log of events, snapshots; one writer, whole commits."""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

FORMAT = 1
"""Number of the format that this version writes; it reads 1 to this one."""


class DecisionRow(NamedTuple):
    """A list that was shown, as the store knows it.

    ``outcome`` is None until an answer came; ``event`` is the number of the event that logged it.
    """

    number: int
    at: int
    request: str | None
    payload: bytes
    outcome: str | None = None
    event: int | None = None


class Answer(NamedTuple):
    """The answer to a decision: ``base`` is the checksum of the unanswered row."""

    number: int
    outcome: str
    event: int
    base: int


@dataclass(slots=True)
class Batch:
    """What becomes durable in one commit, or not at all."""

    decisions: list[DecisionRow] = field(default_factory=list)
    events: list[tuple[int, bytes]] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.decisions or self.events or self.answers)


def checksum(number: int, payload: bytes) -> int:
    """Return the checksum of a row: of its number and its content.

    >>> checksum(1, b"click") == checksum(2, b"click")
    False
    """
    return zlib.crc32(payload, zlib.crc32(number.to_bytes(8, "little")))


def answered(base: int, outcome: str, event: int) -> int:
    """Return the checksum of a decision that has an answer, from that of the row without one."""
    return zlib.crc32(f"{event}:{outcome}".encode(), base)


def row_checksum(row: DecisionRow) -> int:
    """Return the checksum that a decision must have in the store."""
    base = checksum(row.number, row.payload)
    if row.outcome is None or row.event is None:
        return base
    return answered(base, row.outcome, row.event)


class Store(ABC):
    """Where a recommender keeps what it must not forget.

    One process writes. :meth:`commit` is durable when it returns and leaves nothing behind when
    it raises, but for an error in the very act of committing: then :meth:`recover` and a look at
    :meth:`events` tell. Everything read is checked; what does not fit raises
    :class:`clubcascade.errors.StoreDamaged`.
    """

    remote: bool = False
    """Whether a look-up crosses a network."""

    starts: int
    """How many times the store was opened, this time included; durable before it is told."""

    notes: list[str]
    """What was found and mended when the store was opened; empty if all was well."""

    @abstractmethod
    def commit(self, batch: Batch) -> None:
        """Make a batch durable, whole."""

    def decision(self, number: int) -> DecisionRow | None:
        """Return the decision of that number."""
        return next(iter(self.decisions([number])), None)

    @abstractmethod
    def decisions(self, numbers: Sequence[int]) -> list[DecisionRow]:
        """Return those of the decisions of these numbers that are known, in any order."""

    @abstractmethod
    def by_request(self, request: str) -> DecisionRow | None:
        """Return the decision that was made for a client's request id."""

    @abstractmethod
    def unanswered(self, after: int, before: int, limit: int) -> list[DecisionRow]:
        """Return decisions numbered above ``after``, made before that time, without an answer."""

    @abstractmethod
    def waiting(self) -> int:
        """Count the decisions without an answer."""

    @abstractmethod
    def last_event(self) -> int:
        """Return the number of the last event, 0 if there is none."""

    @abstractmethod
    def last_decision(self) -> int:
        """Return the number of the last decision, 0 if there is none."""

    @abstractmethod
    def events(self, after: int) -> Iterator[tuple[int, bytes]]:
        """Yield the events numbered above ``after``, in order, without a gap."""

    @abstractmethod
    def forget_events(self, upto: int, limit: int) -> int:
        """Drop up to ``limit`` events numbered ``upto`` or below; return how many went."""

    @abstractmethod
    def forget_decisions(self, before: int, limit: int) -> int:
        """Drop up to ``limit`` of the oldest decisions made before a time; return how many went."""

    @abstractmethod
    def save_snapshot(self, number: int, chunks: Iterable[bytes | memoryview]) -> None:
        """Keep a snapshot of the state after event ``number``: whole or not at all."""

    @abstractmethod
    def snapshots(self) -> list[int]:
        """Return the numbers of the snapshots, newest first."""

    @abstractmethod
    def load_snapshot(self, number: int) -> bytes:
        """Return the snapshot of that number."""

    @abstractmethod
    def drop_snapshots(self, keep: int) -> None:
        """Drop all but the newest ``keep`` snapshots."""

    @abstractmethod
    def recover(self) -> None:
        """Connect anew after an error of :meth:`commit`; raise if the store is still unusable."""

    @abstractmethod
    def close(self) -> None:
        """Let the store go."""
