"""The last quarter of an hour of a model, second by second, for the page; in memory only."""

from __future__ import annotations

import threading
import time
from collections import deque
from itertools import count
from typing import Any

from clubcascade.service.model import Model

SECONDS = 900
EVERY = 2.0
"""Seconds between two looks at the clusters."""
MOST_USERS = 20_000
"""Users beyond which the clusters are not compared."""
BANDS = 20
"""Clusters whose sizes are kept, the largest; the others, and users alone, count as number -1."""
REST = 60.0
"""Seconds before the number of a cluster that is gone is given to another one."""


class Activity:
    """What one model did lately."""

    def __init__(self) -> None:
        self._beats: deque[list[float]] = deque(maxlen=SECONDS)
        self._sizes: deque[tuple[int, list[tuple[int, int]]]] = deque(maxlen=int(SECONDS / EVERY))
        self._moves: deque[dict[str, Any]] = deque(maxlen=20)
        self._groups: list[set[Any]] = []
        self._numbers: list[int] = []
        self._used: dict[int, float] = {}
        self._gate = threading.Lock()
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
        numbers = self.number(groups)
        sizes = sorted(zip(map(len, groups), numbers, strict=True), reverse=True)
        shown = sorted((number, size) for size, number in sizes[:BANDS] if number >= 0)
        others = sum(map(len, groups)) - sum(size for _, size in shown)
        self._sizes.append((int(time.time()), shown + [(-1, others)] * (others > 0)))

    def number(self, groups: list[set[Any]]) -> list[int]:
        """Return a number for each cluster, kept as long as it goes on; note who moved.

        A user alone is no cluster, and has the number -1.
        """
        if sum(map(len, groups)) > MOST_USERS:
            return list(range(len(groups)))
        with self._gate:
            before = {
                user: number
                for group, number in zip(self._groups, self._numbers, strict=True)
                for user in group
            }
            kept, now = same_groups(self._groups, groups), time.monotonic()
            used = {number: at for number, at in self._used.items() if now - at < REST}
            numbers = [
                self._numbers[was] if was >= 0 and len(group) > 1 else -1
                for was, group in zip(kept, groups, strict=True)
            ]
            free = (number for number in count() if number not in used and number not in numbers)
            for place in sorted(range(len(groups)), key=lambda place: -len(groups[place])):
                if numbers[place] < 0 and len(groups[place]) > 1:
                    numbers[place] = next(free)
            self._used = used | dict.fromkeys(numbers, now)
            for group, number in zip(groups, numbers, strict=True):
                for user in group:
                    if before.get(user, number) != number:
                        told = {"user": str(user), "from": before[user], "to": number}
                        self._moves.append({"at": int(time.time()), **told})
            self._groups, self._numbers = [set(group) for group in groups], numbers
            return numbers

    def tell(self) -> dict[str, Any]:
        """Return everything, as the page takes it."""
        return {
            "columns": ["at", "lists", "answers", "clicks", "explored", "looked"],
            "beats": list(self._beats),
            "clusters": list(self._sizes),
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
    for place, was in sorted(shared, key=lambda pair: (-shared[pair], pair[1], pair[0])):
        if found[place] < 0 and was not in taken:
            found[place] = was
            taken.add(was)
    return found
