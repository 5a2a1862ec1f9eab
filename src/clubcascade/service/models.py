"""All models of a server, by name: a function of the log up to a position, and of nothing else."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import astuple, dataclass, field, replace
from itertools import groupby, islice
from typing import Any

import numpy as np

from clubcascade import model_file
from clubcascade.errors import ClubCascadeError, StoreDamaged, unknown_name
from clubcascade.service.events import (
    Answered,
    CandidatesNamed,
    Erased,
    Event,
    ExperimentGone,
    ExperimentPut,
    ModelGone,
    ModelMade,
    UserGone,
    read_event,
)
from clubcascade.service.experiments import Experiment, name_of
from clubcascade.service.model import Model, parts_of
from clubcascade.storage import server_of
from clubcascade.storage import snapshot_codec as snapshots

AT_ONCE = 64
"""Answers that are learned while lists of the model wait."""
UNREADABLE = (ClubCascadeError, ValueError, KeyError, TypeError, IndexError, ArithmeticError)
"""What making a model from its parts may raise."""

MOST_ENDED = 100
"""Experiments that ended, and can still be read by name."""
MOST_SETS = 10_000
"""Hashes of candidates that are remembered; others are kept in the log once more."""

Parts = tuple[dict[str, Any], dict[str, Any]]
"""All that makes a model: plain values, and arrays."""
History = Callable[[int], Iterable[tuple[int, Event]]]
"""Gives the events up to a position."""

_log = logging.getLogger("clubcascade.service")


@dataclass(frozen=True, slots=True)
class Aside:
    """A model that cannot be served: why, and what is known of it."""

    reason: str
    parts: Parts


class Models:
    """A fold of the log: models by name, and the position up to which they have learned.

    Parameters
    ----------
    server
        Number of the server: what one server draws, no other draws.
    history
        The log, for models that are made anew when a user is forgotten.
    """

    def __init__(self, server: int = 0, history: History = lambda _: ()) -> None:
        self.server, self._history = server, history
        self._blank = array("q")  # where events were erased before this fold could learn them
        self.erased = 0
        """The position at which someone was last forgotten; snapshots before hold them."""
        self.models: dict[str, Model] = {}
        self.aside: dict[str, Aside] = {}
        self._made_at: dict[str, int] = {}
        self.candidates: dict[str, None] = {}
        """Hashes of candidates that the log has, oldest first."""
        self.experiments: dict[str, Experiment] = {}
        self.ended: dict[str, Experiment] = {}
        """The last experiments that ended, by name."""
        self.shared: set[str] = set()
        """Models that are, or were, in an experiment: they learned from one another's lists."""
        self.numbers: dict[int, int] = {}
        """By server the highest number of a decision that the log says something of."""
        self.position = 0
        self.loaded = 0
        """The position of the snapshot that this began with, 0 for none."""
        self.lock = threading.RLock()
        """Held while events are applied; who needs a position and the models there takes it."""

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

    def known_as(self, user: Hashable, names: Iterable[str]) -> Hashable:
        """Return a user's id as the training tables of models had it: 7 and "7" are one user."""
        for name in sorted(names):
            user = self[name].seen.known_as(user)
        return user

    def made_at(self, name: str) -> int:
        """Return the position of the event that made a model."""
        return self._made_at.get(name, 0)

    # -- the fold ------------------------------------------------------------------------------

    def apply(self, events: Iterable[tuple[int, Event]]) -> None:
        """Take in the next events of the log.

        Whoever asks for a list meanwhile waits for ``AT_ONCE`` answers at most.
        """
        with self.lock:
            for key, group in groupby(events, _learned_by):
                if key is None:
                    for position, event in group:
                        self._change(position, event)
                    continue
                learners = self._learners(*key)
                while some := list(islice(group, AT_ONCE)):
                    for name in learners:
                        model = self.models.get(name)  # a model that was deleted learns nothing
                        if model is not None:
                            model.learn(some[-1][0], [event for _, event in some])  # type: ignore[misc]
                    for _, event in some:
                        number = event.decision.number  # type: ignore[union-attr]
                        server = server_of(number)
                        self.numbers[server] = max(number, self.numbers.get(server, 0))
                    self.position = some[-1][0]

    def _learners(self, model: str, experiment: str | None) -> list[str]:
        """Return the models that learn from a list: those of its experiment, while that runs."""
        running = self.experiments.get(name_of(experiment) or "")
        return [model] if running is None or running.id != experiment else running.models

    def related(self, name: str) -> set[str]:
        """Return the models that may know what a model knows of a user."""
        return {name} | (self.shared if name in self.shared else set())

    def _change(self, position: int, event: Event) -> None:
        name = event.model
        match event:
            case Erased():
                self._blank.append(position)
            case CandidatesNamed():
                self.candidates[event.key] = None
                if len(self.candidates) > MOST_SETS:
                    del self.candidates[next(iter(self.candidates))]
            case ExperimentPut():
                if event.name not in self.experiments:  # the first one stays
                    self.experiments = self.experiments | {event.name: Experiment(event, position)}
                    self.shared |= {arm[1] for arm in event.arms}
            case ExperimentGone():
                left = dict(self.experiments)
                if (ended := left.pop(event.name, None)) is not None:
                    earlier = {key: e for key, e in self.ended.items() if key != event.name}
                    last = [*earlier.items(), (event.name, replace(ended, ended=position))]
                    self.ended = dict(last[-MOST_ENDED:])
                self.experiments = left
            case ModelMade():
                if name not in self.models and name not in self.aside:  # the first one stays
                    self._made_at[name] = position
                    self._make(position, event)
            case ModelGone():
                self.models = {key: model for key, model in self.models.items() if key != name}
                self.aside = {key: aside for key, aside in self.aside.items() if key != name}
            case UserGone():
                self.erased = position
                learned = not np.isin(event.positions, self._blank).all()
                for each in sorted(self.related(name)):
                    if learned and (each in self.models or each in self.aside):
                        self._remake(position, each, event.positions)
                    elif each in self.models:
                        self.models[each].version = position
            case _:
                if name in self.models:
                    self.models[name].apply(position, event)
        self.position = position

    def _make(self, position: int, event: ModelMade) -> None:
        try:
            model = Model.made(event, self.server)
        except UNREADABLE as error:
            self.put_aside(event.model, str(error), parts_of(event, position))
            return
        model.version = position
        self.models = self.models | {event.model: model}

    def _remake(self, position: int, name: str, positions: Iterable[int]) -> None:
        """Make a model of the log without those who were forgotten."""
        without, related = set(positions), self.related(name)
        again = Models(self.server, self._history)
        again.apply(
            (at, Erased() if at in without else event)
            for at, event in self._history(position - 1)
            if event.model in {*related, ""}
            and not (isinstance(event, ModelMade) and event.model != name)
        )
        if name in again.models:
            model = again.models[name]
            model.version = position
            if name in self.models:
                model.draws_of(self.models[name])
            self.models = self.models | {name: model}
            self.aside = {key: aside for key, aside in self.aside.items() if key != name}

    def replay(self, events: Iterable[tuple[int, bytes]]) -> None:
        """Take in the next events, as the log keeps them."""
        self.apply(read_events(events))

    # -- models that cannot be read ------------------------------------------------------------

    def put_aside(self, name: str, reason: str, parts: Parts) -> None:
        """Serve a model no longer; what is known of it is kept, and the others go on."""
        _log.error("model %r is put aside: %s", name, reason)
        with self.lock:
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
        with self.lock:
            models = {name: model.parts() for name, model in self.models.items()}
            models |= {name: aside.parts for name, aside in self.aside.items()}
            known = [
                [each.position, *astuple(each.put), each.ended]
                for each in (*self.experiments.values(), *self.ended.values())
            ]
            return Frozen(self.position, models, self.erased, [known, sorted(self.shared)])

    def thaw(self, data: bytes) -> None:
        """Become what a snapshot holds; models that cannot be read are put aside."""
        frozen = Frozen.read(data)
        for name, parts in frozen.models.items():
            try:
                self.models[name] = Model.from_parts(name, *parts, self.server)
            except UNREADABLE as error:
                self.put_aside(name, str(error), parts)
        known, shared = frozen.experiments or ([], [])
        for position, name, mode, arms, _, *ended in known:
            found = Experiment(ExperimentPut.read(name, mode, arms), position, *ended)
            (self.ended if found.ended else self.experiments)[name] = found
        self.shared = set(shared)
        self.position = self.loaded = frozen.position
        self.erased = frozen.erased

    def digest(self, name: str | None = None) -> tuple[int, str]:
        """Return a position, and the SHA-256 of one model or of all there."""
        with self.lock:
            names = sorted(self.models) if name is None else [name]
            position, parts = self.position, [(key, self[key].parts()) for key in names]
        return position, digest(parts)


def _learned_by(numbered: tuple[int, Event]) -> tuple[str, str | None] | None:
    """Answers for the same models are learned together; what else there is stands alone."""
    event = numbered[1]
    if not isinstance(event, Answered):
        return None
    return event.decision.model, event.decision.experiment


def read_events(events: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, Event]]:
    """Yield events that were kept as bytes."""
    for position, payload in events:
        try:
            yield position, read_event(payload)
        except UNREADABLE as error:
            raise StoreDamaged(f"event {position} of the log cannot be read: {error}") from error


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


@dataclass(frozen=True, slots=True)
class Frozen:
    """A copy of the models at a position: what a snapshot is made of, and compared with."""

    position: int
    models: dict[str, Parts]
    erased: int = 0
    experiments: list[Any] = field(default_factory=list)
    """Those that run or ended, and the models that were ever in one."""

    def chunks(self) -> Iterator[bytes | memoryview]:
        """Yield the parts of the snapshot."""
        plain: dict[str, Any] = {
            "number": self.position,
            "erased": self.erased,
            "models": [],
        }
        if any(self.experiments):
            plain["experiments"] = self.experiments
        arrays: dict[str, Any] = {}
        for place, (name, (about, own)) in enumerate(self.models.items()):
            plain["models"].append([name, about])
            arrays |= {f"{place}.{key}": value for key, value in own.items()}
        return snapshots.write(plain, arrays)

    @classmethod
    def read(cls, data: bytes) -> Frozen:
        """Return what :meth:`chunks` wrote."""
        plain, arrays = snapshots.read(data)
        models: dict[str, Parts] = {}
        for place, (name, about) in enumerate(plain["models"]):
            start = f"{place}."
            own = {n.removeprefix(start): v for n, v in arrays.items() if n.startswith(start)}
            models[name] = (about, own)
        return cls(plain["number"], models, plain.get("erased", 0), plain.get("experiments", []))


def digest(models: Iterable[tuple[str, Parts]]) -> str:
    """Return the SHA-256 of models: what was learned, items, counters."""
    total = hashlib.sha256()
    for name, (about, own) in models:
        state = {n: v for n, v in about["state"].items() if n != "draws"}
        total.update(_canonical([name, about | {"state": state}]).encode("utf-8", "surrogatepass"))
        for label in sorted(own):
            if label == "state.draws":
                continue  # a place in a stream of random numbers is nothing learned
            value = np.ascontiguousarray(own[label])
            total.update(f"{label} {value.dtype.str} {value.shape};".encode())
            total.update(value.reshape(-1).data.cast("B") if value.size else b"")
    return total.hexdigest()


def _canonical(value: Any) -> str:
    return json.dumps(_ordered(model_file.encode(value)), separators=(",", ":"))


def _ordered(value: Any) -> Any:
    """Bring what has no order of its own (sets) into one."""
    if isinstance(value, list):
        return [_ordered(part) for part in value]
    if isinstance(value, dict):
        if list(value) == ["set"]:
            return {"set": sorted(value["set"], key=json.dumps)}
        return {key: _ordered(part) for key, part in value.items()}
    return value
