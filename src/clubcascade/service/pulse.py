"""The last quarter of an hour of a model, second by second, for the page; in memory only."""

from __future__ import annotations

import time
from collections import deque
from typing import Any

from clubcascade.service.model import Model

SECONDS = 900
EVERY = 2.0
"""Seconds between two looks at the clusters."""
MOST_USERS = 20_000
"""Users beyond which the clusters are not compared."""


class Pulse:
    """What one model did lately."""

    def __init__(self) -> None:
        self._beats: deque[list[float]] = deque(maxlen=SECONDS)
        self._sizes: deque[tuple[int, list[int]]] = deque(maxlen=int(SECONDS / EVERY))
        self._moves: deque[dict[str, Any]] = deque(maxlen=20)
        self._groups: list[set[Any]] = []
        self._looked = 0.0
        self._version = -1
        self.lists = 0

    def _beat(self) -> list[float]:
        now = int(time.time())
        if not self._beats or self._beats[-1][0] != now:
            self._beats.append([now, 0, 0, 0, 0, 0])
        return self._beats[-1]

    def listed(self, explored: float | None) -> None:
        """Count a list; ``explored`` is the share of it that was shown to learn, if known."""
        self.lists += 1
        beat = self._beat()
        beat[1] += 1
        if explored is not None:
            beat[4] += explored
            beat[5] += 1

    def answered(self, clicked: bool) -> None:
        """Count an answer that was learned."""
        beat = self._beat()
        beat[2] += 1
        beat[3] += clicked

    def look(self, model: Model) -> None:
        """Note the clusters and who moved, now and then."""
        now = time.monotonic()
        if now - self._looked < EVERY or model.version == self._version:
            return
        self._looked, self._version = now, model.version
        policy: Any = model.policy
        if not hasattr(policy, "clusters") or len(policy.users) > MOST_USERS:
            return
        with model.lock:
            groups = policy.clusters()
        self._sizes.append((int(time.time()), sorted(map(len, groups), reverse=True)[:50]))
        self._note_moves(groups, {user: number for number, user in enumerate(policy.users)})

    def _note_moves(self, groups: list[set[Any]], order: dict[Any, int]) -> None:
        """Note who is no longer with most of its cluster; clusters are named by their oldest."""
        kept = same_groups(self._groups, groups)
        oldest = [min(group, key=order.__getitem__) for group in groups]
        before = {user: place for place, group in enumerate(self._groups) for user in group}
        names = dict(zip(kept, oldest, strict=True))  # old clusters by those that they became
        for place, group in enumerate(groups):
            for user in group:
                old = before.get(user, kept[place])
                if old != kept[place]:
                    left = names.get(old, min(self._groups[old], key=order.__getitem__))
                    told = {"user": str(user), "from": str(left), "to": str(oldest[place])}
                    self._moves.append({"at": int(time.time()), **told})
        self._groups = [set(group) for group in groups]

    def tell(self) -> dict[str, Any]:
        """Return everything, as the page takes it."""
        return {
            "columns": ["at", "lists", "answers", "clicks", "explored", "looked"],
            "beats": list(self._beats),
            "clusters": [[at, sizes] for at, sizes in self._sizes],
            "moves": list(self._moves),
        }


def same_groups(old: list[set[Any]], new: list[set[Any]]) -> list[int]:
    """Return for each new group the old one that it continues, below 0 if it is another.

    >>> same_groups([{1, 2, 3}, {4, 5}], [{4, 5, 1}, {2, 3}, {6}])
    [1, 0, -3]
    """
    before = {user: place for place, group in enumerate(old) for user in group}
    shared: dict[tuple[int, int], int] = {}
    for place, group in enumerate(new):
        for user in group:
            if user in before:
                pair = (place, before[user])
                shared[pair] = shared.get(pair, 0) + 1
    found = [-1 - place for place in range(len(new))]
    taken: set[int] = set()
    for place, was in sorted(shared, key=lambda pair: -shared[pair]):
        if found[place] < 0 and was not in taken:
            found[place] = was
            taken.add(was)
    return found
