"""The one thread that writes: append to the shared log, apply it, acknowledge; many at a time.

Its queue, its groups, and the decisions in memory that feedback is looked up in.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import queue
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clubcascade.core import Feedback
from clubcascade.errors import (
    ClubCascadeError,
    InvalidArgument,
    StoreDamaged,
    StoreError,
    StoreFenced,
    StoreLocked,
    StoreUnavailable,
)
from clubcascade.service.chores import EVERY, FORGOTTEN, Chores
from clubcascade.service.decision import Decision, Given, Outcome, parse_id, write_outcome
from clubcascade.service.events import Answered, CandidatesNamed, Event, write_event
from clubcascade.service.experiments import name_of
from clubcascade.service.models import Models
from clubcascade.storage import Entry, Group, Store, server_of

MOST = 2_000
"""Pieces of work in one commit, at most."""
LINGER = 0.02
"""Seconds that decisions may wait for company when nobody waits for them."""
COMPANY = 0.5
"""Share of a commit's time that answers may wait for as many as came to the last commit."""
PATIENCE = 0.004
"""Seconds that they wait for that, at most."""

Click = int | None | Feedback
AnyFuture = asyncio.Future[Any] | concurrent.futures.Future[Any]
Piece = tuple[str, str | None, Click]
"""Feedback on one decision: its id, the model or None, the click."""


@dataclass(slots=True)
class FeedbackWork:
    """Feedback on one or more decisions."""

    future: AnyFuture
    pieces: Sequence[Piece]
    until: float = 0.0
    """How long it waits for a decision of another server, once it does."""


@dataclass(slots=True)
class DecisionWork:
    """A decision that someone waits for until it is durable."""

    future: AnyFuture
    decision: Decision


@dataclass(slots=True)
class CallWork:
    """Something to be done between two commits, by the writer."""

    future: AnyFuture
    call: Callable[[], Any]


Work = FeedbackWork | DecisionWork | CallWork
_WAKE, _STOP = object(), object()


class Queue:
    """For many callers and one writer."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._quiet: deque[Decision] = deque()
        self.quiet_bytes = 0
        self._gate = threading.Lock()
        self._closed = False

    # -- callers -------------------------------------------------------------------------------

    def put(self, work: Any) -> None:
        """Join the queue."""
        with self._gate:
            if self._closed:
                raise StoreUnavailable("the recommender is closed")
            self._queue.put(work)

    def put_quietly(self, decision: Decision) -> None:
        """Hand over a decision that nobody waits for, without waking the writer each time."""
        quiet = not self._quiet
        self._quiet.append(decision)
        self.quiet_bytes += decision.size
        if quiet:
            self.put(_WAKE)

    def wake(self) -> None:
        """Let the writer look at the log."""
        if not self._closed:
            self._queue.put(_WAKE)

    def close(self) -> None:
        """Let nobody in any more."""
        with self._gate:
            self._closed = True
            self._queue.put(_STOP)

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
        until, woken = due, False
        try:
            while len(works) < MOST:
                wait = until - time.monotonic()
                work = self._queue.get(timeout=wait) if wait > 0 else self._queue.get_nowait()
                if work is _STOP:
                    return works, True
                if work is _WAKE:
                    if not woken and not works:
                        until = time.monotonic() + (LINGER if self._quiet else 0.0)
                    woken = True
                    continue
                if not works:
                    # Who was answered together comes again together: a moment for the others.
                    until = time.monotonic() + min(PATIENCE, COMPANY * took)
                works.append(work)
                if len(works) >= company:
                    until = 0.0
        except queue.Empty:
            pass
        return works, False

    def quiet(self) -> list[Decision]:
        """Take the decisions that nobody waits for."""
        found = [self._quiet.popleft() for _ in range(len(self._quiet))]
        self.quiet_bytes -= sum(decision.size for decision in found)
        return found


@dataclass(slots=True)
class Plan:
    """One commit in the making: what will be written and learned, if it becomes durable."""

    now: int
    wait: int
    candidates: Container[str] = ()
    """Hashes of candidates that the log has."""
    named: set[str] = field(default_factory=set)
    group: Group = field(default_factory=Group)
    events: list[Event] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    answers: dict[int, tuple[Decision, str, Given]] = field(default_factory=dict)
    settled: list[tuple[AnyFuture, Any]] = field(default_factory=list)

    def add(self, decision: Decision) -> None:
        """Make a decision durable with this commit, and before it what it refers to."""
        key, ids = decision.candidates, decision.candidate_ids
        if key and ids and key not in self.candidates and key not in self.named:
            event = CandidatesNamed(decision.model, key, ids)
            self.group.events.append(Entry(write_event(event)))
            self.events.append(event)
            self.named.add(key)
        self.decisions.append(decision)
        self.group.decisions.append(decision.row())

    def answer(self, known: Mapping[int, Known], piece: Piece) -> Outcome | ClubCascadeError:
        """Take a piece of feedback in: validate, deduplicate, note the event."""
        decision_id, model, click = piece
        number = parse_id(decision_id)
        decision = None if number is None else known[number]
        if isinstance(decision, ClubCascadeError):
            return decision
        if decision is None or decision.id != decision_id:
            return Outcome.UNKNOWN
        if model not in (None, decision.model, name_of(decision.experiment)):
            return Outcome.UNKNOWN
        age = self.now - decision.at
        if age > FORGOTTEN * self.wait:
            return Outcome.UNKNOWN
        try:
            given = _given(click, len(decision.items))
        except ClubCascadeError as error:
            return error
        planned = self.answers.get(decision.number)
        kind, earlier = planned[1:] if planned else (decision.kind, decision.given)
        if kind in ("absent", "expired"):
            return Outcome.LATE
        if earlier is not None:
            return Outcome.DUPLICATE if earlier == given else Outcome.CONFLICT
        late = age > self.wait
        self.log(decision, "late" if late else "applied", given)
        return Outcome.LATE if late else Outcome.APPLIED

    def log(self, decision: Decision, kind: str, given: Given) -> None:
        """Note the event of an answer."""
        event = Answered(decision, kind, given, self.now)
        payload = write_event(event)
        outcome = write_outcome(kind, given)
        self.group.events.append(Entry(payload, decision.number, outcome, decision.base))
        self.answers[decision.number] = (decision, kind, given)
        self.events.append(event)

    def done(self) -> None:
        """Mark the decisions as answered, after the commit."""
        for decision, kind, given in self.answers.values():
            decision.kind, decision.given = kind, given


def _given(click: Click, k: int) -> Given:
    """Return how many of ``k`` items were examined, and the clicks; raise if that cannot be.

    >>> _given(1, 4), _given(None, 4), _given(Feedback(3, (0, 2)), 4)
    ((2, (1,)), (4, ()), (3, (0, 2)))
    """
    if type(click) is int and 0 <= click < k:  # the common case, at once
        return click + 1, (click,)
    feedback = Feedback.of(click, k)
    return feedback.examined, feedback.clicks


def settle(answers: Iterable[tuple[AnyFuture, Any]]) -> None:
    """Give callers an answer or an error each: one call into each event loop, however many wait."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[AnyFuture, Any]]] = {}
    for future, answer in answers:
        if isinstance(future, concurrent.futures.Future):
            _resolve([(future, answer)])
        else:
            by_loop.setdefault(future.get_loop(), []).append((future, answer))
    for loop, group in by_loop.items():
        try:
            loop.call_soon_threadsafe(_resolve, group)
        except RuntimeError:
            pass  # the loop is closed: nobody waits any more


def _resolve(answers: list[tuple[AnyFuture, Any]]) -> None:
    for future, answer in answers:
        if future.done():
            continue  # the caller went away
        if isinstance(answer, BaseException):
            future.set_exception(answer)
        else:
            future.set_result(answer)


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
