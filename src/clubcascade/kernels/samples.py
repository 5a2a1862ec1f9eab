"""The samples of a likelihood, without repeats: distinct items, and counts per item.

The order of samples does not matter to a likelihood, and equal items need one entry: (item,
observations, clicks). So with a catalogue the samples of a user or a cluster take
at most one entry per item of the catalogue; with items that change they grow without bound. Items
are identified by their features alone, whether they came in a catalogue or as a matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clubcascade.core import Floats, Ints
from clubcascade.kernels.jit import Struct, kernel, struct

_STEP = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


@struct
class DistinctItems(Struct):
    """Every distinct item ever examined, numbered in order of arrival.

    ``items`` (room x d); ``slots``, a hash table of item numbers, -1 where empty, its length a
    power of 2; ``key`` (d), scratch.
    """

    items: Floats
    slots: Ints
    key: Floats
    n_items: int


@kernel
def items_of(store: DistinctItems) -> Floats:
    """Return the items, as a copy."""
    return store.items[: store.n_items].copy()


@kernel
def _find_slot(store: DistinctItems) -> int:
    """Find the slot of the item in ``key``, or the empty one where it belongs."""
    key, items, slots = store.key, store.items, store.slots
    words = key.view(np.uint64)
    word = np.uint64(0)
    for f in range(words.shape[0]):
        word = np.uint64((word ^ words[f]) * _STEP)
        word = np.uint64(word ^ (word >> _HALF))
    place = int(np.int64(word & np.uint64(slots.shape[0] - 1)))
    while slots[place] >= 0:
        item = items[slots[place]]
        same = True
        for f in range(key.shape[0]):
            if item[f] != key[f]:
                same = False
                break
        if same:
            return place
        place = (place + 1) & (slots.shape[0] - 1)
    return place


@kernel
def _grow(store: DistinctItems) -> None:
    """Double the room of the store."""
    n, d = store.items.shape
    items = np.zeros((2 * n, d))
    items[:n] = store.items
    store.items = items
    store.slots = np.full(8 * n, -1)
    for i in range(n):
        for f in range(d):
            store.key[f] = items[i, f]
        store.slots[_find_slot(store)] = i


@kernel
def number(store: DistinctItems, x: Floats) -> int:
    """Return the number of an item; a new one gets the next."""
    for f in range(x.shape[0]):
        store.key[f] = x[f] + 0.0  # -0.0 and 0.0 are one
    place = _find_slot(store)
    if store.slots[place] >= 0:
        return store.slots[place]
    n = store.n_items
    if n == store.items.shape[0]:
        _grow(store)
        for f in range(x.shape[0]):
            store.key[f] = x[f] + 0.0
        place = _find_slot(store)
    store.items[n] = store.key
    store.slots[place] = n
    store.n_items = n + 1
    return n


@kernel
def fill(store: DistinctItems, items: Floats) -> None:
    """Put distinct items into an empty store, in order."""
    for i in range(items.shape[0]):
        number(store, items[i])


@struct
class ItemCounts(Struct):
    """Many lists of (item, observations, clicks) side by side, each sorted by item number.

    List ``g`` is ``size[g]`` entries of ``ids``, ``observations`` and ``clicks`` from ``begin[g]``
    on, with room for ``room[g]``; ``n_entries`` are given out.
    """

    begin: Ints
    size: Ints
    room: Ints
    ids: Ints
    observations: Ints
    clicks: Ints
    n_entries: int


@kernel
def lists(counts: ItemCounts) -> tuple[Ints, Ints, Ints]:
    """Return the arrays that the kernels replace when they are full: ids, observations, clicks."""
    return counts.ids, counts.observations, counts.clicks


@kernel
def _repack(counts: ItemCounts, more: int) -> None:
    """Move all lists to new arrays without gaps, and make room for ``more`` and as much again."""
    total = more
    for g in range(counts.size.shape[0]):
        total += counts.size[g]
    ids, observations, clicks = (
        np.zeros(2 * total + 64, np.int64),
        np.zeros(2 * total + 64, np.int64),
        np.zeros(2 * total + 64, np.int64),
    )
    end = 0
    for g in range(counts.size.shape[0]):
        first, size = counts.begin[g], counts.size[g]
        for e in range(size):
            ids[end + e] = counts.ids[first + e]
            observations[end + e] = counts.observations[first + e]
            clicks[end + e] = counts.clicks[first + e]
        counts.begin[g] = end
        counts.room[g] = size
        end += size
    counts.ids, counts.observations, counts.clicks = ids, observations, clicks
    counts.n_entries = end


@kernel
def make_room(counts: ItemCounts, g: int, room: int) -> None:
    """Give list ``g`` room for ``room`` entries; they keep their order."""
    if room <= counts.room[g]:
        return
    if counts.n_entries + room > counts.ids.shape[0]:
        _repack(counts, room)
    first, new = counts.begin[g], counts.n_entries
    for e in range(counts.size[g]):
        counts.ids[new + e] = counts.ids[first + e]
        counts.observations[new + e] = counts.observations[first + e]
        counts.clicks[new + e] = counts.clicks[first + e]
    counts.begin[g] = new
    counts.room[g] = room
    counts.n_entries = new + room


@kernel
def count(counts: ItemCounts, g: int, item: int, click: int) -> None:
    """Count one observation of an item in list ``g``, and its click."""
    first, size = counts.begin[g], counts.size[g]
    ids = counts.ids
    low, high = first, first + size
    while low < high:
        middle = (low + high) // 2
        if ids[middle] < item:
            low = middle + 1
        else:
            high = middle
    if low == first + size or ids[low] != item:
        if size == counts.room[g]:
            make_room(counts, g, 2 * size + 8)
            low += counts.begin[g] - first
            first = counts.begin[g]
        ids, observations, clicks = counts.ids, counts.observations, counts.clicks
        for e in range(first + size, low, -1):
            ids[e], observations[e], clicks[e] = ids[e - 1], observations[e - 1], clicks[e - 1]
        ids[low], observations[low], clicks[low] = item, 0, 0
        counts.size[g] = size + 1
    counts.observations[low] += 1
    counts.clicks[low] += click


@kernel
def gather(source: ItemCounts, which: Any, n_items: int, counts: ItemCounts, g: int) -> None:
    """Make list ``g`` of ``counts`` the sum of the lists ``which`` of ``source``."""
    observations, clicks = np.zeros(n_items, np.int64), np.zeros(n_items, np.int64)
    for w in range(which.shape[0]):
        first = source.begin[which[w]]
        for e in range(first, first + source.size[which[w]]):
            observations[source.ids[e]] += source.observations[e]
            clicks[source.ids[e]] += source.clicks[e]
    size = 0
    for item in range(n_items):
        size += observations[item] > 0
    counts.size[g] = 0
    make_room(counts, g, size)
    end = counts.begin[g]
    for item in range(n_items):
        if observations[item] > 0:
            counts.ids[end], counts.observations[end], counts.clicks[end] = (
                item,
                observations[item],
                clicks[item],
            )
            end += 1
    counts.size[g] = size


@kernel
def load(
    counts: ItemCounts, which: Ints, sizes: Ints, ids: Ints, observations: Ints, clicks: Ints
) -> None:
    """Fill the empty lists ``which`` from lists laid end to end."""
    at = 0
    for w in range(which.shape[0]):
        g = which[w]
        make_room(counts, g, sizes[w])
        first = counts.begin[g]
        for e in range(sizes[w]):
            counts.ids[first + e] = ids[at + e]
            counts.observations[first + e] = observations[at + e]
            counts.clicks[first + e] = clicks[at + e]
        counts.size[g] = sizes[w]
        at += sizes[w]
