"""What waits for the writer: one queue, taken in groups that share a commit."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from clubcascade.errors import StoreUnavailable
from clubcascade.service.plan import DecisionWork, FeedbackWork
from clubcascade.service.records import Record
from clubcascade.service.ticket import Ticket, reject

MOST = 2_000
"""Pieces of work in one commit, at most."""
LINGER = 0.02
"""Seconds that decisions may wait for company when nobody waits for them."""
COMPANY = 0.5
"""Share of a commit's time that answers may wait for as many as came to the last commit."""
PATIENCE = 0.004
"""Seconds that they wait for that, at most."""


@dataclass(frozen=True, slots=True)
class CallWork:
    """Something to be done between two commits, by the writer."""

    ticket: Ticket
    call: Callable[[], Any]


@dataclass(frozen=True, slots=True)
class StopWork:
    """Nothing comes after this."""

    ticket: None = None


@dataclass(frozen=True, slots=True)
class GroupWork:
    """What came to an event loop at one time."""

    works: list[FeedbackWork]
    ticket: None = None


@dataclass(frozen=True, slots=True)
class WakeWork:
    """Decisions have come for which nobody waits."""

    ticket: None = None


Work = FeedbackWork | DecisionWork | CallWork | StopWork | WakeWork | GroupWork


class Intake:
    """A queue for many callers and one writer. Its order is the log's order."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Work] = queue.SimpleQueue()
        self._soon: dict[asyncio.AbstractEventLoop, list[FeedbackWork]] = {}
        self._quiet: deque[Record] = deque()
        self._gate = threading.Lock()
        self._closed = False

    # -- callers -------------------------------------------------------------------------------

    def put(self, work: Work) -> None:
        """Join the queue."""
        with self._gate:
            if self._closed:
                raise StoreUnavailable("the recommender is closed")
            self._queue.put(work)

    def put_soon(self, work: FeedbackWork, loop: asyncio.AbstractEventLoop) -> None:
        """Join the queue with all else that comes to an event loop at this time."""
        group = self._soon.get(loop)
        if group is None:
            if self._closed:
                raise StoreUnavailable("the recommender is closed")
            group = self._soon[loop] = []
            loop.call_soon(self._hand_over, loop)
        group.append(work)

    def _hand_over(self, loop: asyncio.AbstractEventLoop) -> None:
        works = self._soon.pop(loop)
        try:
            self.put(GroupWork(works))
        except StoreUnavailable as error:
            reject([work.ticket for work in works], error)

    def put_quietly(self, record: Record) -> None:
        """Hand over a decision that nobody waits for, without waking the writer each time."""
        quiet = not self._quiet
        self._quiet.append(record)
        if quiet:
            self.put(WakeWork())

    def close(self) -> None:
        """Let nobody in any more."""
        with self._gate:
            self._closed = True
            self._queue.put(StopWork())

    def backlog(self) -> int:
        """Return how much is queued."""
        return self._queue.qsize()

    # -- the writer ----------------------------------------------------------------------------

    def gather(self, due: float, company: int, took: float) -> tuple[list[Work], bool]:
        """Take what is queued, and tell whether nothing comes after it.

        Parameters
        ----------
        due
            When to return with nothing.
        company
            Callers that the last commit answered: they may come again soon.
        took
            Seconds of the last commit.
        """
        works: list[Work] = []
        until, hurried = due, False
        try:
            while len(works) < MOST:
                wait = until - time.monotonic()
                work = self._queue.get(timeout=wait) if wait > 0 else self._queue.get_nowait()
                if isinstance(work, StopWork):
                    return works, True
                first = not works
                if isinstance(work, GroupWork):
                    works.extend(work.works)
                else:
                    works.append(work)
                if not hurried and not isinstance(work, WakeWork):
                    # Who was answered together comes again together: a moment for the others.
                    hurried = True
                    until = time.monotonic() + min(PATIENCE, COMPANY * took)
                elif first:
                    until = time.monotonic() + LINGER
                if hurried and len(works) >= company:
                    until = 0.0
        except queue.Empty:
            pass
        return works, False

    def quiet(self) -> list[Record]:
        """Take the decisions that nobody waits for."""
        return [self._quiet.popleft() for _ in range(len(self._quiet))]
