"""What the policies that count examinations and clicks of items have in common."""

from collections.abc import Hashable
from typing import Any

import numpy as np

from clubcascade.core import Catalog, Floats, Items, Shown, Slate, check_slate
from clubcascade.errors import InvalidItems
from clubcascade.kernels import counting as kernels


class CatalogOnlyMixin:
    """Checks of a :class:`CompiledPolicy` over :class:`KnownItems`, which takes catalogues only."""

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
        check_slate(shown, None, lists=1)


class ItemCountsMixin(CatalogOnlyMixin):
    """Scores of a :class:`CompiledPolicy` over :class:`ItemCounts`."""

    def scores(self: Any, user: Hashable, items: Items) -> Floats:
        """Return the index of every item (an upper bound, or a smoothed click rate), at most 1."""
        self.number(user)
        catalog = self._read_items(items)
        with self._lock:
            slots = self._learner.ranking_view(catalog, 1)
            bounds = np.array([kernels.index(self.compiled, slot) for slot in slots])
        capped: Floats = np.minimum(bounds, 1.0)
        return capped
