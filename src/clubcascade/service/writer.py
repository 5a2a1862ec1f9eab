"""The one thread that writes: append, synchronise, apply, acknowledge, many at a time."""

from __future__ import annotations

import logging
import threading
import time

from clubcascade.errors import ClubCascadeError, StoreError, StoreUnavailable
from clubcascade.service.book import Book
from clubcascade.service.intake import CallWork, Intake, Work
from clubcascade.service.plan import DecisionWork, FeedbackWork, Known, Plan
from clubcascade.service.records import Event, Record, write_event
from clubcascade.service.recovery import catch_up
from clubcascade.service.shelf import Shelf
from clubcascade.service.ticket import reject, settle
from clubcascade.service.upkeep import EVERY, Upkeep
from clubcascade.storage import Batch, Store

UNSAVED = 50_000
"""Decisions that are held for a store that cannot write; beyond that the oldest are lost."""


_log = logging.getLogger("clubcascade.service")


class Writer:
    """Serves what comes in, in order: the log's order is that of the intake.

    Parameters
    ----------
    intake
        Where work comes from.
    store, book, shelf, upkeep
        Those of the recommender.
    """

    def __init__(
        self, intake: Intake, store: Store, book: Book, shelf: Shelf, upkeep: Upkeep
    ) -> None:
        self._intake = intake
        self.store, self.book, self.shelf, self.upkeep = store, book, shelf, upkeep
        self.problem: str | None = None
        self.commits = 0
        self._company = 0  # callers that the last commit answered: they may come again soon
        self._took = 0.0  # seconds of the last commit
        self._unsaved: list[Record] = []
        self._broken = False
        self.dead: BaseException | None = None
        self._learning = False
        self._thread = threading.Thread(target=self._run, name="clubcascade-writer", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Finish what came in and end the thread."""
        self._intake.close()
        self._thread.join()

    # -- the loop ------------------------------------------------------------------------------

    def _run(self) -> None:
        stop = False
        while not stop:
            works, stop = self._intake.gather(self.upkeep.due, self._company, self._took)
            try:
                if self.dead is not None:
                    raise self.dead
                self._serve(works)
                if time.monotonic() >= self.upkeep.due:
                    self.look_after()
            except BaseException as error:
                self._stumble(works, error)

    def _stumble(self, works: list[Work], error: BaseException) -> None:
        """After an error that no store raised: one of the system passes, others are for good."""
        if isinstance(error, OSError) and not self._learning and self.dead is None:
            _log.warning("the writer goes on after: %r", error)
            self._failed(self._unsaved, StoreUnavailable(f"the system refused: {error}"))
        elif self.dead is None:  # a bug: nothing can be trusted now
            _log.critical("the writer has stopped", exc_info=error)
            self.dead = error
            self.problem = f"the writer has stopped: {error!r}"
        self._refuse(works, StoreUnavailable(self.problem or str(error)))

    def _serve(self, works: list[Work]) -> None:
        # A decision is handed over before its id is known to anyone: all that the works at hand
        # can speak of are here now.
        records = self._intake.quiet()
        self._unsaved += records
        if self._broken and (works or records) and not self._mend():
            self._hold(works)
            return
        run: list[FeedbackWork | DecisionWork] = []
        for work in works:
            if isinstance(work, FeedbackWork | DecisionWork):
                run.append(work)
            elif isinstance(work, CallWork):
                self._write(run)
                run = []
                self._call(work)
        self._write(run)

    def _write(self, run: list[FeedbackWork | DecisionWork]) -> None:
        """Serve works that one commit can hold."""
        plan = self._plan()
        asked = [work.items for work in run if isinstance(work, FeedbackWork)]
        known = self.shelf.find_many({item[0] for items in asked for item in items if item})
        if self.book.aside:
            known = {number: self._served(record) for number, record in known.items()}
        for work in run:
            if isinstance(work, DecisionWork):
                plan.add_decision(work.record)
            else:
                work.ticket.answer = [plan.answer(known, item) for item in work.items]
            plan.tickets.append(work.ticket)
        self._flush(plan)

    def _served(self, record: Known) -> Known:
        """Return a decision, or why its model takes no answers."""
        try:
            self.book.check_served(record.model if isinstance(record, Record) else "")
        except StoreError as error:
            return error
        return record

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
            reject(plan.tickets, error)
            return
        self._unsaved = []
        self._learning = True
        self.book.learn(plan.learned)
        self._learning = False
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

    def _hold(self, works: list[Work]) -> None:
        """Keep decisions, refuse feedback, as the store cannot be written; calls go on."""
        error = StoreUnavailable(self.problem or "the store cannot be written")
        waited = [work.record for work in works if isinstance(work, DecisionWork)]
        self._failed([*self._unsaved, *waited], error)
        self._refuse([work for work in works if not isinstance(work, CallWork)], error)
        for work in works:
            if isinstance(work, CallWork):
                self._call(work)

    def _refuse(self, works: list[Work], error: StoreError) -> None:
        reject([work.ticket for work in works if work.ticket is not None], error)

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
        self._learning = True
        self.book.apply(number, event)
        self._learning = False

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
