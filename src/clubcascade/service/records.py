"""Decisions and events as bytes: a short JSON head and the raw features behind it."""

from __future__ import annotations

import json
import struct
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clubcascade import model_file
from clubcascade.core import Feedback, Floats, Policy
from clubcascade.errors import InvalidArgument
from clubcascade.service.decision import Decision, make_id
from clubcascade.storage import DecisionRow, checksum
from clubcascade.storage import snapshot_codec as snapshots

try:
    from msgspec.json import decode as _loads
    from msgspec.json import encode as _quickly
except ImportError:  # pragma: no cover - the quick way comes with the service's extra
    _loads, _quickly = json.loads, None  # type: ignore[assignment]

_LENGTH = struct.Struct("<I")
_FLOATS = [struct.Struct(f"={n}d") for n in range(33)]
_json = json.JSONEncoder(separators=(",", ":")).encode

Given = tuple[int, tuple[int, ...]]
"""Feedback as it is compared: how many were looked at, and the clicks."""


_PLAIN = {str, int}
"""Types of ids that are JSON as they are."""


def _names(values: Sequence[Hashable]) -> Sequence[Any]:
    """Return ids as JSON has them."""
    return values if _PLAIN.issuperset(map(type, values)) else [*map(model_file.encode, values)]


def _read_names(values: list[Any]) -> tuple[Hashable, ...]:
    """Return the ids that :func:`_names` was given."""
    return tuple(values if _PLAIN.issuperset(map(type, values)) else map(model_file.decode, values))


def _text(head: list[Any]) -> bytes:
    if _quickly is not None:
        try:
            return _quickly(head)
        except (UnicodeEncodeError, OverflowError):
            pass  # lone surrogates and huge numbers are JSON of the other kind
    return _json(head).encode("utf-8", "surrogatepass")


def _floats(values: Sequence[float]) -> bytes:
    if len(values) < len(_FLOATS):
        return _FLOATS[len(values)].pack(*values)
    return np.array(values, np.float64).tobytes()


def _pack(head: list[Any], *parts: bytes) -> bytes:
    text = _text(head)
    return b"".join((_LENGTH.pack(len(text)), text, *parts))


def _unpack(payload: bytes, start: int = 0) -> tuple[list[Any], int]:
    (length,) = _LENGTH.unpack_from(payload, start)
    place = start + _LENGTH.size
    text = payload[place : place + length]
    try:
        return _loads(text), place + length
    except ValueError:  # lone surrogates and huge numbers are JSON of the other kind
        return json.loads(text.decode("utf-8", "surrogatepass")), place + length


def matrix(shown: Iterable[bytes], rows: int, columns: int) -> Floats:
    """Return features as an array that can be written: the kernels are compiled for such ones."""
    return np.frombuffer(bytearray().join(shown), np.float64).reshape(rows, columns)


def _shape(ids: Sequence[Hashable], shown: bytes) -> tuple[int, int]:
    """Return how many items were shown, and the number of their features."""
    return len(ids), len(shown) // (8 * len(ids))


@dataclass(slots=True)
class Record:
    """A decision with all that learning from its answer needs.

    ``shown`` has the features of the items, row by row, as they lie in memory.
    """

    number: int
    tag: str
    model: str
    user: Hashable
    at: int
    ids: tuple[Hashable, ...]
    shown: bytes
    scores: tuple[float, ...] | None
    version: int
    request: str | None
    kind: str | None = None
    given: Given | None = None
    base: int = 0

    def row(self) -> DecisionRow:
        """Return the decision as the store keeps it."""
        user, *ids = _names((self.user, *self.ids))
        scores = b"" if self.scores is None else _floats(self.scores)
        head = [self.model, user, self.tag, self.at, ids, *_shape(self.ids, self.shown)]
        head += [None if self.scores is None else len(self.scores), self.version, self.request]
        payload = _pack(head, self.shown, scores)
        self.base = checksum(self.number, payload)
        return DecisionRow(self.number, self.at, self.request, payload)

    @classmethod
    def read(cls, row: DecisionRow) -> Record:
        """Return the decision that the store kept."""
        payload = row.payload
        head, place = _unpack(payload)
        model, user, tag, at, ids, k, d, n_scores, version, request = head
        end = place + 8 * k * d
        scores = None if n_scores is None else struct.unpack_from(f"={n_scores}d", payload, end)
        user, *ids = _read_names([user, *ids])
        record = cls(
            row.number,
            tag,
            model,
            user,
            at,
            tuple(ids),
            payload[place:end],
            scores,
            version,
            request,
            base=checksum(row.number, payload),
        )
        if row.outcome is not None:
            record.kind, record.given = read_outcome(row.outcome)
        return record

    def decision(self) -> Decision:
        """Return what the caller was given."""
        return Decision(make_id(self.number, self.tag), self.ids, self.scores, self.version)


def write_outcome(kind: str, given: Given) -> str:
    """Return an answer as the store keeps it.

    >>> read_outcome(write_outcome("applied", (3, (2,))))
    ('applied', (3, (2,)))
    """
    clicks = ",".join(map(str, given[1]))
    return f'["{kind}",{given[0]},[{clicks}]]'


def read_outcome(text: str) -> tuple[str, Given]:
    """Return kind and feedback of an answer."""
    kind, examined, clicks = json.loads(text)
    return kind, (examined, tuple(clicks))


# -- events --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ModelMade:
    """A model was made, from a policy that may have learned before."""

    model: str
    policy: str
    params: dict[str, Any]
    state: dict[str, Any]

    @classmethod
    def of(cls, model: str, policy: Policy) -> ModelMade:
        """Make the event for a policy."""
        return cls(model, policy.registry_name(), policy.params, policy.state())


@dataclass(frozen=True, slots=True)
class ItemsPut:
    """Items were registered, or got other features."""

    model: str
    ids: tuple[Hashable, ...]
    features: Floats


@dataclass(frozen=True, slots=True)
class ItemsGone:
    """Items were removed."""

    model: str
    ids: tuple[Hashable, ...]


@dataclass(slots=True)
class Learned:
    """The answer to a decision, or its absence (``kind`` "absent"), with what was shown.

    A late one (``kind`` "late") is in the log and taught nothing.
    """

    model: str
    kind: str
    decision: int
    user: Hashable
    at: int
    given: Given
    ids: tuple[Hashable, ...]
    shown: bytes

    @property
    def shape(self) -> tuple[int, int]:
        """How many items were shown, and the number of their features."""
        return _shape(self.ids, self.shown)

    @property
    def features(self) -> Floats:
        """What was shown, one row of features per item."""
        return matrix([self.shown], *self.shape)

    @property
    def feedback(self) -> Feedback:
        """The answer, as a policy takes it."""
        return Feedback(*self.given)


Event = ModelMade | ItemsPut | ItemsGone | Learned


def write_event(event: Event) -> bytes:
    """Return an event as the log keeps it."""
    match event:
        case Learned():
            user, *ids = _names((event.user, *event.ids))
            head = [event.model, event.kind, event.decision, user, event.at]
            head += [event.given, ids, *event.shape]
            return b"L" + _pack(head, event.shown)
        case ItemsPut():
            head = [event.model, _names(event.ids), *event.features.shape]
            return b"I" + _pack(head, event.features.tobytes())
        case ItemsGone():
            return b"R" + _pack([event.model, _names(event.ids)])
        case ModelMade():
            arrays = {n: v for n, v in event.state.items() if isinstance(v, np.ndarray)}
            plain = {n: v for n, v in event.state.items() if n not in arrays}
            about = {"model": event.model, "policy": event.policy, "params": event.params}
            return b"M" + b"".join(snapshots.write(about | {"state": plain}, arrays))


def read_event(payload: bytes) -> Event:
    """Return the event that :func:`write_event` wrote."""
    kind = payload[:1]
    if kind == b"M":
        about, arrays = snapshots.read(payload[1:])
        state = about["state"] | arrays
        return ModelMade(about["model"], about["policy"], about["params"], state)
    head, place = _unpack(payload, 1)
    if kind == b"L":
        model, what, number, user, at, (examined, clicks), ids, k, d = head
        user, *names = _read_names([user, *ids])
        given, shown = (examined, tuple(clicks)), payload[place : place + 8 * k * d]
        return Learned(model, what, number, user, at, given, tuple(names), shown)
    if kind == b"I":
        model, ids, k, d = head
        return ItemsPut(model, _read_names(ids), matrix([payload[place:]], k, d))
    if kind == b"R":
        return ItemsGone(head[0], _read_names(head[1]))
    raise InvalidArgument(f"an event must be of kind M, L, I or R, got {kind!r}")
