"""Exploration of a barycentric spanner: every user sees all directions that the items span."""

from collections.abc import Hashable, Iterator, Mapping
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np

from clubcascade import validation
from clubcascade.core import Catalog, Floats, Ints, Items, Policy
from clubcascade.errors import InvalidArgument
from clubcascade.kernels.exploration import least_explored
from clubcascade.policies._mixins import club_inside
from clubcascade.policies._wrapper import Wrapper
from clubcascade.policies.club_cascade import ClubCascade
from clubcascade.spanner import barycentric_spanner

FACTOR = 2.0
"""The spanner's largest coefficient: an exact one takes longer and explores no better."""


class SpannerExploration(Wrapper):
    """Begin lists with an item of a barycentric spanner of which a user has seen too little.

    A user who has seen n samples spread evenly over a spanner of r items has a width of about
    ``1 / sqrt(reg + n / r)`` in the direction of each. As long as a user has neighbours, an item of
    the spanner is due when the user's own width in its direction is larger than if a ``share`` of
    the user's samples had been spread so. For items that leave directions out, or hardly show
    them.

    Parameters
    ----------
    policy
        A policy over a graph of users, such as :class:`clubcascade.ClubCascade`.
    share
        Share of a user's samples that the spanner is to have, in (0, 1].

    References
    ----------
    Li, "Online clustering of contextual cascading bandits", AAAI 2018, "Discussions": "we can
    specify a barycentric spanner in the item set".

    Examples
    --------
    >>> club = ClubCascade(n_features=2, users=["alice", "bob"], beta=0.0)
    >>> policy = SpannerExploration(club, share=0.5)
    >>> for _ in range(20):
    ...     policy.update("alice", [[1.0, 0.0]], click=0)
    >>> policy.policy.recommend("alice", np.eye(2), k=1), policy.recommend("alice", np.eye(2), k=1)
    (array([0]), array([1]))
    """

    def __init__(self, policy: Policy | Mapping[str, Any], *, share: float = 0.3) -> None:
        super().__init__(policy)
        self._club = club_inside(self.base)
        if not self._club._learner.fresh_items:
            raise InvalidArgument(
                f"policy must see items as they are, got {self._club!r}, whose items have a bias"
            )
        self.share = validation.number("share", share, low=0, open_low=True, high=1)
        self._spanners: WeakKeyDictionary[Catalog, Ints] = WeakKeyDictionary()

    def recommend(self, user: Hashable, items: Items, k: int) -> Ints:
        with self._lock:
            ranking = self.policy.recommend(user, items, k)
            club, number = self._club, self._club.number(user)
            if number >= 0 and club._learner.graph.arrays["degree"][number] > 0:
                row = self._due(user, club._read_items(items))
                if row >= 0:
                    put_first(row, ranking)
            return ranking

    def _due(self, user: Hashable, items: Floats | Catalog) -> int:
        """Return the row that a user should see next, or -1 for none."""
        gram, _, count = self._club.statistics(user)
        rows = self._spanner(items)
        if rows.size == 0 or count == 0:
            return -1
        features = items._rows if isinstance(items, Catalog) else items
        return int(least_explored(gram, self._club.reg, count, self.share, features, rows))

    def _spanner(self, items: Floats | Catalog) -> Ints:
        """Return the rows of the items' spanner; a catalogue's is kept."""
        if not isinstance(items, Catalog):
            return barycentric_spanner(items, factor=FACTOR)
        if items not in self._spanners:
            self._spanners[items] = barycentric_spanner(items.features, factor=FACTOR)
        return self._spanners[items]

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(ClubCascade(n_features=3, users=range(6), alpha=0.5), share=0.5)


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
