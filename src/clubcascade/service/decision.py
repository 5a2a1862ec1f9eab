"""Decisions: one form from the answer over HTTP through memory to the disk, and back."""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from clubcascade import model_file
from clubcascade.storage import Row, checksum

try:
    from msgspec.json import decode as _loads
    from msgspec.json import encode as _quickly
except ImportError:  # pragma: no cover - the quick way comes with the service's extra
    _loads, _quickly = json.loads, None  # type: ignore[assignment]

_ID = re.compile(r"([0-9a-f]{1,15})-([0-9a-f]{16})")
_LENGTH = struct.Struct("<I")
_FLOATS = [struct.Struct(f"={n}d") for n in range(33)]
_json = json.JSONEncoder(separators=(",", ":")).encode
_PLAIN = {str, int}
"""Types of ids that are JSON as they are."""

_EARLIER = (None, False, None, None, None, None)
"""What decisions of formats 1 and 2 do not say."""

Given = tuple[int, tuple[int, ...]]
"""Feedback as it is compared: how many were examined, and the clicks."""


class Outcome(StrEnum):
    """What became of a piece of feedback. Only ``applied`` taught anything."""

    APPLIED = "applied"
    """Learned now: the first answer to its decision, in time."""
    DUPLICATE = "duplicate"
    """The same answer was taken before; it counts once."""
    CONFLICT = "conflict"
    """Another answer was taken before; that one stays."""
    LATE = "late"
    """It came after the wait: logged, not learned."""
    UNKNOWN = "unknown"
    """No decision of that id is known: never made, lost in a crash, or long forgotten."""


@dataclass(slots=True)
class Decision:
    """A list to show, and the id by which its feedback is known.

    Parameters
    ----------
    id
        Send it back with the click.
    items
        Ids of the items to show, best first; row numbers if the items had no ids.
    scores
        The scores of these items, None for a policy that has none.
    model_version
        Position in the log of the last event that the model had learned: the model that made
        this decision is the log up to there.
    model, user, at, request
        Whose list it is, when it was made (milliseconds since 1970), and the client's id of it.
        A service does not tell these.
    draw
        Number of the draw that the list was made with, by which it can be drawn again; None for a
        list that needs none, and for decisions of earlier versions.
    greedy
        Whether the list was made without exploration.
    candidates
        What could have been shown: ``"catalogue"``, all items that were registered at
        ``model_version``; ``"items"``, those that came with the request, which are not kept;
        ``"narrowed"``, those that a filter or ``exclude_seen`` left; else the hash of the
        registered items that the request named. None: an earlier version.
    experiment, arm, teams
        The experiment that the list is of, and whose it is: the arm, or, in an interleaved list,
        which items only the first (1) or the second arm (2) has, 0 for both.
    """

    id: str
    items: tuple[Hashable, ...]
    scores: tuple[float, ...] | None
    model_version: int
    model: str = field(default="", compare=False, repr=False)
    user: Hashable = field(default=None, compare=False, repr=False)
    at: int = field(default=0, compare=False, repr=False)
    request: str | None = field(default=None, compare=False, repr=False)
    number: int = field(default=0, compare=False, repr=False)
    draw: int | None = field(default=None, compare=False, repr=False)
    greedy: bool = field(default=False, compare=False, repr=False)
    candidates: str | None = field(default=None, compare=False, repr=False)
    experiment: str | None = field(default=None, compare=False, repr=False)
    arm: str | None = field(default=None, compare=False, repr=False)
    teams: tuple[int, ...] | None = field(default=None, compare=False, repr=False)
    candidate_ids: tuple[Hashable, ...] | None = field(default=None, compare=False, repr=False)
    """The items behind ``candidates``, until the log has them."""
    features: bytes | memoryview = field(default=b"", compare=False, repr=False)
    """The features of the items, row by row, as they lie in memory."""
    payload: bytes = field(default=b"", compare=False, repr=False)
    """The decision as bytes, once it was written or read."""
    base: int = field(default=0, compare=False, repr=False)
    """The checksum of the decision in a store, without an answer."""
    kind: str | None = field(default=None, compare=False, repr=False)
    given: Given | None = field(default=None, compare=False, repr=False)

    def __hash__(self) -> int:
        return hash(self.id)

    @property
    def shape(self) -> tuple[int, int]:
        """How many items were shown, and the number of their features."""
        k = len(self.items)
        return k, len(self.features) // (8 * k)

    @property
    def size(self) -> int:
        """About how many bytes of memory the decision takes."""
        names = len(self.items) + len(self.candidate_ids or ())
        return 1_000 + 2 * len(self.features) + 60 * names

    def row(self) -> Row:
        """Return the decision as a store keeps it."""
        if not self.payload:
            user, *ids = write_names((self.user, *self.items))
            scores = b"" if self.scores is None else _floats(self.scores)
            tag = self.id.rpartition("-")[2]
            head = [self.model, user, tag, self.at, ids, *self.shape]
            head += [None if self.scores is None else len(self.scores)]
            head += [self.model_version, self.request, self.draw, self.greedy, self.candidates]
            head += [self.experiment, self.arm, self.teams]
            self.payload = pack(head, self.features, scores)
            end = len(self.payload) - len(scores)
            self.features = memoryview(self.payload)[end - len(self.features) : end]
            self.base = checksum(self.number, self.payload)
        return Row(self.number, self.at, self.request, self.payload)

    @classmethod
    def read(cls, number: int, payload: bytes) -> Decision:
        """Return the decision that was written so."""
        head, place = unpack(payload)
        model, user, tag, at, ids, k, d, n_scores, version, request, *more = head
        draw, greedy, candidates, experiment, arm, teams = more or _EARLIER
        end = place + 8 * k * d
        scores = None if n_scores is None else struct.unpack_from(f"={n_scores}d", payload, end)
        user, *names = read_names([user, *ids])
        features = memoryview(payload)[place:end]
        return cls(
            make_id(number, tag),
            tuple(names),
            scores,
            version,
            model,
            user,
            at,
            request,
            number,
            draw,
            greedy,
            candidates,
            experiment,
            arm,
            None if teams is None else tuple(teams),
            features=features,
            payload=payload,
        )

    @classmethod
    def of(cls, row: Row) -> Decision:
        """Return the decision of a store's row, with its answer."""
        found = cls.read(row.number, row.payload)
        found.base = checksum(row.number, row.payload)
        if row.outcome is not None:
            found.kind, found.given = read_outcome(row.outcome)
        return found


# -- ids -----------------------------------------------------------------------------------------


def tags() -> Iterator[str]:
    """Yield secrets of 64 bits, by which an id cannot be guessed; fetched a few hundred at a time.

    >>> len({tag for tag, _ in zip(tags(), range(1000))})
    1000
    """
    while True:
        text = os.urandom(8 * 256).hex()
        for start in range(0, len(text), 16):
            yield text[start : start + 16]


def make_id(number: int, tag: str) -> str:
    """Return the id of a decision.

    >>> make_id(255, "00112233445566aa")
    'ff-00112233445566aa'
    """
    return f"{number:x}-{tag}"


def parse_id(text: object) -> int | None:
    """Return the number in an id, None if it cannot be one.

    >>> parse_id("ff-00112233445566aa"), parse_id("ff"), parse_id(3)
    (255, None, None)
    """
    found = _ID.fullmatch(text) if isinstance(text, str) else None
    return int(found[1], 16) if found else None


# -- bytes ---------------------------------------------------------------------------------------


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


def write_names(values: Sequence[Hashable]) -> Sequence[Any]:
    """Return ids as JSON has them."""
    return values if _PLAIN.issuperset(map(type, values)) else [*map(model_file.encode, values)]


def read_names(values: list[Any]) -> list[Hashable]:
    """Return the ids that :func:`write_names` was given."""
    return values if _PLAIN.issuperset(map(type, values)) else [*map(model_file.decode, values)]


def hash_of(names: Sequence[Hashable]) -> str:
    """Return the hash of a list of ids.

    >>> hash_of(["tea", 7])
    'ef1ef099f14af3662b006573'
    """
    return hashlib.blake2b(_text([write_names(names)]), digest_size=12).hexdigest()


def pack(head: list[Any], *parts: bytes | memoryview) -> bytes:
    """Return a short JSON head, and raw parts behind it."""
    text = _text(head)
    return b"".join((_LENGTH.pack(len(text)), text, *parts))


def unpack(payload: bytes, start: int = 0) -> tuple[list[Any], int]:
    """Return the head, and where the parts begin."""
    (length,) = _LENGTH.unpack_from(payload, start)
    place = start + _LENGTH.size
    text = payload[place : place + length]
    try:
        return _loads(text), place + length
    except ValueError:  # lone surrogates and huge numbers are JSON of the other kind
        return json.loads(text.decode("utf-8", "surrogatepass")), place + length


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
