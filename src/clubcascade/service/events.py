"""Events: what can change a model, as the log keeps it."""

from __future__ import annotations

import struct
from collections.abc import Container, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clubcascade import model_file
from clubcascade.core import Feedback, Floats, Policy
from clubcascade.errors import InvalidArgument
from clubcascade.service.decision import (
    Decision,
    Given,
    make_id,
    pack,
    read_names,
    unpack,
    write_names,
)
from clubcascade.storage import snapshot_codec as snapshots
from clubcascade.storage.base import BLANK

KINDS = ("applied", "late", "absent", "expired")
LARGEST = 2**29
"""Bytes that an event may have: stores keep it in one piece."""
SEEN = 500
"""Items that a model remembers as clicked by a user: the last ones."""
_ANSWER = struct.Struct("<BqqII")


@dataclass(slots=True)
class Answered:
    """The answer to a decision, or its absence (``kind`` "absent").

    A late one (``kind`` "late") is in the log and taught nothing, and so is a list that nobody
    answered in time ("expired"): to leave those out would be a selection.
    """

    decision: Decision
    kind: str
    given: Given
    at: int

    @property
    def model(self) -> str:
        """The model that it is for."""
        return self.decision.model

    @property
    def learned(self) -> bool:
        """Whether it teaches the model something."""
        return self.kind in ("applied", "absent")

    @property
    def feedback(self) -> Feedback:
        """The answer, as a policy takes it."""
        return Feedback(*self.given)


@dataclass(frozen=True, slots=True)
class ModelMade:
    """A model was made, from a policy that may have learned before.

    ``start`` is what the model begins with besides: how many clicked items of a user it remembers
    (``seen``), and all that a trained model has, see :mod:`clubcascade.service.trained`.
    """

    model: str
    policy: str
    params: dict[str, Any]
    state: dict[str, Any]
    start: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, model: str, policy: Policy, start: dict[str, Any] | None = None) -> ModelMade:
        """Make the event for a policy."""
        start = {"seen": SEEN} if start is None else start
        return cls(model, policy.registry_name(), policy.params, policy.state(), start)


@dataclass(frozen=True, slots=True)
class ModelGone:
    """A model was deleted."""

    model: str


@dataclass(frozen=True, slots=True)
class ItemsPut:
    """Items were registered, or got other features; also other metadata, where that is not None."""

    model: str
    ids: tuple[Hashable, ...]
    features: Floats
    metadata: tuple[dict[str, Any] | None, ...] | None = None


@dataclass(frozen=True, slots=True)
class ItemsGone:
    """Items were removed."""

    model: str
    ids: tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class CandidatesNamed:
    """A request named registered items: the set is kept once, decisions refer to its hash."""

    model: str
    key: str
    ids: tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class ExperimentPut:
    """An experiment began: name, model, share of users and of exploring lists of each arm."""

    name: str
    mode: str
    arms: tuple[tuple[str, str, float, float], ...]
    model: str = ""

    @classmethod
    def read(cls, name: str, mode: str, arms: Iterable[Any]) -> ExperimentPut:
        """Read what a log or a snapshot has; earlier ones say which arms are greedy."""
        given = [(*arm[:3], 1.0 - arm[3] if isinstance(arm[3], bool) else arm[3]) for arm in arms]
        return cls(name, mode, tuple(given))


@dataclass(frozen=True, slots=True)
class ExperimentGone:
    """An experiment ended."""

    name: str
    model: str = ""


@dataclass(frozen=True, slots=True)
class UserGone:
    """A user is forgotten: the model is the one that never met the events at these positions."""

    model: str
    positions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Erased:
    """Something was here, of someone who is forgotten."""

    model: str = ""


Event = (
    Answered
    | ModelMade
    | ModelGone
    | ItemsPut
    | ItemsGone
    | CandidatesNamed
    | ExperimentPut
    | ExperimentGone
    | UserGone
    | Erased
)


def write_event(event: Event) -> bytes:
    """Return an event as the log keeps it."""
    match event:
        case Answered():
            examined, clicks = event.given
            decision = event.decision
            if not decision.payload:
                decision.row()
            kind = KINDS.index(event.kind)
            head = _ANSWER.pack(kind, event.at, decision.number, examined, len(clicks))
            places = struct.pack(f"<{len(clicks)}I", *clicks)
            return b"".join((b"F", head, places, decision.payload))
        case ItemsPut():
            names = [event.model, write_names(event.ids), *event.features.shape]
            names += [] if event.metadata is None else [event.metadata]
            whole = pack(names, event.features.tobytes())
            return bounded(f"items of model {event.model!r}", b"I", whole)
        case ItemsGone():
            return b"R" + pack([event.model, write_names(event.ids)])
        case CandidatesNamed():
            return b"C" + pack([event.model, event.key, write_names(event.ids)])
        case ExperimentPut():
            return b"X" + pack([event.name, event.mode, event.arms])
        case ExperimentGone():
            return b"Y" + pack([event.name])
        case ModelGone():
            return b"D" + pack([event.model])
        case UserGone():
            return b"U" + pack([event.model], np.array(event.positions, "<i8").tobytes())
        case Erased():
            return BLANK
        case ModelMade():
            arrays = {n: v for n, v in event.state.items() if isinstance(v, np.ndarray)}
            plain = {n: v for n, v in event.state.items() if n not in arrays}
            about: dict[str, Any] = {"model": event.model, "policy": event.policy}
            about |= {"params": event.params, "state": plain}
            if event.start:
                about["start"], more = model_file.split_state(event.start, "start/")
                arrays |= more
            return bounded(f"model {event.model!r}", b"M", *snapshots.write(about, arrays))


def bounded(what: str, *parts: bytes | memoryview) -> bytes:
    """Return the bytes of an event; raise if they are too many for one."""
    size = sum(map(len, parts))
    if size > LARGEST:
        raise InvalidArgument(
            f"{what} must take at most {LARGEST / 2**20:,.0f} MiB in the log, got "
            f"{size / 2**20:,.0f} MiB; fewer features or fewer users take less"
        )
    return b"".join(parts)


def read_event(payload: bytes) -> Event:
    """Return the event that :func:`write_event` wrote."""
    kind = payload[:1]
    if kind == b"F":
        code, at, number, examined, n = _ANSWER.unpack_from(payload, 1)
        place = 1 + _ANSWER.size
        clicks = struct.unpack_from(f"<{n}I", payload, place)
        decision = Decision.read(number, payload[place + 4 * n :])
        return Answered(decision, KINDS[code], (examined, clicks), at)
    if payload == BLANK:
        return Erased()
    if kind == b"M":
        about, arrays = snapshots.read(payload[1:])
        own = {n: v for n, v in arrays.items() if not n.startswith("start/")}
        first = {n.removeprefix("start/"): v for n, v in arrays.items() if n not in own}
        start = model_file.join_state(about.get("start", {}), first)
        return ModelMade(
            about["model"], about["policy"], about["params"], about["state"] | own, start
        )
    head, place = unpack(payload, 1)
    match kind:
        case b"L":
            return _earlier_answer(payload, head, place)
        case b"I":
            model, ids, k, d, *more = head
            features = matrix([payload[place:]], k, d)
            metadata = tuple(more[0]) if more else None
            return ItemsPut(model, tuple(read_names(ids)), features, metadata)
        case b"R":
            return ItemsGone(head[0], tuple(read_names(head[1])))
        case b"C":
            return CandidatesNamed(head[0], head[1], tuple(read_names(head[2])))
        case b"X":
            return ExperimentPut.read(*head)
        case b"Y":
            return ExperimentGone(head[0])
        case b"D":
            return ModelGone(head[0])
        case b"U":
            return UserGone(head[0], tuple(np.frombuffer(payload, "<i8", -1, place).tolist()))
    raise InvalidArgument(f"an event must be of a known kind, got {kind!r}")


def _earlier_answer(payload: bytes, head: list[Any], place: int) -> Answered:
    """Return an answer of format 1, which did not say how the decision was made."""
    model, what, number, user, at, (examined, clicks), ids, k, d = head
    user, *names = read_names([user, *ids])
    shown = memoryview(payload)[place : place + 8 * k * d]
    decision = Decision(make_id(number, ""), tuple(names), None, 0, model, user, at)
    decision.number, decision.features = number, shown
    return Answered(decision, what, (examined, tuple(clicks)), at)


def matrix(shown: Iterable[bytes | memoryview], rows: int, columns: int) -> Floats:
    """Return features as an array that can be written: the kernels are compiled for such ones."""
    return np.frombuffer(bytearray().join(shown), np.float64).reshape(rows, columns)


def of_user(payload: bytes, models: Container[str], user: Hashable) -> bool:
    """Tell whether an event is the answer of a user of one of these models."""
    if payload[:1] not in (b"F", b"L"):
        return False
    event = read_event(payload)
    return isinstance(event, Answered) and event.model in models and event.decision.user == user
