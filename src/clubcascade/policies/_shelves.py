"""What a policy remembers of each catalogue that it has ranked: features and lazy scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from clubcascade.core import Catalog, Floats, Ints
from clubcascade.kernels import shelf as kernels
from clubcascade.kernels.ranking import BLOCK
from clubcascade.policies._arrays import aligned_zeros

BUDGET = 64 * 2**20
"""Bytes that the lazy scores of one catalogue may take."""


@dataclass
class Memory:
    """The lazy scores of one catalogue for a number of models, and the structure around them."""

    features: Floats
    owner: Ints
    version: Ints
    base: Floats
    width: Floats
    last: Ints
    longest: int
    n_models: int

    @classmethod
    def new(cls, features: Floats, longest: int, n_models: int) -> Memory:
        """Remember nothing yet."""
        n = len(features)
        slots = max(1, min(n_models, BUDGET // (16 * n)))
        owner, version = np.full(slots, -1, np.int64), np.zeros(slots, np.int64)
        base, width = aligned_zeros(slots, n), aligned_zeros(slots, n)
        last = np.zeros((slots, longest + kernels.RUNNERS_UP + 1), np.int64)
        return cls(features, owner, version, base, width, last, longest, n_models)

    def derive(self, features: Floats, origin: Ints) -> Memory:
        """Remember the same of items that were here before (``origin``), nothing of new ones."""
        base, width = self.base[:, origin], self.width[:, origin]
        base[:, origin < 0], width[:, origin < 0] = np.inf, 0.0
        owner, version = self.owner.copy(), self.version.copy()
        last = np.zeros_like(self.last)
        return Memory(features, owner, version, base, width, last, self.longest, self.n_models)

    def shelf(self) -> Any:
        """Return a structure for the kernels, with scratch of its own."""
        room, d = self.longest + kernels.RUNNERS_UP, self.features.shape[1]
        lanes = 2 * BLOCK + 8  # rows that do not share cache sets
        return kernels.Shelf.make(
            features=self.features,
            owner=self.owner,
            version=self.version,
            base=self.base,
            width=self.width,
            last=self.last,
            best=np.zeros(room, np.int64),
            best_scores=np.zeros(room),
            saved=np.zeros(room),
            queue=np.zeros(2 * BLOCK + 1, np.int64),
            block=aligned_zeros(d, lanes),
            mean_work=aligned_zeros(lanes),
            width_work=aligned_zeros(lanes),
            product_work=aligned_zeros(lanes),
        )


class Shelves:
    """One memory per catalogue; it goes when the catalogue goes."""

    def __init__(self) -> None:
        self._memories: WeakKeyDictionary[Catalog, tuple[Memory, Any]] = WeakKeyDictionary()
        self._last: tuple[Catalog | None, Memory | None, Any] = (None, None, None)

    def get(self, catalog: Catalog, features: Floats, k: int, n_models: int) -> Any:
        """Return the shelf of a catalogue, for lists of ``k`` and ``n_models`` models."""
        known, memory, shelf = self._last
        if known is catalog and memory and k <= memory.longest and n_models <= memory.n_models:
            return shelf
        memory, shelf = self._memories.get(catalog, (None, None))
        if memory is None and catalog.origin is not None:
            memory = self._derive(catalog, features)
            shelf = memory and memory.shelf()
        if memory is None or k > memory.longest or n_models > memory.n_models:
            longest, most = (memory.longest, memory.n_models) if memory else (8, 1)
            memory = Memory.new(features, max(k, longest), max(n_models, most))
            shelf = memory.shelf()
        self._memories[catalog] = (memory, shelf)
        self._last = (catalog, memory, shelf)
        return shelf

    def memory(self, catalog: Catalog) -> Memory:
        """Return the memory of a catalogue that has a shelf."""
        return self._memories[catalog][0]

    def _derive(self, catalog: Catalog, features: Floats) -> Memory | None:
        assert catalog.origin is not None
        parent, origin = catalog.origin
        old = parent()
        memory = None if old is None else self._memories.get(old, (None, None))[0]
        return None if memory is None else memory.derive(features, origin)
