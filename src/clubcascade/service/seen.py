"""What users clicked: before the model was made, and since; bounded for every user."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from clubcascade.service.decision import Decision, read_names, write_names

NOTHING = np.zeros(0, np.int64)


def other_spelling(name: Hashable) -> Hashable:
    """Return "7" for 7 and 7 for "7"; None for what has one spelling.

    >>> other_spelling("7"), other_spelling(7), other_spelling("07"), other_spelling("tea")
    (7, '7', None, None)
    """
    if type(name) is int:
        return str(name)
    if isinstance(name, str) and name.isascii() and name.isdecimal() and len(name) < 19:
        return int(name) if str(int(name)) == name else None
    return None


class Seen:
    """The clicked items of users.

    Parameters
    ----------
    start
        What the model was made with: ``seen``, how many items are kept of a user, the last ones;
        of a trained model ``users``, ``ids``, ``starts`` and ``clicked``, its clicks by user.
    """

    def __init__(self, start: Mapping[str, Any]) -> None:
        self.most: int = start.get("seen", 0)
        self._ids: Sequence[Hashable] = start.get("ids", ())
        self._users = {user: number for number, user in enumerate(start.get("users", ()))}
        self._starts, self._clicked = start.get("starts", NOTHING), start.get("clicked", NOTHING)
        often = np.bincount(self._clicked, minlength=len(self._ids)).tolist()
        self.counts = dict(zip(self._ids, often, strict=True))
        """How many users had clicked an item when the model was made."""
        self._later: dict[Hashable, tuple[Hashable, ...]] = {}

    def known_as(self, user: Hashable) -> Hashable:
        """Return a user's id as the training table had it: ``"7"`` for 7, or the other way round.

        >>> Seen({"users": [7], "starts": [0, 0]}).known_as("7")
        7
        """
        if not self._users or user in self._users:
            return user
        other = other_spelling(user)
        return other if other in self._users else user

    def add(self, decision: Decision, clicks: Sequence[int]) -> None:
        """Note the clicks on a list."""
        if not self.most:
            return
        known = self._later.get(decision.user, ())
        new = [decision.items[place] for place in clicks if decision.items[place] not in known]
        if new:
            self._later[decision.user] = (*known, *new)[-self.most :]

    def of(self, user: Hashable) -> set[Hashable]:
        """Return the items that a user clicked."""
        found = set(self._later.get(user, ()))
        if user in self._users:
            number = self._users[user]
            rows = self._clicked[self._starts[number] : self._starts[number + 1]]
            found.update(self._ids[row] for row in rows.tolist())
        return found

    def copy(self) -> Seen:
        """Return what is known now; the rest is shared."""
        other = Seen.__new__(Seen)
        other.__dict__.update(self.__dict__, _later=self._later.copy())
        return other

    def pack(self) -> npt.NDArray[np.uint8]:
        """Return what was clicked since the model was made, as bytes."""
        pairs = [[write_names([user, *ids])] for user, ids in self._later.items()]
        return np.frombuffer(json.dumps(pairs, separators=(",", ":")).encode(), np.uint8)

    def unpack(self, data: npt.NDArray[np.uint8]) -> None:
        """Take in what :meth:`pack` returned."""
        for (names,) in json.loads(data.tobytes()):
            user, *ids = read_names(names)
            self._later[user] = tuple(ids)
