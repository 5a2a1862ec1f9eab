"""What a user did with an item before, around any other learner."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from clubcascade.core import Catalog, Floats, Ints, array_of
from clubcascade.core.paged_arrays import grown, written_rows
from clubcascade.kernels import item_memory as kernels
from clubcascade.learners.base import Learner
from clubcascade.learners.known_items import KnownItems

_SLOTS = {"key": np.uint64, "shown": np.int32, "clicked": np.int32, "last": np.int32}
_PREFIX = "memory_"
MOST_ITEMS = 4096
"""Items of a user that can be remembered, at the most."""
MOST_LISTS = 2**30
"""Lists of a user that a state may count, so that none overflows."""


class RememberedItems(Learner):
    """Another learner, and for each user the last so many items that were shown.

    Parameters
    ----------
    inside
        What learns the weights.
    size
        Items that are remembered of each user.
    users
        The numbers of the users; whoever joins is added after :meth:`join`.
    half_life
        Lists of a user after which its records count half; 0 for never.
    logistic
        Whether scores are on the scale of a logistic link.
    """

    def __init__(
        self,
        inside: Learner,
        size: int,
        users: Mapping[Hashable, int],
        *,
        half_life: int = 0,
        logistic: bool = False,
    ) -> None:
        self.inside, self.size, self._users = inside, size, users
        self.draws, self.fresh_items = inside.draws, inside.fresh_items
        self._keyed: WeakKeyDictionary[Catalog, dict[int, tuple[Any, Any]]] = WeakKeyDictionary()
        self._arrays: dict[str, npt.NDArray[Any]] = {}
        self._error = np.zeros(len(kernels.SHARES) + 1)
        self._cap = math.inf if logistic else 1.0
        self._recalled = no_items(size, self._cap)
        self._scalars: dict[str, Any] = {
            "share": 0.0,
            "logistic": logistic,
            "half_life": half_life,
            "scales": inside.weighting == "scaled" and not logistic,
            "n_lists": 0,
        }
        self._bound: Any = None
        self._reserve(max(8, len(users)))

    def _reserve(self, capacity: int) -> None:
        old = self._arrays
        room = {
            name: grown(old.get(name), capacity, self.size, dtype=dtype)
            for name, dtype in _SLOTS.items()
        }
        room["lists"] = grown(old.get("lists"), capacity, dtype=np.int32)
        self._arrays = room
        self._bind()

    def _bind(self, **changes: Any) -> None:
        self._inside_bound = self.inside.compiled
        self._bound = self._around(self._inside_bound, self._recalled, **changes)

    def _around(self, inside: Any, recalled: Any, **changes: Any) -> Any:
        known = self._scalars if self._bound is None else self._bound.scalars()
        return kernels.ItemMemory.make(
            inside=inside,
            error=self._error,
            recalled=recalled,
            **self._arrays,
            **(known | changes),
        )

    @property
    def compiled(self) -> Any:
        """The compiled state; it follows the one inside, which changes as that grows."""
        if len(self._users) > len(self._arrays["lists"]):  # the policy inside was used by itself
            self._reserve(2 * len(self._users))
        if self._inside_bound is not self.inside.compiled:
            self._bind()
        return self._bound

    def check_newcomer(self, user: Hashable) -> None:
        """Raise if a user may not join."""
        self.inside.check_newcomer(user)

    def join(self, user: Hashable, number: int) -> None:
        """Make room for the user's items."""
        self.join_many((user,), number)

    def join_many(self, users: Sequence[Hashable], first: int) -> None:
        """Make room for the items of users."""
        self.inside.join_many(users, first)
        if (last := first + len(users)) > len(self._arrays["lists"]):
            self._reserve(max(2 * first, last))

    @property
    def next_draw(self) -> int | None:
        """Number of the next list's draw, None if it is made without one."""
        return self.inside.next_draw

    def follow(self, inside: Learner, users: Mapping[Hashable, int]) -> None:
        """Go around another learner; users of both keep what is remembered of them."""
        both = [
            (self._users[user], number) for user, number in users.items() if user in self._users
        ]
        old, (before, after) = self._arrays, np.array(both, np.intp).reshape(-1, 2).T
        self._arrays, self.inside, self._users = {}, inside, users
        self._reserve(max(8, len(users)))
        for name, value in old.items():
            self._arrays[name][after] = value[before]
        kernels.restore_share(self._bound)

    def labels(self, n_users: int) -> Ints:
        """Return the cluster of each user."""
        return self.inside.labels(n_users)

    def padded(self, items: Floats) -> Floats:
        """Return the items as the kernels know them."""
        return self.inside.padded(items)

    def training_view(self, catalog: Catalog) -> Any:
        """Return what the kernels learn a catalogue's items from."""
        return self.inside.training_view(catalog)

    def ranking_view(self, catalog: Catalog, k: int) -> Any:
        """Return what is ranked inside, and the catalogue's items by their keys."""
        view = self.inside.ranking_view(catalog, min(k + self.size, len(catalog)))
        return self._keyed_view(catalog, view, 0)

    def _keyed_view(self, catalog: Catalog, view: Any, part: int) -> Any:
        views = self._keyed.setdefault(catalog, {})
        known, keyed = views.get(part, (None, None))
        if known is not view:
            features = self.keyed_by(catalog)
            keyed = kernels.keyed(view, features, np.arange(len(catalog)))
            views[part] = (view, keyed)
        return keyed

    def reader(self, part: int, ahead: int, catalog: Catalog, k: int) -> tuple[Any, Any] | None:
        """Return what one of several threads ranks with."""
        inside = self.inside.reader(part, ahead, catalog, k)
        if inside is None:
            return None
        recalled = no_items(self.size, self._cap)
        state = self._around(inside[0], recalled, **self.compiled.scalars())
        return state, self._keyed_view(catalog, inside[1], part)

    def skip_draws(self, n: int) -> None:
        """Go on as if ``n`` lists had been drawn."""
        self.inside.skip_draws(n)

    def keyed_by(self, items: Floats | Catalog) -> Any:
        """Return what items are known by: their features, or numbers (-1 for a new item)."""
        if not isinstance(items, Catalog):
            return self.inside.padded(items)
        if isinstance(self.inside, KnownItems):
            return self.inside.known_slots(items)
        return self.inside.training_view(items)

    def rank_new_user(
        self, user: Hashable, number: int, items: Floats | Catalog, rows: Ints, scores: Floats
    ) -> None:
        """Rank for a user of whom nothing is remembered."""
        self.inside.rank_new_user(user, number, items, rows, scores)

    def blend(self, number: int, features: Any, rows: Ints, values: Floats) -> None:
        """Replace what is expected of items without memory by what is expected with it."""
        kernels.blend_expected(self.compiled, number, features, rows, values)

    def state(self, n_users: int) -> dict[str, Any]:
        """Return copies of what is remembered and of what is learned inside."""
        now = self.compiled.scalars()
        met = np.flatnonzero(self._arrays["lists"][:n_users])
        used = int((self._arrays["key"][met] != 0).sum(axis=1).max(initial=0))
        own = {name: written_rows(self._arrays[name][:n_users, :used], met) for name in _SLOTS}
        own["lists"] = self._arrays["lists"][:n_users].copy()
        own["error"] = self._error.copy()
        own["share"] = np.array([now["share"]])
        own["tally"] = np.array([now["n_lists"]])
        inside = self.inside.state(n_users)
        return inside | {_PREFIX + name: value for name, value in own.items()}

    def load_state(self, state: dict[str, Any], users: Mapping[Hashable, int]) -> None:
        """Take over what :meth:`state` returned."""
        own = {name: part for name, part in state.items() if name.startswith(_PREFIX)}
        rest = {name: part for name, part in state.items() if name not in own}
        self.inside.load_state(rest, users)
        n = len(users)
        self._arrays, self._users = {}, users
        self._reserve(max(8, n))
        used = array_of(own, _PREFIX + "key", (n, -1), np.uint64).shape[1]
        if used > self.size:
            raise ValueError(f"{_PREFIX}key must have at most {self.size} items, got {used}")
        for name in (*_SLOTS, "lists"):
            rows = self._arrays[name][:n]
            shape = (n, used) if name in _SLOTS else (n,)
            read = array_of(own, _PREFIX + name, shape, rows.dtype)
            if name != "key" and read.size and read.max() > MOST_LISTS:
                raise ValueError(f"{_PREFIX + name} must be at most {MOST_LISTS}, got {read.max()}")
            rows[tuple(map(slice, shape))] = read
        self._error[:] = array_of(own, _PREFIX + "error", self._error.shape)
        share = float(array_of(own, _PREFIX + "share", (1,))[0])
        tally = array_of(own, _PREFIX + "tally", (1,), np.int64)
        check_memory({name: rows[:n] for name, rows in self._arrays.items()}, self._error, share)
        self._bind(share=share, n_lists=int(tally[0]))
        kernels.restore_share(self._bound)


def check_memory(records: dict[str, npt.NDArray[Any]], error: Floats, share: float) -> None:
    """Raise unless these are records as the kernels make them."""
    key, shown, clicked, last = (records[name] for name in _SLOTS)
    used, lists = key != 0, records["lists"][:, None]
    if (used[:, 1:] & ~used[:, :-1]).any():
        raise ValueError("memory_key must have no item after an empty slot")
    if (used & (key % np.uint64(2) == 0)).any():
        raise ValueError("memory_key must be odd, or 0 for an empty slot")
    ordered = np.sort(key, axis=1)
    if ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] != 0)).any():
        raise ValueError("memory_key must have an item of a user once")
    if ((shown < 1) & used).any() or ((clicked > shown) & used).any():
        raise ValueError("memory_shown must count every item, and no fewer than memory_clicked")
    if (((last < 1) | (last > lists)) & used).any():
        raise ValueError("memory_last must be a list of the user, at most memory_lists")
    if error.min() < 0.0:
        raise ValueError(f"memory_error must be at least 0, got {error.min()}")
    if share not in kernels.SHARES:
        raise ValueError(f"memory_share must be one of {kernels.SHARES.tolist()}, got {share}")
    if share > 0.0 and error[-1] == 0.0:
        raise ValueError(f"memory_share must be 0 before anything came back, got {share}")


def no_items(size: int, cap: float = 1.0) -> Any:
    """Return room for the recalled items of one ranking, none yet."""
    return kernels.Recalled.make(
        rows=np.zeros(size, np.int64),
        weight=np.zeros(size),
        value=np.zeros(size),
        sure=np.zeros(size),
        root=np.zeros(size),
        cap=cap,
        n=0,
    )
