"""What a recommender gives and takes: decisions and the outcomes of feedback."""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from enum import StrEnum

_ID = re.compile(r"([0-9a-f]{1,15})-([0-9a-f]{16})")


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


@dataclass(frozen=True, slots=True)
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
        Number of the last event that the model had learned.
    """

    id: str
    items: tuple[Hashable, ...]
    scores: tuple[float, ...] | None
    model_version: int


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


def parse_id(text: object) -> tuple[int, str] | None:
    """Return number and tag of an id, None if it cannot be one.

    >>> parse_id("ff-00112233445566aa"), parse_id("ff"), parse_id(3)
    ((255, '00112233445566aa'), None, None)
    """
    found = _ID.fullmatch(text) if isinstance(text, str) else None
    return (int(found[1], 16), found[2]) if found else None
