"""The one thread that writes: append to the shared log, apply it, acknowledge; many at a time."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from typing import Any

from clubcascade.errors import (
    ClubCascadeError,
    InvalidArgument,
    StoreDamaged,
    StoreError,
    StoreFenced,
    StoreLocked,
    StoreUnavailable,
)
from clubcascade.service.chores import EVERY, Chores
from clubcascade.service.decision import Decision, parse_id
from clubcascade.service.events import Event, write_event
from clubcascade.service.groups import (
    AnyFuture,
    CallWork,
    DecisionWork,
    FeedbackWork,
    Plan,
    Queue,
    Work,
    settle,
)
from clubcascade.service.models import Models
from clubcascade.service.recent import Known, Recent
from clubcascade.storage import Entry, Group, Store, server_of

UNSAVED = 64 * 2**20
"""Bytes of decisions that are held for a store that cannot write; beyond, the oldest are lost."""
TRIES = 100
"""How often a group is planned anew because another server answered some of it."""
LOOK = 0.02
"""Seconds between two looks for a decision of another server."""
AT_A_TIME = 5_000
"""Events of other servers that are read at a time."""
LARGEST_REMOTE = 2**26
"""Bytes of an event that all servers can read in the few seconds that a statement may take."""
PAUSE = 0.02
"""Seconds between two looks at the head of the log: others' events are taken in together."""

PASSING = (StoreUnavailable, StoreDamaged, StoreLocked)
"""Errors of a store that may pass. If another store has taken its place, the writer ends."""

_log = logging.getLogger("clubcascade.service")


class NotYet(Exception):
    """Feedback on a decision that its server has not made durable yet."""


class Writer:
    """Serves what comes in, in order, and follows what other servers append.

    Parameters
    ----------
    queue
        Where work comes from.
    store, models, recent, chores
        Those of the recommender.
    patience
        Seconds that feedback waits for a decision of another server to become durable.
    """

    def __init__(
        self,
        queue: Queue,
        store: Store,
        models: Models,
        recent: Recent,
        chores: Chores,
        patience: float,
    ) -> None:
        self._queue, self._patience = queue, patience
        self.store, self.models, self.recent, self.chores = store, models, recent, chores
        self.problem: str | None = None
        self.commits = 0
        self._company = 0  # callers that the last commit answered: they may come again soon
        self._took = 0.0  # seconds of the last commit
        self._unsaved: list[Decision] = []
        self._later: list[FeedbackWork] = []
        self._broken = False
        self.dead: BaseException | None = None
        self._learning = False
        self._behind: int | None = 0  # up to where others have appended; 0: somewhere
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="clubcascade-writer", daemon=True)
        self._follower = threading.Thread(
            target=self._follow, name="clubcascade-follower", daemon=True
        )
        self._thread.start()
        self._follower.start()

    def stop(self) -> None:
        """Finish what came in and end the threads."""
        self._stopping.set()
        self._queue.close()
        self._thread.join()
        self._follower.join()

    # -- the loops -----------------------------------------------------------------------------

    def _follow(self) -> None:
        """Wake the writer when others have appended something; look once a second anyway."""
        while not self._stopping.is_set():
            try:
                learned = self.models.position
                self.store.wait(0.2)
                head = self.store.head()
                if head > self.models.position or head < learned:
                    self._behind = head if head > learned else 0
                    self._queue.wake()
                self._stopping.wait(PAUSE)
            except (StoreError, OSError):
                self._stopping.wait(0.5)  # the writer finds out, and connects anew

    def _run(self) -> None:
        stop = False
        while not stop:
            due = self.chores.due
            if self._later:
                due = min(due, time.monotonic() + LOOK)
            works, stop = self._queue.gather(due, self._company, self._took)
            try:
                if self.dead is not None:
                    raise self.dead
                self._serve(works)
                if time.monotonic() >= self.chores.due:
                    self.look_after()
            except BaseException as error:
                self._stumble(works, error)
        self._refuse(self._later, StoreUnavailable("the recommender is closed"))

    def _stumble(self, works: list[Work], error: BaseException) -> None:
        """After an error that no store raised: one of the system passes, others are for good."""
        passes = isinstance(error, OSError) and not isinstance(error, StoreFenced)
        if passes and not self._learning and self.dead is None:
            _log.warning("the writer goes on after: %r", error)
            self._failed(StoreUnavailable(f"the system refused: {error}"))
        elif self.dead is None:  # a bug: nothing can be trusted now
            _log.critical("the writer has stopped", exc_info=error)
            self.dead = error
            self.problem = f"the writer has stopped: {error!r}"
        self._refuse(works, StoreUnavailable(self.problem or str(error)))

    def _serve(self, works: list[Work]) -> None:
        # A decision is handed over before its id is known to anyone: all of ours that the works
        # at hand can speak of are here now.
        self._unsaved += self._queue.quiet()
        if self._broken:
            if not (works or self._unsaved):
                return
            if not self._mend():
                self._hold(works)
                return
        works = [*self._later, *works]
        self._later = []
        run: list[FeedbackWork | DecisionWork] = []
        for work in works:
            if isinstance(work, CallWork):
                self._write(run)
                run = []
                self._call(work)
            else:
                run.append(work)
        self._write(run)
        if self._behind is not None and not self._broken:
            until, self._behind = self._behind, None
            if until == 0 or until > self.models.position:
                self.catch_up(until or None)

    def _write(self, run: list[FeedbackWork | DecisionWork]) -> None:
        """Serve works that one commit can hold."""
        for _ in range(TRIES):
            plan = self._plan(run)
            if self._flush(plan):
                return
            self.recent.forget_durable(plan.answers)  # the store knows better who answered
        self._refuse(run, StoreUnavailable("other servers answered the same decisions meanwhile"))

    def _plan(self, run: list[FeedbackWork | DecisionWork]) -> Plan:
        plan = Plan(self.chores.now(), self.chores.wait, self.models.candidates)
        for decision in self._unsaved:
            plan.add(decision)
        numbers = {
            parse_id(piece[0])
            for work in run
            if isinstance(work, FeedbackWork)
            for piece in work.pieces
        }
        known = self.recent.find_many(number for number in numbers if number is not None)
        if self.models.aside:
            known = {number: self._served(decision) for number, decision in known.items()}
        for work in list(run):
            if isinstance(work, DecisionWork):
                plan.add(work.decision)
                plan.settled.append((work.future, work.decision))
                continue
            try:
                self._check_durable(work, known)
                answers = [plan.answer(known, piece) for piece in work.pieces]
                plan.settled.append((work.future, answers))
            except NotYet:
                run.remove(work)
                self._later.append(work)
            except StoreUnavailable as error:
                plan.settled.append((work.future, error))
        return plan

    def _served(self, decision: Known) -> Known:
        """Return a decision, or why its model takes no answers."""
        try:
            self.models.check_served(decision.model if isinstance(decision, Decision) else "")
        except StoreError as error:
            return error
        return decision

    def _check_durable(self, work: FeedbackWork, known: Mapping[int, Known]) -> None:
        """Raise if a decision may be on its way from another server that lives."""
        for decision_id, _, _ in work.pieces:
            number = parse_id(decision_id)
            if number is None or known[number] is not None:
                continue
            server = server_of(number)
            if server in (0, self.store.server) or not self.store.lives(server):
                continue
            last = max(self.store.last_decision(server), self.models.numbers.get(server, 0))
            if number <= last and not self.store.decisions([number]):
                continue  # later ones are durable: this one was lost, never made or forgotten
            now = time.monotonic()
            work.until = work.until or now + self._patience
            if now < work.until:
                raise NotYet
            raise StoreUnavailable(
                f"decision {decision_id} is not durable yet: another server is making it so"
            )

    # -- one commit ----------------------------------------------------------------------------

    def _flush(self, plan: Plan) -> bool:
        """Commit, apply, acknowledge; or acknowledge nothing. False: others were faster."""
        waiting = plan.decisions
        try:
            if self._broken:
                raise StoreUnavailable(self.problem or "the store cannot be written")
            if plan.group:
                start = time.monotonic()
                first = self.store.append(plan.group)
                if first is None:
                    return False
                self.commits += 1
                self._took = time.monotonic() - start
                self._company = len(plan.settled)
                self._unsaved, waiting = [], []
                self.recent.saved(plan.decisions)
                self._apply(first, plan.events)
        except PASSING as error:
            self._unsaved = waiting
            self._failed(error)
            self._reject([future for future, _ in plan.settled], error)
            return True
        plan.done()
        settle(plan.settled)
        self.chores.maybe_snapshot()
        return True

    def _apply(self, first: int, events: list[Event]) -> None:
        """Take in what the log has up to and with these events, which begin at ``first``."""
        if not events:
            return
        if first > self.models.position + 1:
            self._catch_up(first - 1)
        self._learning = True
        self.models.apply(enumerate(events, first))
        self._learning = False

    def _catch_up(self, until: int | None = None) -> None:
        """Take in what other servers have appended."""
        last = self.store.head() if until is None else until
        if last < self.models.position:
            raise StoreFenced(
                f"the log ends at {last}, before {self.models.position}, which this server has "
                f"learned: an older store was put in its place. Start the server anew"
            )
        while self.models.position < last:
            upto = min(last, self.models.position + AT_A_TIME)
            events = list(self.store.events(self.models.position, upto))
            self._learning = True
            self.models.replay(events)
            self._learning = False
        self.chores.maybe_snapshot()

    def _failed(self, error: StoreError) -> None:
        """Hold decisions for better times; the oldest are lost when they are too many."""
        self._broken = True
        self.problem = str(error)
        room = UNSAVED
        for place in range(len(self._unsaved) - 1, -1, -1):
            room -= self._unsaved[place].size
            if room < 0:
                lost, self._unsaved = self._unsaved[: place + 1], self._unsaved[place + 1 :]
                self.recent.forget(lost)
                return

    def _mend(self) -> bool:
        """After an error: connect anew and take in what became durable nevertheless."""
        try:
            self.store.recover()
            self.recent.forget_durable()
            numbers = [decision.number for decision in self._unsaved]
            found: set[int] = set()
            for start in range(0, len(numbers), 1_000):
                rows = self.store.decisions(numbers[start : start + 1_000])
                found.update(row.number for row in rows)
            self._catch_up()
        except PASSING as error:
            self.problem = str(error)
            return False
        self.recent.forget(d for d in self._unsaved if d.number in found)
        self._unsaved = [d for d in self._unsaved if d.number not in found]
        self._broken, self.problem = False, None
        return True

    def _hold(self, works: list[Work]) -> None:
        """Keep decisions, refuse feedback, as the store cannot be written; calls go on."""
        error = StoreUnavailable(self.problem or "the store cannot be written")
        self._unsaved += [work.decision for work in works if isinstance(work, DecisionWork)]
        self._failed(error)
        self._refuse([work for work in works if not isinstance(work, CallWork)], error)
        for work in works:
            if isinstance(work, CallWork):
                self._call(work)

    def _refuse(self, works: list[Any], error: StoreError) -> None:
        self._reject([work.future for work in works], error)

    def _reject(self, futures: list[AnyFuture], error: StoreError) -> None:
        """Tell callers that nothing was done; each gets an error of its own."""
        settle((future, type(error)(str(error))) for future in futures)

    # -- between commits -----------------------------------------------------------------------

    def _call(self, work: CallWork) -> None:
        answer: Any
        try:
            answer = work.call()
        except ClubCascadeError as error:
            answer = error
        settle([(work.future, answer)])

    def record(self, event: Event) -> int:
        """Log one event and apply it; for calls that the writer makes between commits."""
        self.check_writable()
        payload = write_event(event)
        if self.store.remote and len(payload) > LARGEST_REMOTE:
            raise InvalidArgument(
                f"model {event.model!r} must take at most {LARGEST_REMOTE >> 20} MiB at a time in "
                f"PostgreSQL, got {len(payload) >> 20} MiB; fewer features or users take less"
            )
        try:
            first = self.store.append(Group(events=[Entry(payload)]))
            assert first is not None
            self.commits += 1
            self._apply(first, [event])
        except PASSING as error:
            self._failed(error)
            raise
        return first

    def check_writable(self) -> None:
        """Raise if the store cannot be written; try once more before."""
        if self._broken and not self._mend():
            raise StoreUnavailable(self.problem or "the store cannot be written")

    def catch_up(self, until: int | None = None) -> None:
        """Take in what the log has, by default all."""
        try:
            self._catch_up(until)
        except PASSING as error:
            self._failed(error)

    def look_after(self) -> None:
        """Let time pass: answers that never came, old decisions; try a broken store again."""
        self.chores.due = time.monotonic() + EVERY
        if self._broken and not self._mend():
            return
        try:
            self.chores.leads = self.store.leads()
            kind = "absent" if self.chores.counts_absent else "expired"
            while decisions := self.chores.unanswered():
                plan = self._plan([])
                for decision in decisions:
                    plan.log(decision, kind, (len(decision.items), ()))
                if self._flush(plan):
                    self.recent.forget_durable(plan.answers)
                if self._broken:
                    return
            self.chores.tidy()
        except PASSING as error:
            self._failed(error)
