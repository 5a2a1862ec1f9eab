"""Examinations and clicks counted per item of a catalogue, without features."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from clubcascade.core import Catalog, Ints, array_of, fill
from clubcascade.kernels import counting as kernels
from clubcascade.learners.base import numbered
from clubcascade.learners.known_items import KnownItems


class ItemCounts(KnownItems):
    """Items are known by their ids in the catalogue, so a changed catalogue keeps its counts.

    ``index_kind`` is one of :mod:`clubcascade.kernels.counting`; ``prior_count`` are the
    observations that each item has beforehand, where the index is its popularity.
    """

    def __init__(self, index_kind: int, prior_count: float = 0.0) -> None:
        super().__init__()
        self.index_kind, self.prior_count = index_kind, prior_count
        self._seen: Ints = np.zeros(0, np.int64)
        self._clicked: Ints = np.zeros(0, np.int64)
        self._reserve(8, rounds=0)

    def _reserve(self, capacity: int, rounds: int) -> None:
        more = np.zeros(capacity - len(self._seen), np.int64)
        self._seen, self._clicked = np.append(self._seen, more), np.append(self._clicked, more)
        self.compiled = kernels.Counting.make(
            seen=self._seen,
            clicked=self._clicked,
            rounds=rounds,
            index_kind=self.index_kind,
            prior_count=self.prior_count,
        )

    def _make_room(self, n_items: int) -> None:
        if n_items > len(self._seen):
            self._reserve(2 * n_items, self.compiled.rounds)

    def training_view(self, catalog: Catalog) -> Any:
        """Return the number of each item of the catalogue in the counts; new items get one."""
        return self.all_slots(catalog)

    def ranking_view(self, catalog: Catalog, k: int) -> Any:
        """Return the number of each item in the counts, -1 for one that was never shown."""
        return self.known_slots(catalog)

    def state(self, n_users: int) -> dict[str, Any]:
        n = len(self._slots)
        return {
            "items": list(self._slots),
            "seen": self._seen[:n].copy(),
            "clicked": self._clicked[:n].copy(),
            "tally": np.array([self.compiled.rounds, self.index_kind]),
        }

    def load_state(self, state: dict[str, Any], users: Mapping[Hashable, int]) -> None:
        n = len(state["items"])
        rounds, kind = array_of(state, "tally", (2,), np.int64).tolist()
        self._reserve(n + 8, rounds)
        fill(self._seen[:n], state, "seen")
        fill(self._clicked[:n], state, "clicked")
        if kind != self.index_kind:
            raise ValueError(f"tally must end with {self.index_kind}, got {kind}")
        if (self._clicked > self._seen).any():
            raise ValueError("clicked must be at most seen")
        self._slots = numbered(state["items"])
