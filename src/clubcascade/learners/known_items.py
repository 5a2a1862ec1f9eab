"""Items of catalogues that are known by their ids, without features."""

from abc import abstractmethod
from collections.abc import Hashable
from typing import Literal
from weakref import WeakKeyDictionary

import numpy as np

from clubcascade.core import Catalog, Floats, Ints
from clubcascade.kernels import entry_points
from clubcascade.learners.base import Learner


class KnownItems(Learner):
    """Every item has a number, in the order in which they were shown first."""

    fresh_items = False
    weighting: Literal["scaled", "whole", "none"] = "whole"

    def __init__(self) -> None:
        self._slots: dict[Hashable, int] = {}
        self._slots_of: WeakKeyDictionary[Catalog, tuple[int, Ints]] = WeakKeyDictionary()

    @abstractmethod
    def _make_room(self, n_items: int) -> None:
        """Make room for so many items, if there is none."""

    def known_slots(self, catalog: Catalog) -> Ints:
        """Return the number of each item of a catalogue, -1 for one that was never shown."""
        known, slots = self._slots_of.get(catalog, (-1, None))
        if slots is None or (known < len(self._slots) and slots.min() < 0):
            slots = np.array([self._slots.get(name, -1) for name in catalog.ids], np.int64)
            self._slots_of[catalog] = (len(self._slots), slots)
        return slots

    def all_slots(self, catalog: Catalog) -> Ints:
        """Return the number of each item of a catalogue; new items get one."""
        if self.known_slots(catalog).min() < 0:
            for name in catalog.ids:
                self._slots.setdefault(name, len(self._slots))
            self._make_room(len(self._slots))
        return self.known_slots(catalog)

    def rank_new_user(
        self, user: Hashable, number: int, items: Floats | Catalog, rows: Ints, scores: Floats
    ) -> None:
        assert isinstance(items, Catalog)
        view = self.ranking_view(items, len(rows))
        entry_points.rank_catalog(self.compiled, 0, view, rows, scores)
