"""What a policy remembers of each catalogue that it has ranked: features and lazy scores."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from clubcascade.core import Catalog, Floats, Ints
from clubcascade.core.paged_arrays import aligned_zeros
from clubcascade.kernels import lazy_topk as kernels
from clubcascade.kernels.ranking import BLOCK

BUDGET = 256 * 2**20
"""Bytes that the lazy scores of one catalogue may take; they are taken as models are ranked."""


@dataclass
class ScoreCache:
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
    def new(cls, features: Floats, longest: int, n_models: int) -> ScoreCache:
        """Remember nothing yet."""
        n = len(features)
        most = max(1, BUDGET // (16 * n))
        slots = min(n_models, most)
        if slots == most:  # there will never be more
            n_models = sys.maxsize
        owner, version = np.full(slots, -1, np.int64), np.zeros(slots, np.int64)
        base, width = aligned_zeros(slots, n), aligned_zeros(slots, n)
        last = np.zeros((slots, longest + kernels.RUNNERS_UP + 1), np.int64)
        return cls(features, owner, version, base, width, last, longest, n_models)

    def derive(self, features: Floats, origin: Ints) -> ScoreCache:
        """Remember the same of items that were here before (``origin``), nothing of new ones."""
        used, new = np.flatnonzero(self.owner >= 0), origin < 0
        base, width = (aligned_zeros(len(self.owner), len(origin)) for _ in range(2))
        for old, kept, unknown in (self.base, base, np.inf), (self.width, width, 0.0):
            for slot in used.tolist():
                kept[slot] = np.where(new, unknown, old[slot, origin])
        owner, version = self.owner.copy(), self.version.copy()
        last = np.zeros_like(self.last)
        return ScoreCache(features, owner, version, base, width, last, self.longest, self.n_models)

    def index(self) -> Any:
        """Return a structure for the kernels, with scratch of its own."""
        room, d = self.longest + kernels.RUNNERS_UP, self.features.shape[1]
        lanes = 2 * BLOCK + 8  # rows that do not share cache sets
        return kernels.LazyIndex.make(
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


class LazyIndexes:
    """One cache per catalogue; it goes when the catalogue goes."""

    def __init__(self) -> None:
        self._caches: WeakKeyDictionary[Catalog, tuple[ScoreCache, Any]] = WeakKeyDictionary()
        self._last: tuple[Catalog | None, ScoreCache | None, Any] = (None, None, None)

    def get(self, catalog: Catalog, features: Floats, k: int, n_models: int) -> Any:
        """Return the index of a catalogue, for lists of ``k`` and ``n_models`` models."""
        known, cache, index = self._last
        if known is catalog and cache and k <= cache.longest and n_models <= cache.n_models:
            return index
        cache, index = self._caches.get(catalog, (None, None))
        if cache is None and catalog.origin is not None:
            cache = self._derive(catalog, features)
            index = cache and cache.index()
        if cache is None or k > cache.longest or n_models > cache.n_models:
            longest, most = (cache.longest, cache.n_models) if cache else (8, 1)
            cache = ScoreCache.new(features, max(k, longest), max(n_models, most))
            index = cache.index()
        self._caches[catalog] = (cache, index)
        self._last = (catalog, cache, index)
        return index

    def cache(self, catalog: Catalog) -> ScoreCache:
        """Return the cache of a catalogue that has a index."""
        return self._caches[catalog][0]

    def _derive(self, catalog: Catalog, features: Floats) -> ScoreCache | None:
        assert catalog.origin is not None
        parent, origin = catalog.origin
        old = parent()
        cache = None if old is None else self._caches.get(old, (None, None))[0]
        return None if cache is None else cache.derive(features, origin)
