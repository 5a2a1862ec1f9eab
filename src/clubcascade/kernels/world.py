"""Simulated users: arrivals, offered items, clicks, and expected rewards.

Everything is a pure function of (keys, round), so that compiled and interpreted runs,
and all policies, share the same random numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clubcascade.core import Floats, Ints
from clubcascade.kernels import counter_rng, ranking
from clubcascade.kernels.jit import Struct, kernel, struct


@struct
class World(Struct):
    """A table of items and their attraction probabilities for each kind of user.

    ``features`` (N x d); ``attraction`` (kinds x N); ``starts`` (first round of every phase but
    the first; empty: nothing changes); ``kind`` (phases x users); ``arrival`` (phases x users:
    cumulative shares; no columns: all come alike); ``stop`` (probability that a click at a
    position ends the session; one entry: the same everywhere); ``discount`` (what a click is worth
    at each position, never rising; empty: 1 everywhere); ``n_offered`` (items offered per round, 0
    for all of them); keys of the random numbers for arrivals, offers, clicks and stops.
    """

    features: Floats
    attraction: Floats
    starts: Ints
    kind: Ints
    arrival: Floats
    stop: Floats
    discount: Floats
    n_offered: int
    arrival_key: np.uint64
    offer_key: np.uint64
    click_key: np.uint64
    stop_key: np.uint64


@kernel
def phase_of(world: World, t: int) -> int:
    """Return the phase of round ``t``."""
    return int(np.searchsorted(world.starts, t, side="right"))


@kernel
def kind_of(world: World, t: int, user: int) -> int:
    """Return the kind that a user is of in round ``t``."""
    return world.kind[phase_of(world, t), user]


@kernel
def visitor(world: World, t: int) -> int:
    """Return the user who comes in round ``t``."""
    draw = counter_rng.uniform(world.arrival_key, t, 0)
    if world.arrival.shape[1] == 0:
        return int(draw * world.kind.shape[1])
    return int(np.searchsorted(world.arrival[phase_of(world, t)], draw, side="right"))


@kernel
def offer(world: World, t: int, rows: Ints) -> None:
    """Fill ``rows`` with the distinct items of round ``t``; the table's length is a power of 2.

    A random start and a random odd step walk the table without meeting an item twice.
    """
    n = np.uint64(world.features.shape[0])
    start = counter_rng.bits(world.offer_key, t, 0)
    step = counter_rng.bits(world.offer_key, t, 1) | np.uint64(1)
    for j in range(rows.shape[0]):
        rows[j] = np.int64((start + np.uint64(j) * step) & (n - np.uint64(1)))


@kernel
def stop_probability(world: World, position: int) -> float:
    """Probability that a click at this position ends the session."""
    return world.stop[min(position, world.stop.shape[0] - 1)]


@kernel
def respond(world: World, t: int, user: int, rows: Ints, rewards: Floats) -> int:
    """Simulate clicks on the list of table ``rows``: fill ``rewards``, return how many are known.

    Items after the last click are not observed; without a click all were examined.
    """
    attraction = world.attraction[kind_of(world, t, user)]
    for p in range(rows.shape[0]):
        rewards[p] = 0.0
    known = rows.shape[0]
    for p in range(rows.shape[0]):
        if counter_rng.uniform(world.click_key, t, rows[p]) < attraction[rows[p]]:
            rewards[p] = 1.0
            known = p + 1
            if counter_rng.uniform(world.stop_key, t, p) < stop_probability(world, p):
                break
    return known


@kernel
def discount_at(world: World, position: int) -> float:
    """What a click at this position is worth."""
    return world.discount[min(position, world.discount.shape[0] - 1)]


@kernel
def reward(world: World, rewards: Floats, known: int) -> float:
    """What the clicks of a round are worth: 1, or the discount of the first clicked position."""
    if rewards[known - 1] == 0.0:
        return 0.0
    if world.discount.shape[0] == 0:
        return 1.0
    first = 0
    while rewards[first] == 0.0:
        first += 1
    return discount_at(world, first)


@kernel
def _discounted_value(world: World, attractions: Any) -> float:
    """Expected worth of a list: the expected discount of the position that satisfies."""
    total = 0.0
    missed = 1.0
    for p in range(attractions.shape[0]):
        satisfied = stop_probability(world, p) * attractions[p]
        total += discount_at(world, p) * missed * satisfied
        missed *= 1.0 - satisfied
    return total


@kernel
def value(world: World, t: int, user: int, rows: Ints) -> float:
    """Probability that the user leaves the list satisfied; discounted, if positions are."""
    attraction = world.attraction[kind_of(world, t, user)]
    if world.discount.shape[0] > 0:
        return _discounted_value(world, attraction[rows])
    missed = 1.0
    for p in range(rows.shape[0]):
        missed *= 1.0 - stop_probability(world, p) * attraction[rows[p]]
    return 1.0 - missed


@kernel
def best_value(world: World, attractions: Floats, k: int) -> float:
    """Value of the best list of ``k``: the most attractive item where a click ends it most.

    With discounts neither these nor the stop probabilities rise, and the best list falls.
    """
    rows = np.empty(k, np.int64)
    best = np.empty(k)
    ranking.rank_scores(attractions, rows, best)
    if world.discount.shape[0] > 0:
        return _discounted_value(world, best)
    stops = np.empty(k)
    places = np.empty(k, np.int64)
    filled = 0
    for p in range(k):
        filled = ranking.insert(stops, places, filled, stop_probability(world, p), p)
    missed = 1.0
    for p in range(k):
        missed *= 1.0 - stops[p] * best[p]
    return 1.0 - missed
