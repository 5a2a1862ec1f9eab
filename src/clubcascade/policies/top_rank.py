"""TopRank: a partial order of the items, learned from clicks of pairs."""

import math
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np

from clubcascade import validation
from clubcascade.core import Catalog, Ints, Items, Shown, Slate, array_of
from clubcascade.errors import InvalidItems
from clubcascade.kernels import top_rank as kernels
from clubcascade.learners.base import numbered
from clubcascade.learners.known_items import KnownItems
from clubcascade.learners.seeds import key_of
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.policies._item_counts import CatalogOnlyMixin

MOST_ITEMS = 4096
"""Items that can be compared: every pair of them takes five bytes, 80 MiB in all."""


class _Pairs(KnownItems):
    """Counts of all pairs of items, and the blocks of every catalogue."""

    draws = True
    weighting = "none"

    def __init__(self, delta: float, key: np.uint64) -> None:
        super().__init__()
        self._views: WeakKeyDictionary[Catalog, tuple[Ints, Any]] = WeakKeyDictionary()
        self._clicked = np.zeros((0, 0), np.int32)
        self._scalars = {"log_delta": math.log(delta), "key": key}
        self._reserve(8, n_changes=0, n_drawn=0)

    def _reserve(self, capacity: int, **counts: int) -> None:
        """Make larger arrays, with what was counted; the caller finds the relation anew."""
        old, n = self._clicked, len(self._clicked)
        self._clicked = np.zeros((capacity, capacity), np.int32)
        self._clicked[:n, :n] = old
        self.better = np.zeros((capacity, capacity), np.bool_)
        self.compiled = kernels.Relation.make(
            clicked=self._clicked,
            better=self.better,
            n_worse=np.zeros(capacity, np.int64),
            **self._scalars,
            **counts,
        )

    def _make_room(self, n_items: int) -> None:
        known = len(self._clicked)
        if n_items > known:
            now = self.compiled.scalars()
            counts = {name: now[name] for name in ("n_changes", "n_drawn")}
            self._reserve(min(n_items + n_items // 4 + 8, MOST_ITEMS), **counts)
            kernels.relate(self.compiled, known)

    def check_room(self, catalog: Catalog) -> None:
        """Raise if the items of a catalogue and those known before are too many to compare."""
        n_items = len(catalog)
        if n_items <= MOST_ITEMS and len(self._slots) + n_items > MOST_ITEMS:
            n_items = len(self._slots) + int(np.sum(self.known_slots(catalog) < 0))
        if n_items > MOST_ITEMS:
            raise InvalidItems(
                f"items must be at most {MOST_ITEMS} for TopRank, with all those known before, "
                f"because every pair is counted; got {n_items}"
            )

    def training_view(self, catalog: Catalog) -> Any:
        """Return the blocks of a catalogue; new items are counted from now on."""
        self.check_room(catalog)
        self.all_slots(catalog)
        return self.ranking_view(catalog, 1)

    def ranking_view(self, catalog: Catalog, k: int) -> Any:
        slots, n = self.known_slots(catalog), len(catalog)
        of, view = self._views.get(catalog, (None, None))
        if of is not slots:
            names = ("block", "order", "n_ahead", "drawn")
            view = kernels.Blocks.make(
                slots=slots,
                **{name: np.zeros(n, np.int64) for name in names},
                start=np.zeros(n + 1, np.int64),
                n_changes=-1,
                is_clicked=np.zeros(n, np.bool_),
            )
            self._views[catalog] = slots, view
        return view

    def blocks(self, catalog: Catalog) -> list[Ints]:
        """Return the rows of each block, the best first."""
        of = kernels.block_of_each(self.compiled, self.ranking_view(catalog, 1))
        return [np.flatnonzero(of == b) for b in range(1 + of.max())]

    def state(self, n_users: int) -> dict[str, Any]:
        n = len(self._slots)
        return {
            "items": list(self._slots),
            "clicked": self._clicked[:n, :n].copy(),
            "draws": np.array([self.compiled.n_drawn]),
        }

    def load_state(self, state: dict[str, Any], users: Mapping[Hashable, int]) -> None:
        """Take over what :meth:`state` returned; the relation follows from the counts."""
        n = len(state["items"])
        if n > MOST_ITEMS:
            raise ValueError(f"items must be at most {MOST_ITEMS}, got {n}")
        clicked = array_of(state, "clicked", (n, n), np.int32, below=2**30)
        self._clicked = np.zeros((0, 0), np.int32)
        drawn = int(array_of(state, "draws", (1,), np.int64)[0])
        self._reserve(max(n, 8), n_changes=0, n_drawn=drawn)
        self._clicked[:n, :n] = clicked
        kernels.relate(self.compiled, n)
        self._slots = numbered(state["items"])


class TopRank(CatalogOnlyMixin, CompiledPolicy):
    """TopRank: items that lose too many clicks to another one go to a later block of the list.

    A block has the items than which no item of the same or a later block is known to be better.
    Its items are shown in random order. Of two items of one block, the one is better if it was
    clicked without the other so much oftener that ``S >= sqrt(2 N ln(c sqrt(N) / delta))``, for
    N rounds in which exactly one of them was clicked, and S the difference; c is about 3.43.

    All users are one. Takes a :class:`clubcascade.Catalog` only, of at most 4096 items: items are
    known by id, and every pair is counted. An item that was not clicked counts
    as such, whether it was examined, came after the click, or was not shown: the random order
    makes up for it, and no click model is needed. So every list counts as one of its own.

    Parameters
    ----------
    delta
        Probability of a wrong comparison; smaller than one over the number of rounds is usual.
    seed
        Seed of the random orders.

    References
    ----------
    Lattimore, Kveton, Li and Szepesvári, "TopRank: a practical algorithm for online stochastic
    ranking", NeurIPS 2018, Algorithm 1; written from descriptions of it, not held against its text.

    Examples
    --------
    >>> policy = TopRank(delta=0.1)
    >>> catalog = Catalog(np.eye(3))
    >>> for _ in range(20):
    ...     policy.update("alice", catalog[[2, 0]], click=0)
    >>> policy.blocks(catalog)
    [array([2]), array([0, 1])]
    >>> int(policy.recommend("bob", catalog, k=2)[0])
    2
    """

    n_features = None
    _learner: _Pairs

    def __init__(self, *, delta: float = 1e-6, seed: int = 0) -> None:
        self.delta = validation.number("delta", delta, low=0, open_low=True, high=1)
        self.seed = validation.whole("seed", seed, low=0)
        super().__init__(_Pairs(self.delta, key_of(self.seed, "draws")))

    def blocks(self, items: Items) -> list[Ints]:
        """Return the rows of each block of a catalogue, the first block first."""
        catalog = self._read_items(items)
        with self._lock:
            return self._learner.blocks(catalog)

    def _read_items(self, items: Items) -> Catalog:
        catalog = super()._read_items(items)
        self._learner.check_room(catalog)
        return catalog

    def _check_shown(self, shown: Shown) -> None:
        super()._check_shown(shown)
        assert isinstance(shown, Slate)
        self._learner.check_room(shown.catalog)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Yield a policy that decides after a few clicks, and one that takes its time."""
        yield cls(delta=1.0, seed=3)
        yield cls()
