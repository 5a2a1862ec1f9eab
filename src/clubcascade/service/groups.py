"""What waits for the writer: one queue, taken in groups; a group in the making; the answers."""

from __future__ import annotations

import asyncio
import concurrent.futures
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clubcascade.core import Feedback
from clubcascade.errors import ClubCascadeError, StoreUnavailable
from clubcascade.service.chores import FORGOTTEN
from clubcascade.service.decision import Decision, Given, Outcome, parse_id, write_outcome
from clubcascade.service.events import Answered, CandidatesNamed, Event, write_event
from clubcascade.service.experiments import name_of
from clubcascade.service.recent import Known
from clubcascade.storage import Entry, Group

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
