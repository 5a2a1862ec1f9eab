"""All models of a recommender, by name: a function of the log's order alone."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from clubcascade.errors import ClubCascadeError, StoreDamaged, unknown_name
from clubcascade.service.frozen import Frozen, Parts, digest
from clubcascade.service.model import Model, parts_of
from clubcascade.service.records import Event, Learned, ModelMade, read_event

AT_ONCE = 64
"""Answers that are learned while lists of the model wait."""
UNREADABLE = (ClubCascadeError, ValueError, KeyError, TypeError, IndexError, ArithmeticError)
"""What making a model from its parts may raise."""

_log = logging.getLogger("clubcascade.service")


@dataclass(frozen=True, slots=True)
class Aside:
    """A model that cannot be served: why, and what is known of it."""

    reason: str
    parts: Parts


class Book:
    """Models by name, and the number of the last event in them.

    Parameters
    ----------
    run
        How often the store was opened before: what is drawn in one run is drawn in no other.
    """

    def __init__(self, run: int = 0) -> None:
        self.run = run
        self.models: dict[str, Model] = {}
        self.aside: dict[str, Aside] = {}
        self.number = 0
        self.loaded = 0  # the number of the snapshot that this began with, 0 for none
        self._lock = threading.Lock()

    def __getitem__(self, name: str) -> Model:
        try:
            return self.models[name]
        except (KeyError, TypeError):
            self.check_served(name)
            raise unknown_name("model", str(name), self.models) from None

    def check_served(self, name: str) -> None:
        """Raise if a model is put aside."""
        if isinstance(name, str) and name in self.aside:
            raise StoreDamaged(f"model {name!r} is put aside: {self.aside[name].reason}")

    def apply(self, number: int, event: Event) -> None:
        """Take in the next event of the log."""
        if isinstance(event, ModelMade):
            self._make(number, event)
        elif event.model not in self.aside:
            self.models[event.model].apply(number, event)
        self.number = number

    def _make(self, number: int, event: ModelMade) -> None:
        try:
            model = Model.made(event, self.run)
        except UNREADABLE as error:
            self.put_aside(event.model, str(error), parts_of(event, number))
            return
        model.version = number
        with self._lock:
            self.models = self.models | {event.model: model}

    def learn(self, answers: list[Learned]) -> None:
        """Take in the next events of the log, all of them answers.

        Whoever asks for a list meanwhile waits for ``AT_ONCE`` of them at most.
        """
        for name, of_model in groupby(answers, attrgetter("model")):
            group = list(of_model)
            for start in range(0, len(group), AT_ONCE):
                some = group[start : start + AT_ONCE]
                if name not in self.aside:
                    self.models[name].learn(self.number + len(some), some)
                self.number += len(some)

    def replay(self, events: Iterable[tuple[int, bytes]]) -> None:
        """Take in the next events, numbered and as the log keeps them."""
        answers: list[Learned] = []
        for number, payload in events:
            try:
                event = read_event(payload)
            except (ValueError, KeyError, TypeError) as error:
                raise StoreDamaged(f"event {number} of the log cannot be read: {error}") from error
            if isinstance(event, Learned) and len(answers) < AT_ONCE:
                answers.append(event)
                continue
            self.learn(answers)
            answers = []
            self.apply(number, event)
        self.learn(answers)

    # -- models that cannot be read ------------------------------------------------------------

    def put_aside(self, name: str, reason: str, parts: Parts) -> None:
        """Serve a model no longer; what is known of it is kept, and the others go on."""
        _log.error("model %r is put aside: %s", name, reason)
        with self._lock:
            self.models = {key: model for key, model in self.models.items() if key != name}
            self.aside = self.aside | {name: Aside(reason, parts)}

    def put_unreadable_aside(self, frozen: Frozen, read: Frozen) -> list[str]:
        """Put models aside that what was read of them does not give back; return their names."""
        wrong = []
        for name, parts in frozen.models.items():
            reason = None if name in self.aside else _unreadable(name, parts, read.models.get(name))
            if reason is not None:
                self.put_aside(name, reason, parts)
                wrong.append(name)
        return wrong

    # -- snapshots -----------------------------------------------------------------------------

    def freeze(self) -> Frozen:
        """Copy everything now."""
        models = {name: model.parts() for name, model in self.models.items()}
        models |= {name: aside.parts for name, aside in self.aside.items()}
        return Frozen(self.number, models, frozenset(self.aside))

    @classmethod
    def thaw(cls, data: bytes, run: int = 0) -> Book:
        """Return the book of a snapshot; models that cannot be read are put aside."""
        frozen = Frozen.read(data)
        book = cls(run)
        for name, parts in frozen.models.items():
            try:
                book.models[name] = Model.from_parts(name, *parts, run)
            except UNREADABLE as error:
                book.put_aside(name, str(error), parts)
        book.number = frozen.number
        return book

    def digest(self, name: str | None = None) -> str:
        """Return the SHA-256 of one model or of all: what was learned, items, counters."""
        names = sorted(self.models) if name is None else [name]
        return digest((key, self[key].parts()) for key in names)


def _unreadable(name: str, parts: Parts, read: Parts | None) -> str | None:
    """Return why a model cannot be made again from what was read of it; None if it can."""
    if read is None:
        return "it was not written"
    try:
        again = Model.from_parts(name, *read)
        same = digest([(name, again.parts())]) == digest([(name, parts)])
    except UNREADABLE as error:
        return str(error)
    return None if same else "what was read is not what was written"
