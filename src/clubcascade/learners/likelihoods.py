"""The arrays of many estimates, with room to grow and a state that can be saved."""

from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from clubcascade.core import Floats, Ints, array_of
from clubcascade.core.paged_arrays import aligned_zeros, grown
from clubcascade.kernels import likelihood as kernels
from clubcascade.kernels import samples
from clubcascade.links import Link

Solver = Literal["exact", "online"]
_EACH = ("curve", "age", "second", "target")


def make_store(d: int, items: Floats | None = None) -> Any:
    """Return a store of distinct items, with these in it."""
    room, slots = np.zeros((64, d)), np.full(256, -1)
    store = samples.DistinctItems.make(items=room, slots=slots, key=np.zeros(d), n_items=0)
    if items is not None:
        samples.fill(store, np.ascontiguousarray(items, dtype=np.float64))
        if store.n_items != len(items):
            raise ValueError(f"items must be distinct, got {len(items)}")
    return store


class Likelihoods:
    """Estimates 0, 1, ... over ``d`` features.

    ``weights`` has a row for each, often shared with somebody. ``online``: samples are seen once
    and not kept. ``inverses``: each estimate keeps the inverse of its second derivative.
    """

    def __init__(
        self, weights: Floats, *, penalty: float, online: bool, inverses: bool = True
    ) -> None:
        self.penalty, self.online = penalty, online
        self.capacity = 0
        self.arrays: dict[str, npt.NDArray[Any]] = {}
        self._counts: Any = None
        self.reserve(weights, inverses)

    def reserve(self, weights: Floats, inverses: bool = True) -> None:
        """Make room for as many estimates as ``weights`` has rows; those beyond are not clear."""
        capacity, d = weights.shape
        old, rows = self.arrays, capacity if self.online else 0
        a: dict[str, npt.NDArray[Any]] = {
            "weights": weights,
            "curve": grown(old.get("curve"), capacity if inverses else 0, d, d),
            "age": grown(old.get("age"), capacity, dtype=np.int64),
            "second": grown(old.get("second"), rows, d, d),
            "target": grown(old.get("target"), rows, d),
        }
        names = ("begin", "size", "room")
        places = {name: grown(old.get(name), capacity, dtype=np.int64) for name in names}
        ids, observations, clicks = (np.zeros(64, np.int64) for _ in range(3))
        n_entries = 0
        if old:
            ids, observations, clicks = samples.lists(self._counts)
            n_entries = self._counts.n_entries
        self.arrays = {**a, **places}
        self.capacity = capacity
        self._counts = samples.ItemCounts.make(
            **places, ids=ids, observations=observations, clicks=clicks, n_entries=n_entries
        )
        self.struct = kernels.Likelihood.make(
            **a,
            counts=self._counts,
            penalty=self.penalty,
            keeps_samples=not self.online,
            **{name: aligned_zeros(d) for name in kernels.WORK_VECTORS},
            **{name: aligned_zeros(d, d) for name in kernels.WORK_MATRICES},
            **{name: aligned_zeros(kernels.BLOCK) for name in kernels.WORK_BLOCKS},
        )

    def clear(self, g: int) -> None:
        """Make estimate ``g`` one that has seen nothing."""
        kernels.clear(self.struct, g)

    def counts(self, g: int) -> tuple[Ints, Ints, Ints]:
        """Return the samples of estimate ``g``: item numbers, observations, clicks."""
        first, size = self.arrays["begin"][g], self.arrays["size"][g]
        ids, observations, clicks = (
            part[first : first + size] for part in samples.lists(self._counts)
        )
        return ids, observations, clicks

    def state(self, which: Ints) -> dict[str, npt.NDArray[Any]]:
        """Return copies of what the estimates ``which`` are made of, but for the weights."""
        parts = {name: self.arrays[name][which] for name in _EACH if len(self.arrays[name])}
        if self.online:
            return parts
        lists = [self.counts(g) for g in which.tolist()]
        empty = np.zeros(0, np.int64)
        for i, name in enumerate(("ids", "looks", "clicks")):
            parts[name] = np.concatenate([empty, *(each[i] for each in lists)])
        parts["sizes"] = self.arrays["size"][which]
        return parts

    def load_state(self, which: Ints, state: dict[str, Any], prefix: str) -> None:
        """Take over what :meth:`state` returned, into estimates that have seen nothing."""
        n = len(which)
        for name in _EACH:
            room = self.arrays[name]
            if len(room):
                room[which] = array_of(state, prefix + name, (n, *room.shape[1:]), room.dtype)
        if not self.online:
            most, n_items = (
                len(array_of(state, f"{prefix}ids", (-1,), np.int64)),
                len(state["items"]),
            )
            sizes = array_of(state, f"{prefix}sizes", (n,), np.int64, below=most + 1)
            total = int(sizes.sum())
            parts = [sizes, array_of(state, f"{prefix}ids", (total,), np.int64, below=n_items)]
            for name in ("looks", "clicks"):
                parts.append(array_of(state, prefix + name, (total,), np.int64))
            _check_samples(prefix, *parts)
            whole = [np.ascontiguousarray(part, dtype=np.int64) for part in (which, *parts)]
            samples.load(self._counts, *whole)


class GLM(NamedTuple):
    """A generalized linear model: its link, the penalty of its weights, and how it is solved."""

    link: Link
    penalty: float
    solver: Solver

    def likelihoods(self, weights: Floats, *, inverses: bool = True) -> Likelihoods:
        """Return estimates that have seen nothing, one per row of ``weights``."""
        online = self.solver == "online"
        return Likelihoods(weights, penalty=self.penalty, online=online, inverses=inverses)


def _check_samples(prefix: str, sizes: Ints, ids: Ints, observations: Ints, clicks: Ints) -> None:
    of = np.repeat(np.arange(len(sizes)), sizes)
    if not (np.diff(ids)[np.diff(of) == 0] > 0).all():
        raise ValueError(f"{prefix}ids must rise within each list")
    if not (observations >= 1).all():
        raise ValueError(f"{prefix}looks must be at least 1, got {observations.min()}")
    if not ((clicks >= 0) & (clicks <= observations)).all():
        raise ValueError(f"{prefix}clicks must lie between 0 and {prefix}looks")
