"""How often a store was opened: each opening draws random numbers that no other one draws."""

from __future__ import annotations

import secrets

from clubcascade.errors import StoreDamaged
from clubcascade.storage.base import checksum

MOST = 2**22
"""Openings that are told apart: one a minute for eight years."""


def write(number: int) -> str:
    """Return the count as the store keeps it."""
    return f"{number} {checksum(number, b'starts')}"


def read(text: str) -> int:
    """Return the count that :func:`write` wrote; raise if it is damaged.

    >>> read(write(12))
    12
    """
    number, _, _ = text.partition(" ")
    if not (number.isascii() and number.isdecimal() and len(number) < 10):
        raise StoreDamaged(f"the count of the store's openings is damaged: {text[:40]!r}")
    if write(int(number)) != text:
        raise StoreDamaged(f"the checksum of the store's openings does not fit: {text[:40]!r}")
    return int(number)


def following(text: str | None, *, used: bool) -> int:
    """Return the count of the next opening.

    A store without a count is new, or (``used``) of a version that did not count.

    >>> following(None, used=False), following(None, used=True), following(write(2), used=True)
    (1, 2, 3)
    """
    if text is None:
        return 2 if used else 1
    return read(text) % (MOST - 1) + 1


def unknown() -> int:
    """Return a count where the true one is lost, one that was hardly used before."""
    return MOST // 2 + secrets.randbelow(MOST // 4)
