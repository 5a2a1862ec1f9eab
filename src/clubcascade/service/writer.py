"""The one thread that writes: append, synchronise, apply, acknowledge, many at a time."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from clubcascade.errors import ClubCascadeError, StoreError, StoreUnavailable
from clubcascade.service.book import Book
from clubcascade.service.plan import DecisionWork, FeedbackWork, Plan
from clubcascade.service.records import Event, Record, write_event
from clubcascade.service.recovery import catch_up
from clubcascade.service.shelf import Shelf
from clubcascade.service.ticket import Ticket, settle
from clubcascade.service.upkeep import EVERY, Upkeep
from clubcascade.storage import Batch, Store

MOST = 2_000
"""Pieces of work in one commit, at most."""
LINGER = 0.02
"""Seconds that decisions may wait for company when nobody waits for them."""
COMPANY = 0.5
"""Share of a commit's time that answers may wait for as many as came to the last commit."""
PATIENCE = 0.004
"""Seconds that they wait for that, at most."""
UNSAVED = 50_000
"""Decisions that are held for a store that cannot write; beyond that the oldest are lost."""


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


class Writer:
    """Serves the queue in order. The log's order is the order of this queue."""

    def __init__(self, store: Store, book: Book, shelf: Shelf, upkeep: Upkeep) -> None:
        self.store, self.book, self.shelf, self.upkeep = store, book, shelf, upkeep
        self.problem: str | None = None
        self.commits = 0
        self._queue: queue.SimpleQueue[Work] = queue.SimpleQueue()
        self._soon: dict[asyncio.AbstractEventLoop, list[FeedbackWork]] = {}
        self._quiet: deque[Record] = deque()
        self._company = 0  # callers that the last commit answered: they may come again soon
        self._took = 0.0  # seconds of the last commit
        self._unsaved: list[Record] = []
        self._broken = False
        self._gate = threading.Lock()
        self._stopping = False
        self._dead: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="clubcascade-writer", daemon=True)
        self._thread.start()

    def put(self, work: Work) -> None:
        """Join the queue."""
        with self._gate:
            if self._stopping:
                raise StoreUnavailable("the recommender is closed")
            self._queue.put(work)

    def put_soon(self, work: FeedbackWork, loop: asyncio.AbstractEventLoop) -> None:
        """Join the queue with all else that comes to an event loop at this time."""
        group = self._soon.get(loop)
        if group is None:
            if self._stopping:
                raise StoreUnavailable("the recommender is closed")
            group = self._soon[loop] = []
            loop.call_soon(self._hand_over, loop)
        group.append(work)

    def _hand_over(self, loop: asyncio.AbstractEventLoop) -> None:
        works = self._soon.pop(loop)
        try:
            self.put(GroupWork(works))
        except StoreUnavailable as error:
            self._refuse(list(works), error)

    def put_quietly(self, record: Record) -> None:
        """Hand over a decision that nobody waits for, without waking the writer each time."""
        quiet = not self._quiet
        self._quiet.append(record)
        if quiet:
            self.put(WakeWork())

    def stop(self) -> None:
        """Finish what is queued and end the thread."""
        with self._gate:
            self._stopping = True
            self._queue.put(StopWork())
        self._thread.join()

    def backlog(self) -> int:
        """Return how much is queued."""
        return self._queue.qsize()

    # -- the loop ------------------------------------------------------------------------------

    def _run(self) -> None:
        stop = False
        while not stop:
            works, stop = self._gather()
            try:
                if self._dead is not None:
                    raise self._dead
                self._serve(works)
                if time.monotonic() >= self.upkeep.due:
                    self.look_after()
            except BaseException as error:  # a bug, not a full disk: nothing can be trusted now
                self._dead = error
                self.problem = f"the writer has stopped: {error!r}"
                self._refuse(works, StoreUnavailable(self.problem))

    def _gather(self) -> tuple[list[Work], bool]:
        """Take what is queued; decisions that nobody waits for may wait for company."""
        works: list[Work] = []
        until, hurried = self.upkeep.due, False
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
                    until = time.monotonic() + min(PATIENCE, COMPANY * self._took)
                elif first:
                    until = time.monotonic() + LINGER
                if hurried and len(works) >= self._company:
                    until = 0.0
        except queue.Empty:
            pass
        return works, False

    def _serve(self, works: list[Work]) -> None:
        # A decision is handed over before its id is known to anyone: all that the works at hand
        # can speak of are here now.
        records = [self._quiet.popleft() for _ in range(len(self._quiet))]
        if self._broken and (works or records) and not self._mend():
            self._hold(works, records)
            return
        run: list[FeedbackWork | DecisionWork] = []
        for work in works:
            if isinstance(work, FeedbackWork | DecisionWork):
                run.append(work)
            elif isinstance(work, CallWork):
                self._write(records, run)
                records, run = [], []
                self._call(work)
        self._write(records, run)

    def _write(self, records: list[Record], run: list[FeedbackWork | DecisionWork]) -> None:
        """Serve works that one commit can hold."""
        plan = self._plan()
        for record in records:
            plan.add_decision(record)
        asked = [work.items for work in run if isinstance(work, FeedbackWork)]
        known = self.shelf.find_many({item[0] for items in asked for item in items if item})
        for work in run:
            if isinstance(work, DecisionWork):
                plan.add_decision(work.record)
            else:
                work.ticket.answer = [plan.answer(known, item) for item in work.items]
            plan.tickets.append(work.ticket)
        self._flush(plan)

    def _plan(self) -> Plan:
        plan = Plan(self.book.number + 1, self.upkeep.now(), self.upkeep.wait)
        for record in self._unsaved:
            plan.add_decision(record)
        return plan

    # -- one commit ----------------------------------------------------------------------------

    def _flush(self, plan: Plan) -> None:
        """Commit, apply, acknowledge; or acknowledge nothing."""
        try:
            if self._broken:
                raise StoreUnavailable(self.problem or "the store cannot be written")
            if plan.batch:
                start = time.monotonic()
                self.store.commit(plan.batch)
                self.commits += 1
                self._took = time.monotonic() - start
                self._company = len(plan.tickets)
        except StoreError as error:
            self._failed(plan.records, error)
            self._reject(plan.tickets, error)
            return
        self._unsaved = []
        self.book.learn(plan.learned)
        plan.done()
        self.shelf.saved(plan.records)
        self.upkeep.answered(plan)
        settle(plan.tickets)
        self.upkeep.maybe_snapshot()

    def _failed(self, records: list[Record], error: StoreError) -> None:
        """Hold decisions for better times; the oldest are lost when they are too many."""
        self._broken = True
        self.problem = str(error)
        self._unsaved = records[-UNSAVED:]
        self.shelf.forget(records[:-UNSAVED])

    def _reject(self, tickets: list[Ticket], error: StoreError) -> None:
        for ticket in tickets:
            ticket.answer, ticket.error = None, type(error)(str(error))
        settle(tickets)

    def _mend(self) -> bool:
        """After an error: connect anew and take in what became durable nevertheless."""
        try:
            self.store.recover()
            self.shelf.forget_durable()
            known = [r for r in self._unsaved if self.store.decision(r.number) is not None]
            catch_up(self.book, self.store)
            self.upkeep.waiting = self.store.waiting()
        except StoreError as error:
            self.problem = str(error)
            return False
        self.shelf.forget(known)
        found = {record.number for record in known}
        self._unsaved = [r for r in self._unsaved if r.number not in found]
        self._broken, self.problem = False, None
        return True

    def _hold(self, works: list[Work], records: list[Record]) -> None:
        """Keep decisions, refuse feedback, as the store cannot be written; calls go on."""
        error = StoreUnavailable(self.problem or "the store cannot be written")
        waited = [work.record for work in works if isinstance(work, DecisionWork)]
        self._failed([*self._unsaved, *records, *waited], error)
        self._refuse([work for work in works if not isinstance(work, CallWork)], error)
        for work in works:
            if isinstance(work, CallWork):
                self._call(work)

    def _refuse(self, works: list[Work], error: StoreError) -> None:
        self._reject([work.ticket for work in works if work.ticket is not None], error)

    # -- between commits -----------------------------------------------------------------------

    def _call(self, work: CallWork) -> None:
        try:
            work.ticket.answer = work.call()
        except ClubCascadeError as error:
            work.ticket.error = error
        settle([work.ticket])

    def record(self, event: Event) -> None:
        """Log one event and apply it; for calls that the writer makes between commits."""
        if self._broken and not self._mend():
            raise StoreUnavailable(self.problem or "the store cannot be written")
        number = self.book.number + 1
        try:
            self.store.commit(Batch(events=[(number, write_event(event))]))
            self.commits += 1
        except StoreError as error:
            self._failed(self._unsaved, error)
            raise
        self.book.apply(number, event)

    def look_after(self) -> None:
        """Let time pass: absent answers, old decisions, compaction; try a broken store again."""
        self.upkeep.due = time.monotonic() + EVERY
        if self._broken and not self._mend():
            return
        try:
            for records in self.upkeep.absent():
                plan = self._plan()
                for record in records:
                    self.upkeep.log_absence(plan, self.shelf.find(record.number) or record)
                self._flush(plan)
                if self._broken:
                    return
            self.upkeep.tidy()
        except StoreError as error:
            self._failed(self._unsaved, error)
