"""Exploration of a barycentric spanner: every user sees all directions that the items span."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from clubcascade.core import Catalog, Floats, Ints
from clubcascade.kernels import exploration as kernels
from clubcascade.spanner import barycentric_spanner

FACTOR = 2.0
"""The spanner's largest coefficient: an exact one takes longer and explores no better."""


class SpannerExploration:
    """Decides when a user's list begins with an item of the spanner, and with which one.

    A user who has seen n samples spread evenly over a spanner of r items has a width of about
    ``1 / sqrt(reg + n / r)`` in the direction of each. An item of the spanner is due when the
    user's own width in its direction is larger than if a ``share`` of the user's samples had been
    spread so.

    Parameters
    ----------
    reg
        Ridge constant of the user's own estimate.
    share
        Share of a user's samples that the spanner is to have, in (0, 1].
    """

    def __init__(self, reg: float, share: float) -> None:
        self.reg = reg
        self.share = share
        self._spanners: WeakKeyDictionary[Catalog, Ints] = WeakKeyDictionary()

    def spanner(self, items: Floats | Catalog) -> Ints:
        """Return the rows of the items' spanner; a catalogue's is kept."""
        if not isinstance(items, Catalog):
            return barycentric_spanner(items, factor=FACTOR)
        if items not in self._spanners:
            self._spanners[items] = barycentric_spanner(items.features, factor=FACTOR)
        return self._spanners[items]

    def due(self, items: Floats | Catalog, gram: Floats, count: int) -> int:
        """Return the row that a user of these statistics should see next, or -1 for none."""
        rows = self.spanner(items)
        if rows.size == 0 or count == 0:
            return -1
        features = items._rows if isinstance(items, Catalog) else items
        return int(kernels.least_explored(gram, self.reg, count, self.share, features, rows))


def put_first(row: int, ranking: Ints) -> None:
    """Let the list begin with ``row``; the others move down, and the last one makes room.

    >>> ranking = np.array([5, 3, 8])
    >>> put_first(9, ranking)
    >>> ranking
    array([9, 5, 3])
    >>> put_first(3, ranking)
    >>> ranking
    array([3, 9, 5])
    """
    where = np.flatnonzero(ranking == row)
    end = int(where[0]) if where.size else len(ranking) - 1
    ranking[1 : end + 1] = ranking[:end]
    ranking[0] = row
