"""What a store promises: one log that many servers share, decisions, snapshots; whole commits."""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple, TypeVar

T = TypeVar("T")

FORMAT = 3
"""Number of the format that this version writes; it reads 1 to this one."""
SERVERS = 2**22
"""Openings that are told apart: one a minute for eight years."""
OWN = 38
"""Bits of a decision's number that its server counts; the bits above are the server's."""
BLANK = b"E"
"""An event that was erased; it teaches nothing."""


class Segment(NamedTuple):
    """Events of the log in a file of the archive; its name has its SHA-256."""

    first: int
    last: int
    name: str


Prepared = tuple[Segment, list[int]]
"""A segment that was written, with the checksums of its events as they were read back."""


class Row(NamedTuple):
    """A decision as a store keeps it; ``position`` is that of the event that answered it."""

    number: int
    at: int
    request: str | None
    payload: bytes
    outcome: str | None = None
    position: int | None = None


class Entry(NamedTuple):
    """An event to be appended; one that answers decision ``number`` has an ``outcome``.

    ``base`` is the checksum of the decision without an answer.
    """

    payload: bytes
    number: int | None = None
    outcome: str = ""
    base: int = 0


@dataclass(slots=True)
class Group:
    """What becomes durable in one commit, or not at all."""

    decisions: list[Row] = field(default_factory=list)
    events: list[Entry] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.decisions or self.events)


def checksum(number: int, payload: bytes) -> int:
    """Return the checksum of a row: of its number and its content.

    >>> checksum(1, b"click") == checksum(2, b"click")
    False
    """
    return zlib.crc32(payload, zlib.crc32(number.to_bytes(8, "little")))


def answered(base: int, outcome: str, position: int) -> int:
    """Return the checksum of a decision that has an answer, from that of the row without one."""
    return zlib.crc32(f"{position}:{outcome}".encode(), base)


def row_checksum(row: Row) -> int:
    """Return the checksum that a decision must have in the store."""
    base = checksum(row.number, row.payload)
    if row.outcome is None or row.position is None:
        return base
    return answered(base, row.outcome, row.position)


def batched(values: Iterable[T], size: int = 1_000) -> Iterator[list[T]]:
    """Yield lists of so many values.

    >>> list(batched(range(5), 2))
    [[0, 1], [2, 3], [4]]
    """
    left = iter(values)
    while some := list(islice(left, size)):
        yield some


def server_of(number: int) -> int:
    """Return the server that made a decision; 0 before servers were told apart."""
    return number >> OWN


class Store(ABC):
    """One log, and what belongs to it, for any number of servers at a time.

    :meth:`append` is durable when it returns and leaves nothing behind when it raises, but for an
    error in the very act of committing: then :meth:`recover` and a look at :meth:`events` tell.
    The order of the log is that of the commits; it has no gaps. Everything that is read is
    checked; what does not fit raises :class:`clubcascade.errors.StoreDamaged`. Only one thread
    calls :meth:`append`, :meth:`erase`, :meth:`leads`, :meth:`recover` and what changes the
    archive; any thread may read.
    """

    remote: bool = False
    """Whether a look-up crosses a network."""

    server: int
    """Number of this opening, that of no other: durable before it is told."""

    notes: list[str]
    """What was found and mended when the store was opened; empty if all was well."""

    # -- the log -------------------------------------------------------------------------------

    @abstractmethod
    def append(self, group: Group) -> int | None:
        """Make a group durable, whole; return the position of its first event.

        None, and nothing is written, if one of its decisions was answered before. The answer is
        0 for a group without events. A decision that is there already stays as it is; one whose
        request id is there already is kept without it.
        """

    @abstractmethod
    def events(self, after: int, until: int | None = None) -> Iterator[tuple[int, bytes]]:
        """Yield the events behind a position, in order, without a gap."""

    @abstractmethod
    def head(self) -> int:
        """Return the position of the last event, 0 if there is none."""

    @abstractmethod
    def first(self) -> int:
        """Return the position of the first event that is there, 0 if there is none."""

    @abstractmethod
    def wait(self, seconds: float) -> None:
        """Return when another server may have appended something, or after that time."""

    @abstractmethod
    def erase(self, positions: Sequence[int], numbers: Sequence[int]) -> None:
        """Make events and decisions unreadable for good: a few thousand at a time, at most."""

    @abstractmethod
    def fill(self, server: int, events: Iterable[tuple[int, bytes]], rows: Iterable[Row]) -> None:
        """Fill an empty store with what a backup holds; ``server`` counts as the last opening."""

    # -- the archive: a store need not have one ------------------------------------------------

    def segment(self, until: int) -> Prepared | None:
        """Write the oldest events as a file, if those up to ``until`` fill one; any thread may."""
        return None

    def move(self, prepared: Prepared) -> bool:
        """Let a segment stand for its events, in one commit; not if one was erased meanwhile."""
        return False

    def rewritten(self, positions: Sequence[int]) -> Iterator[tuple[Segment, Segment]]:
        """Yield segments that hold such events, and a copy of each without; any thread may."""
        yield from ()

    def replace(self, old: Segment, new: Segment) -> None:
        """Let a segment stand for another one, which goes."""
        raise NotImplementedError

    def drop_segments(self, before: int) -> int:
        """Drop, for good, segments moved before a time (milliseconds); return how many."""
        return 0

    # -- decisions -----------------------------------------------------------------------------

    @abstractmethod
    def decisions(self, numbers: Sequence[int]) -> list[Row]:
        """Return those of the decisions of these numbers that are known, in any order."""

    @abstractmethod
    def by_request(self, request: str) -> Row | None:
        """Return the decision that was made for a client's request id."""

    @abstractmethod
    def unanswered(self, before: int, limit: int) -> list[Row]:
        """Return the oldest decisions made before that time, without an answer."""

    @abstractmethod
    def every_decision(self, after: int, limit: int) -> list[Row]:
        """Return decisions numbered above ``after``, in order."""

    @abstractmethod
    def waiting(self) -> int:
        """Count the decisions without an answer."""

    @abstractmethod
    def last_decision(self, server: int) -> int:
        """Return the highest number of a server's durable decisions, 0 if it has none."""

    @abstractmethod
    def forget_decisions(self, before: int, limit: int) -> int:
        """Drop up to ``limit`` decisions made before a time; return how many went."""

    # -- servers -------------------------------------------------------------------------------

    @abstractmethod
    def lives(self, server: int) -> bool:
        """Tell whether another server may still make decisions durable."""

    @abstractmethod
    def leads(self) -> bool:
        """Tell whether this server does the chores: one does, and another when that one ends."""

    # -- snapshots -----------------------------------------------------------------------------

    @abstractmethod
    def save_snapshot(self, position: int, chunks: Iterable[bytes | memoryview]) -> None:
        """Keep a snapshot of the state at a position: whole or not at all."""

    @abstractmethod
    def snapshots(self) -> list[int]:
        """Return the positions of the snapshots, newest first."""

    @abstractmethod
    def load_snapshot(self, position: int) -> bytes:
        """Return the snapshot of that position."""

    @abstractmethod
    def drop_snapshots(self, positions: Iterable[int]) -> None:
        """Drop snapshots."""

    # -- ends ----------------------------------------------------------------------------------

    @abstractmethod
    def recover(self) -> None:
        """Connect anew after an error of :meth:`append`; raise if the store is still unusable."""

    @abstractmethod
    def close(self) -> None:
        """Let the store go."""
