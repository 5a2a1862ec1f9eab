"""Memory of items: what a user did with an item before, beside what a policy expects of it.

A click of one user on one item is

    y = w . x + e + noise,    e ~ N(0, rho sigma^2),    noise ~ N(0, (1 - rho) sigma^2),

where e belongs to this user and this item and stays. The *share* rho is how much of what the
weights do not explain comes back at the next look: nothing where clicks are drawn anew, all of it
where a user who passed an item will always pass it. After n observations of the pair with mean y',

    expected click         m + B(n) (y' - m),    B(n) = n rho / (1 + (n - 1) rho)
    information on w       N(n) = n / (1 + (n - 1) rho)    observations,

m being what the policy expects. So a repeated observation teaches the policy ``N(n) - N(n - 1)``
of an observation: item and click are multiplied by the root of it. The share is selected
prequentially from a few values, by the squared error of the expected click at repeated pairs.

An item is known by a 64-bit hash of its features: items of the same features are one. Each user has
a fixed number of slots; a new item takes the place of the one that was shown least recently.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clubcascade.core import Floats, Ints
from clubcascade.kernels import counter_rng, ranking
from clubcascade.kernels.jit import Struct, by_default, implements, kernel, struct
from clubcascade.kernels.protocol import (
    count_clusters,
    expect_click,
    learn,
    note_share,
    rank_catalog,
    rank_catalog_recalled,
    rank_items,
    rank_items_recalled,
    skip_list,
)

SHARES = np.array([0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0])
"""rho: the shares among which one is selected."""
MARGIN, LEAD = 0.01, 1.0
"""Share of its error by which a larger rho must beat the best of the smaller ones; and the squared
error by which it must beat 0 as well, or chance makes a memory where there is none."""
EVALUATED_FULLY = 1000.0
"""Repeated observations up to which every list is evaluated;"""
EVALUATED_EVERY = 16
"""from then on one list in this many."""
WINDOW = 5000.0
"""Evaluated observations that are remembered."""
SURE = 1000.0
"""What a certain click adds to the score of an item, and a certain pass takes away: even an item of
which nothing good is expected has some chance."""
LEAST_WEIGHT = 1e-3
"""Weight of an observation below which it is not learned at all."""
LARGEST_LOGIT = 4.0
"""Largest inner product, in size, that a record stands for if the link is logistic."""

_LOW = np.uint64(32)
_MULTIPLIER, _STEP = np.uint64(6364136223846793005), np.uint64(1442695040888963407)
"""A linear congruential generator makes a multiplier for each feature."""


@struct
class Recalled(Struct):
    """The items of a ranking that its user has met: the first ``n`` entries.

    ``rows`` (of the ranked items), ``weight`` (B), ``value`` (y', on the scale of scores), ``sure``
    (``SURE`` if a click is certain, ``-SURE`` if a pass is, else 0), ``root`` (of what another
    observation would weigh). No score counts for more than ``cap`` when it is compared with a
    record.
    """

    rows: Ints
    weight: Floats
    value: Floats
    sure: Floats
    root: Floats
    cap: float
    n: int


@struct
class KeyedItems(Struct):
    """Items as the policy inside ranks them (``items``), and a hash ``table`` of their places.

    ``key`` of each place (0: none); ``following``: the next place with the same key, -1 at the end.
    """

    items: Any
    key: Any
    table: Any
    following: Ints


@struct
class ItemMemory(Struct):
    """The state of the policy ``inside``, and what each user did with items.

    Per user and slot: ``key`` (0: empty), ``shown`` and ``clicked`` (observations), ``last`` (the
    user's list in which it was shown); per user ``lists``. ``error``: squared error of each share
    and, last, the observations that it is of. ``recalled`` is scratch. ``share``: the selected rho;
    ``logistic``: whether scores are logits; ``scales``: whether observations are weighted by
    scaling item and click (least squares), or else learned whole or not at all; ``half_life``:
    lists of a user after which its records count half, 0 for never.
    """

    inside: Any
    key: Any
    shown: Any
    clicked: Any
    last: Any
    lists: Any
    error: Floats
    recalled: Recalled
    share: float
    logistic: bool
    scales: bool
    half_life: int
    n_lists: int


# -- items and their keys ----------------------------------------------------------------------


@kernel
def item_key(features: Any, row: int) -> Any:
    """Hash an item's features, or its number where a policy knows items by numbers.

    Returns 0 for an item without features: nothing tells it from others of its kind.
    """
    if features.ndim == 1:
        word = np.uint64(features[row] + 1)
    else:
        bits = features[row].view(np.uint64)
        word, multiplier = np.uint64(0), _STEP
        for f in range(bits.shape[0]):
            folded = bits[f] if features[row, f] != 0.0 else np.uint64(0)  # -0.0 is 0.0
            multiplier = np.uint64(multiplier * _MULTIPLIER + _STEP)
            word += np.uint64(folded ^ (folded >> _LOW)) * np.uint64(multiplier | np.uint64(1))
    return np.uint64(0) if word == 0 else np.uint64(counter_rng.mix(word) | np.uint64(1))


@kernel
def keyed(items: Any, features: Any, offered: Ints) -> KeyedItems:
    """Make the hash table of the ``offered`` rows of ``features``."""
    n, room = offered.shape[0], 2
    while room < 2 * n:
        room *= 2
    key, table = np.empty(n, np.uint64), np.full(room, -1, np.int64)
    following = np.full(n, -1, np.int64)
    for place in range(n - 1, -1, -1):
        key[place] = item_key(features, offered[place])
        if key[place] == 0:
            continue
        slot = _first_slot(key[place], room)
        while table[slot] >= 0 and key[table[slot]] != key[place]:
            slot = (slot + 1) & (room - 1)
        following[place] = table[slot]
        table[slot] = place
    return KeyedItems(items, key, table, following)


@kernel
def _first_slot(key: Any, room: int) -> Any:
    """Return where the search for a key begins; the lowest bit of a key is always 1."""
    return np.int64((key >> np.uint64(1)) & np.uint64(room - 1))


@kernel
def place_of(items: KeyedItems, key: Any) -> int:
    """Return the first place of the items with a key, -1 if there is none."""
    room = items.table.shape[0]
    slot = _first_slot(key, room)
    while items.table[slot] >= 0:
        if items.key[items.table[slot]] == key:
            return items.table[slot]
        slot = (slot + 1) & (room - 1)
    return -1


@kernel
def slot_of(memory: ItemMemory, node: int, key: Any) -> int:
    """Return the slot of an item, -1 if it is not remembered."""
    keys = memory.key[node]
    for slot in range(keys.shape[0]):
        if keys[slot] == 0 or key == 0:
            return -1
        if keys[slot] == key:
            return slot
    return -1


# -- the model of a pair -----------------------------------------------------------------------


@kernel
def shrinkage(n: float, share: float) -> float:
    """B(n): the weight of a pair's own mean after n observations."""
    return n * share / (1.0 + (n - 1.0) * share) if n > 0.0 else 0.0


@kernel
def added_information(n: float, share: float) -> float:
    """``N(n + 1) - N(n)``: what one more observation tells of the weights after n of the pair."""
    if n == 0.0:
        return 1.0
    return (1.0 - share) / ((1.0 + n * share) * (1.0 + (n - 1.0) * share))


@kernel
def learned_weight(n: float, share: float, scales: bool) -> float:
    """Weight of one more observation of a pair; 0 or 1 for a policy that cannot scale it."""
    if scales or n == 0.0:
        return added_information(n, share)
    before, now = n / (1.0 + (n - 1.0) * share), (n + 1.0) / (1.0 + n * share)
    return 1.0 if math.floor(now + 0.5) > math.floor(before + 0.5) else 0.0


@kernel
def blended(recalled: Recalled, i: int, score: float) -> float:
    """Return the score of a recalled item from the one that the policy gives it."""
    cap = min(score, recalled.cap)
    mixed = cap + recalled.weight[i] * (recalled.value[i] - cap)
    return recalled.sure[i] + mixed


@kernel
def recall(memory: ItemMemory, node: int, items: KeyedItems) -> int:
    """Fill ``memory.recalled`` with the ranked items that the user has met; return how many."""
    recalled, keys, share = memory.recalled, memory.key[node], memory.share
    n, most = 0, recalled.rows.shape[0]
    for slot in range(keys.shape[0]):
        if keys[slot] == 0:
            break
        place, times = place_of(items, keys[slot]), memory.shown[node, slot]
        mean = memory.clicked[node, slot] / times
        certain = share == 1.0 and (mean == 0.0 or mean == 1.0)
        while place >= 0 and n < most:
            recalled.rows[n] = place
            recalled.weight[n] = shrinkage(times, share)
            recalled.value[n] = scaled(memory.logistic, mean)
            recalled.sure[n] = (SURE if mean == 1.0 else -SURE) if certain else 0.0
            recalled.root[n] = math.sqrt(added_information(times, share))
            n += 1
            place = items.following[place]
    recalled.n = n
    return n


@kernel
def scaled(logistic: bool, mean: float) -> float:
    """Return a click rate on the scale of scores."""
    if not logistic:
        return mean
    edge = math.exp(-LARGEST_LOGIT)
    mean = min(max(mean, edge), 1.0 - edge)
    return math.log(mean / (1.0 - mean))


# -- ranking -----------------------------------------------------------------------------------


@kernel
def room_beside(
    recalled: Recalled, n_items: int, rows: Ints, scores: Floats
) -> tuple[Ints, Floats]:
    """Return room for the best of a policy beside the recalled items: the list's own if none is."""
    if recalled.n == 0:
        return rows, scores
    more = min(n_items, rows.shape[0] + recalled.n)
    return np.empty(more, np.int64), np.empty(more)


@kernel
def merge(
    recalled: Recalled, found: Ints, found_scores: Floats, rows: Ints, scores: Floats
) -> None:
    """Fill ``rows`` from the ``found`` best of a policy and the recalled items.

    A recalled item that is not among the found ones counts as the last of them.
    """
    if recalled.n == 0:
        return
    n = found.shape[0]
    met = np.full(n, -1, np.int64)
    filled = 0
    places, last = np.empty(rows.shape[0], np.int64), found_scores[n - 1]
    for i in range(recalled.n):
        place = -1
        for j in range(n):
            if found[j] == recalled.rows[i]:
                place = j
                break
        if place >= 0:
            met[place] = i
        else:
            filled = ranking.insert(scores, places, filled, blended(recalled, i, last), n + i)
    for j in range(n):
        score = found_scores[j]
        if met[j] >= 0:
            score = blended(recalled, met[j], score)
        if filled < places.shape[0] or score >= scores[filled - 1]:
            filled = ranking.insert(scores, places, filled, score, j)
    for p in range(rows.shape[0]):
        rows[p] = found[places[p]] if places[p] < n else recalled.rows[places[p] - n]


@by_default(rank_catalog_recalled)
def _rank_catalog_recalled(
    state: Any, node: Any, catalog: Any, recalled: Any, n_items: Any, rows: Any, scores: Any
) -> None:
    found, found_scores = room_beside(recalled, n_items, rows, scores)
    rank_catalog(state, node, catalog, found, found_scores)
    merge(recalled, found, found_scores, rows, scores)


@by_default(rank_items_recalled)
def _rank_items_recalled(
    state: Any, node: Any, features: Any, offered: Any, recalled: Any, rows: Any, scores: Any
) -> None:
    found, found_scores = room_beside(recalled, offered.shape[0], rows, scores)
    rank_items(state, node, features, offered, found, found_scores)
    merge(recalled, found, found_scores, rows, scores)


@by_default(expect_click)
def _expect_nothing(state: Any, node: Any, features: Any, row: Any) -> Any:
    return 0.0


@by_default(note_share)
def _note_nothing(state: Any, share: Any) -> None:
    pass


@by_default(skip_list)
def _skip_nothing(state: Any, node: Any) -> None:
    pass


@implements(rank_catalog, ItemMemory)
def _rank_catalog(state: Any, node: Any, catalog: Any, rows: Any, scores: Any) -> None:
    state.recalled.n = 0
    if state.share > 0.0:
        recall(state, node, catalog)
    n = catalog.key.shape[0]
    rank_catalog_recalled(state.inside, node, catalog.items, state.recalled, n, rows, scores)


@implements(rank_items, ItemMemory)
def _rank_items(state: Any, node: Any, features: Any, offered: Any, rows: Any, scores: Any) -> None:
    state.recalled.n = 0
    if state.share > 0.0 and state.key[node, 0] != 0:
        recall(state, node, keyed(offered, features, offered))
    rank_items_recalled(state.inside, node, features, offered, state.recalled, rows, scores)


@kernel
def blend_expected(
    memory: ItemMemory, node: int, features: Any, rows: Ints, values: Floats
) -> None:
    """Put the record of each of some items into ``values``, the clicks expected without it."""
    for p in range(rows.shape[0]):
        slot = slot_of(memory, node, item_key(features, rows[p]))
        if slot >= 0:
            times = memory.shown[node, slot]
            mean = memory.clicked[node, slot] / times
            values[p] += shrinkage(times, memory.share) * (mean - values[p])


# -- learning ----------------------------------------------------------------------------------


@kernel
def _evaluate(memory: ItemMemory, expected: float, times: float, mean: float, y: float) -> None:
    """Add the squared error of every share at a repeated pair."""
    error, n = memory.error, SHARES.shape[0]
    cap = min(max(expected, 0.0), 1.0)
    for i in range(n):
        guess = cap + shrinkage(times, SHARES[i]) * (mean - cap)
        error[i] += (1.0 / WINDOW) * -error[i] + (y - guess) ** 2
    error[n] += 1.0 - error[n] / WINDOW


@kernel
def _select(memory: ItemMemory) -> float:
    """Return the share of least error; a larger one must be better by margin and lead."""
    error, best = memory.error, 0
    for i in range(1, SHARES.shape[0]):
        ahead = LEAD if best == 0 else 0.0
        if error[i] + ahead < (1.0 - MARGIN) * error[best]:
            best = i
    return SHARES[best]


@kernel
def _record(memory: ItemMemory, node: int, slot: int, key: Any, y: float) -> None:
    """Count an observation; a new item takes an empty slot or the one shown least recently."""
    if slot < 0:
        keys, last = memory.key[node], memory.last[node]
        slot = 0
        for s in range(keys.shape[0]):
            if keys[s] == 0:
                slot = s
                break
            if last[s] < last[slot]:
                slot = s
        keys[slot] = key
        memory.shown[node, slot] = 0
        memory.clicked[node, slot] = 0
    memory.shown[node, slot] += 1
    memory.clicked[node, slot] += y
    memory.last[node, slot] = memory.lists[node]


@kernel
def _forget(memory: ItemMemory, node: int) -> None:
    """Halve the records of a user; those of one observation are dropped.

    Clicks are rounded, but a record of clicks and passes stays one, or is dropped.
    """
    key, shown, clicked = memory.key[node], memory.shown[node], memory.clicked[node]
    kept = 0
    for slot in range(key.shape[0]):
        if key[slot] == 0:
            break
        word, before, clicks = key[slot], shown[slot], clicked[slot]
        key[slot] = 0
        times, mixed = before // 2, 0 < clicks < before
        clicks = (2 * clicks * times + before) // (2 * before)
        if mixed:
            clicks = min(max(clicks, 1), times - 1)
        if times > (1 if mixed else 0):
            key[kept], shown[kept], clicked[kept] = word, times, clicks
            memory.last[node, kept] = memory.last[node, slot]
            kept += 1


@kernel
def weighted(features: Any, row: int, root: float, items: Any, place: int) -> None:
    """Copy an item times ``root``; an item that is a number stays what it is."""
    if features.ndim == 1:
        items[place] = features[row]
    else:
        for f in range(features.shape[1]):
            items[place, f] = root * features[row, f]


@kernel
def room_for(features: Any, n: int) -> Any:
    """Return room for ``n`` items."""
    if features.ndim == 1:
        return np.empty(n, features.dtype)
    return np.empty((n, features.shape[1]))


@implements(learn, ItemMemory)
def _learn(state: Any, node: Any, features: Any, rows: Any, examined: Any, rewards: Any) -> None:
    t = state.n_lists
    state.n_lists += 1
    state.lists[node] += 1
    if state.half_life > 0 and state.lists[node] % state.half_life == 0:
        _forget(state, node)
    share, repeated = state.share, 0
    due = state.error[SHARES.shape[0]] < EVALUATED_FULLY or t % EVALUATED_EVERY == 0
    items, clicks, kept = room_for(features, examined), np.empty(examined), 0
    for p in range(examined):
        key = item_key(features, rows[p])
        slot = slot_of(state, node, key)
        times = state.shown[node, slot] if slot >= 0 else 0
        if times > 0 and due and state.last[node, slot] < state.lists[node]:
            mean = state.clicked[node, slot] / times
            expected = expect_click(state.inside, node, features, rows[p])
            _evaluate(state, expected, times, mean, rewards[p])
            repeated += 1
        weight = learned_weight(times, share, state.scales)
        if key != 0:
            _record(state, node, slot, key, rewards[p])
        if weight > LEAST_WEIGHT:
            root = math.sqrt(weight)
            weighted(features, rows[p], root, items, kept)
            clicks[kept] = root * rewards[p]
            kept += 1
    if repeated > 0:
        state.share = _select(state)
        note_share(state.inside, state.share)
    if kept > 0 or share == 0.0:  # then all of them, as they are, in a list as long as it was
        length = rows.shape[0] if share == 0.0 else kept
        learn(state.inside, node, items, np.arange(length), kept, clicks)
    else:
        skip_list(state.inside, node)


@implements(count_clusters, ItemMemory)
def _count_clusters(state: Any) -> Any:
    return count_clusters(state.inside)


@kernel
def restore_share(memory: ItemMemory) -> None:
    """Tell the policy inside of a share that was saved."""
    note_share(memory.inside, memory.share)
