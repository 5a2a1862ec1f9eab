"""Policies that count looks and clicks per item of a catalogue, without features."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from clubcascade.core import Catalog, Floats, Ints, Items, Shown, Slate, array_of, fill
from clubcascade.errors import InvalidItems
from clubcascade.kernels import counting as kernels
from clubcascade.kernels import entry_points
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.policies._users import numbered


class CountingPolicy(CompiledPolicy):
    """Items are known by their ids in the catalogue, so a changed catalogue keeps its counts."""

    kind: ClassVar[int]

    def __init__(self) -> None:
        super().__init__()
        self.n_features = None
        self._slots: dict[Hashable, int] = {}
        self._slots_of: WeakKeyDictionary[Catalog, tuple[int, Ints]] = WeakKeyDictionary()
        self._seen: Ints = np.zeros(0, np.int64)
        self._clicked: Ints = np.zeros(0, np.int64)
        self._reserve(8, rounds=0)

    def _reserve(self, capacity: int, rounds: int) -> None:
        seen, clicked = np.zeros(capacity, np.int64), np.zeros(capacity, np.int64)
        n = len(self._seen)
        seen[:n], clicked[:n] = self._seen, self._clicked
        self._seen, self._clicked = seen, clicked
        self.compiled = kernels.Counting.make(
            seen=seen, clicked=clicked, rounds=rounds, index_kind=self.kind
        )

    @property
    def plays_fresh(self) -> bool:
        """Say no: fresh items have no ids."""
        return False

    def training_view(self, catalog: Catalog) -> Any:
        """Return the number of each item of the catalogue in the counts; new items get one."""
        slots = self.ranking_view(catalog, 1)
        if slots.min() < 0:
            for name in catalog.ids:
                self._slots.setdefault(name, len(self._slots))
            if len(self._slots) > len(self._seen):
                self._reserve(2 * len(self._slots), self.compiled.rounds)
            slots = self.ranking_view(catalog, 1)
        return slots

    def ranking_view(self, catalog: Catalog, k: int) -> Any:
        """Return the number of each item in the counts, -1 for one that was never shown."""
        known, slots = self._slots_of.get(catalog, (-1, None))
        if slots is None or (known < len(self._slots) and slots.min() < 0):
            slots = np.array([self._slots.get(name, -1) for name in catalog.ids], np.int64)
            self._slots_of[catalog] = (len(self._slots), slots)
        return slots

    def scores(self, user: Hashable, items: Items) -> Floats:
        """Return the upper confidence bound of every item, capped at 1."""
        self.number(user)
        catalog = self._read_items(items)
        with self._lock:
            slots = self.ranking_view(catalog, 1)
            bounds = np.array([kernels.index(self.compiled, slot) for slot in slots])
        capped: Floats = np.minimum(bounds, 1.0)
        return capped

    def _read_items(self, items: Items) -> Catalog:
        if not isinstance(items, Catalog):
            raise InvalidItems(
                f"items must be a clubcascade.Catalog for {type(self).__name__}, which knows "
                f"items by their ids and not by features, got {type(items).__name__}"
            )
        return items

    def _check_shown(self, shown: Shown) -> None:
        if not isinstance(shown, Slate):
            raise InvalidItems(
                f"shown must be catalog[ranking] for {type(self).__name__}, which knows items by "
                f"their ids and not by features, got {type(shown).__name__}"
            )
        super()._check_shown(shown)

    def _join(self, user: Hashable) -> int:
        self._numbers[user] = len(self._numbers)
        return self._numbers[user]

    def _rank_new_user(
        self, user: Hashable, items: Floats | Catalog, rows: Ints, scores: Floats
    ) -> None:
        assert isinstance(items, Catalog)
        catalog = self.ranking_view(items, len(rows))
        entry_points.rank_catalog(self.compiled, 0, catalog, rows, scores)

    def state(self) -> dict[str, Any]:
        """Return all that was learned: arrays (copies) and plain values."""
        with self._lock:
            n = len(self._slots)
            return {
                "users": list(self._numbers),
                "items": list(self._slots),
                "seen": self._seen[:n].copy(),
                "clicked": self._clicked[:n].copy(),
                "tally": np.array([self.compiled.rounds, self.kind]),
            }

    def _take(self, state: dict[str, Any]) -> None:
        n = len(state["items"])
        counts = array_of(state, "tally", (2,), np.int64)
        self._reserve(n + 8, rounds=int(counts[0]))
        fill(self._seen[:n], state, "seen")
        fill(self._clicked[:n], state, "clicked")
        if counts[1] != self.kind:
            raise ValueError(f"tally must end with {self.kind}, got {counts[1]}")
        if (self._clicked > self._seen).any():
            raise ValueError("clicked must be at most seen")
        self._slots = numbered(state["items"])
        self._numbers = numbered(state["users"])
