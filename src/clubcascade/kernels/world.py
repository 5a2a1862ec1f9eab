"""Simulated users: who comes, what may be shown, what they click, and what that is worth.

Everything is a pure function of (keys, round), so that a compiled run and a run in Python meet
the same world, and so does every policy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clubcascade.core import Floats, Ints, Words
from clubcascade.kernels import luck, ranking
from clubcascade.kernels.jit import Struct, StructType, kernel, struct


class WorldType(StructType):
    """Type of :class:`World`."""


@struct(WorldType)
class World(Struct):
    """A table of items and what each kind of user thinks of them.

    ``features`` (N x d); ``attraction`` (kinds x N); ``kind`` of each user; ``arrival``
    (cumulative shares of the users; empty: all alike); ``stop`` (probability that a click at a
    position ends the look; one entry: the same everywhere); ``size`` = [items offered per round,
    0 for all of them]; ``keys`` = keys of arrivals, offers, clicks and stops.
    """

    features: Floats
    attraction: Floats
    kind: Ints
    arrival: Floats
    stop: Floats
    size: Ints
    keys: Words


@kernel
def make(*fields: Any) -> World:
    """Bind arrays into one structure that the kernels take."""
    return World(*fields)


@kernel
def visitor(world: World, t: int) -> int:
    """Return the user who comes in round ``t``."""
    draw = luck.uniform(world.keys[0], t, 0)
    if world.arrival.shape[0] == 0:
        return int(draw * world.kind.shape[0])
    return int(np.searchsorted(world.arrival, draw, side="right"))


@kernel
def offer(world: World, t: int, rows: Ints) -> None:
    """Fill ``rows`` with the distinct items of round ``t``; the table's length is a power of 2.

    A random start and a random odd step walk the table without meeting an item twice.
    """
    n = np.uint64(world.features.shape[0])
    start = luck.bits(world.keys[1], t, 0)
    step = luck.bits(world.keys[1], t, 1) | np.uint64(1)
    for j in range(rows.shape[0]):
        rows[j] = np.int64((start + np.uint64(j) * step) & (n - np.uint64(1)))


@kernel
def stop_chance(world: World, position: int) -> float:
    """Probability that a click at this position ends the look."""
    return world.stop[min(position, world.stop.shape[0] - 1)]


@kernel
def respond(world: World, t: int, user: int, rows: Ints, rewards: Floats) -> int:
    """Let the user look at the list of table ``rows``; fill ``rewards``, return how many are known.

    What comes after the last click is unknown; without a click everything was looked at.
    """
    attraction = world.attraction[world.kind[user]]
    for p in range(rows.shape[0]):
        rewards[p] = 0.0
    known = rows.shape[0]
    for p in range(rows.shape[0]):
        if luck.uniform(world.keys[2], t, rows[p]) < attraction[rows[p]]:
            rewards[p] = 1.0
            known = p + 1
            if luck.uniform(world.keys[3], t, p) < stop_chance(world, p):
                break
    return known


@kernel
def value(world: World, user: int, rows: Ints) -> float:
    """Probability that the user leaves the list satisfied."""
    attraction = world.attraction[world.kind[user]]
    missed = 1.0
    for p in range(rows.shape[0]):
        missed *= 1.0 - stop_chance(world, p) * attraction[rows[p]]
    return 1.0 - missed


@kernel
def best_value(world: World, attractions: Floats, k: int) -> float:
    """Value of the best list of ``k``: the most attractive item where a click ends it most."""
    rows = np.empty(k, np.int64)
    best = np.empty(k)
    ranking.rank_scores(attractions, rows, best)
    stops = np.empty(k)
    places = np.empty(k, np.int64)
    filled = 0
    for p in range(k):
        filled = ranking.insert(stops, places, filled, stop_chance(world, p), p)
    missed = 1.0
    for p in range(k):
        missed *= 1.0 - stops[p] * best[p]
    return 1.0 - missed
