"""One commit in the making: what will be written, learned and answered, if it becomes durable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from clubcascade.core import Feedback
from clubcascade.errors import ClubCascadeError, StoreError
from clubcascade.service.decision import Outcome
from clubcascade.service.records import Given, Learned, Record, write_event, write_outcome
from clubcascade.service.ticket import Ticket
from clubcascade.storage import Answer, Batch

FORGOTTEN = 2
"""Decisions are forgotten after so many times the wait."""

Click = int | None | Feedback
Answered = Outcome | ClubCascadeError
Piece = tuple[int, str, str | None, Click]
"""Feedback on one decision: its number and tag, the model or None, the click."""
Known = Record | StoreError | None
"""A decision, why it cannot be read, or None for one that is not known."""


@dataclass(slots=True)
class FeedbackWork:
    """Feedback on one or more decisions; None for what has no possible id."""

    ticket: Ticket
    items: Sequence[Piece | None]


@dataclass(frozen=True, slots=True)
class DecisionWork:
    """A decision that someone waits for until it is durable."""

    record: Record
    ticket: Ticket


def _given(click: Click, k: int) -> Given:
    """Return how many of ``k`` items were looked at, and the clicks; raise if that cannot be.

    >>> _given(1, 4), _given(None, 4), _given(Feedback(3, (0, 2)), 4)
    ((2, (1,)), (4, ()), (3, (0, 2)))
    """
    if type(click) is int and 0 <= click < k:  # the common case, at once
        return click + 1, (click,)
    feedback = Feedback.of(click, k)
    return feedback.examined, feedback.clicks


@dataclass(slots=True)
class Plan:
    """What the next commit will do."""

    next_event: int
    now: int
    wait: int
    batch: Batch = field(default_factory=Batch)
    learned: list[Learned] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    answers: dict[int, tuple[Record, str, Given]] = field(default_factory=dict)
    tickets: list[Ticket] = field(default_factory=list)

    def add_decision(self, record: Record) -> None:
        """Make a decision durable with this commit."""
        self.records.append(record)
        self.batch.decisions.append(record.row())

    def answer(self, known: Mapping[int, Known], piece: Piece | None) -> Answered:
        """Take a piece of feedback in: validate, deduplicate, note the event."""
        if piece is None:
            return Outcome.UNKNOWN
        number, tag, model, click = piece
        record = known[number]
        if isinstance(record, StoreError):
            return record
        if record is None or record.tag != tag or model not in (None, record.model):
            return Outcome.UNKNOWN
        age = self.now - record.at
        if age > FORGOTTEN * self.wait:
            return Outcome.UNKNOWN
        try:
            given = _given(click, len(record.ids))
        except ClubCascadeError as error:
            return error
        planned = self.answers.get(number)
        kind, earlier = planned[1:] if planned else (record.kind, record.given)
        if kind == "absent":
            return Outcome.LATE
        if earlier is not None:
            return Outcome.DUPLICATE if earlier == given else Outcome.CONFLICT
        late = age > self.wait
        self.log(record, "late" if late else "applied", given)
        return Outcome.LATE if late else Outcome.APPLIED

    def log(self, record: Record, kind: str, given: Given) -> None:
        """Note the event of an answer."""
        number = self.next_event
        event = Learned(
            record.model,
            kind,
            record.number,
            record.user,
            self.now,
            given,
            record.ids,
            record.shown,
        )
        self.batch.events.append((number, write_event(event)))
        outcome = write_outcome(kind, given)
        self.batch.answers.append(Answer(record.number, outcome, number, record.base))
        self.answers[record.number] = (record, kind, given)
        self.learned.append(event)
        self.next_event = number + 1

    def done(self) -> None:
        """Mark the decisions as answered, after the commit."""
        for record, kind, given in self.answers.values():
            record.kind, record.given = kind, given
