"""What a policy remembers of each catalogue that it has ranked: features and lazy scores."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from clubcascade.core import Catalog, Floats
from clubcascade.kernels import ranking as kernels

BUDGET = 64 * 2**20
"""Bytes that the lazy scores of one catalogue may take."""


class Shelves:
    """One shelf per catalogue; it goes when the catalogue goes."""

    def __init__(self) -> None:
        self._shelves: WeakKeyDictionary[Catalog, tuple[Any, int, int]] = WeakKeyDictionary()
        self._last: tuple[Catalog | None, Any, int, int] = (None, None, 0, 0)

    def get(self, catalog: Catalog, features: Floats, k: int, n_models: int) -> Any:
        """Return the shelf of a catalogue, for lists of ``k`` and ``n_models`` models."""
        known, shelf, longest, models = self._last
        if known is catalog and k <= longest and n_models <= models:
            return shelf
        shelf, longest, models = self._shelves.get(catalog, (None, 0, 0))
        if k > longest or n_models > models:
            longest, models = max(k, longest, 8), max(n_models, models)
            shelf = _build(features, longest, models)
            self._shelves[catalog] = (shelf, longest, models)
        self._last = (catalog, shelf, longest, models)
        return shelf


def _build(features: Floats, longest: int, n_models: int) -> Any:
    n, d = features.shape
    slots = max(1, min(n_models, BUDGET // (16 * n)))
    return kernels.make(
        features,
        np.full(slots, -1, np.int64),
        np.zeros(slots, np.int64),
        np.zeros((slots, n)),
        np.zeros((slots, n)),
        np.zeros((slots, longest + kernels.RUNNERS_UP + 1), np.int64),
        np.zeros(longest + kernels.RUNNERS_UP, np.int64),
        np.zeros(longest + kernels.RUNNERS_UP),
        np.zeros(2 * kernels.BLOCK, np.int64),
        np.zeros((d, 2 * kernels.BLOCK)),
        np.zeros((3, 2 * kernels.BLOCK)),
    )
