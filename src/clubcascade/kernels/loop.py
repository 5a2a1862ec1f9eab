"""The loop of a simulation, compiled once per type of state: a fixed table, or fresh items."""

from __future__ import annotations

from typing import Any

import numpy as np

from clubcascade.core import Floats, Ints
from clubcascade.kernels import world as worlds
from clubcascade.kernels.jit import Struct, kernel, struct
from clubcascade.kernels.protocol import count_clusters, learn, rank_catalog, rank_items

VISITS = (1, 5, 20, 100)
"""A user's first list, lists 2 to 5, 6 to 20, 21 to 100, and all later ones are summed apart."""


@struct
class RunLog(Struct):
    """The record of a run: one entry every so many rounds, and one of the last round.

    ``reward``, ``regret`` and ``clusters`` are the entries; the totals are those so far.
    ``visits`` counts each user's lists; ``visit_regret`` and ``visit_rounds`` (phases of the world
    x groups of ``VISITS``) are sums over rounds by the number of the user's list.
    """

    reward: Floats
    regret: Floats
    clusters: Ints
    visits: Ints
    visit_regret: Floats
    visit_rounds: Ints
    every: int
    rounds: int
    total_reward: float
    total_regret: float


@kernel
def record(
    log: RunLog, t: int, phase: int, visit: int, reward: float, regret: float, clusters: int
) -> None:
    """Record round ``t`` of a phase of the world, which is list number ``visit`` of its user."""
    group = 0
    while group < len(VISITS) and visit > VISITS[group]:
        group += 1
    log.visit_regret[phase, group] += regret
    log.visit_rounds[phase, group] += 1
    log.total_reward += reward
    log.total_regret += regret
    if (t + 1) % log.every == 0 or t + 1 == log.rounds:
        entry = t // log.every
        log.reward[entry] = log.total_reward
        log.regret[entry] = log.total_regret
        log.clusters[entry] = clusters


@kernel
def run_table(
    state: Any,
    world: Any,
    catalog: Any,
    shown: Any,
    node: Any,
    best: Floats,
    k: int,
    first: int,
    last: int,
    log: RunLog,
) -> int:
    """Run rounds ``first`` to ``last`` on the whole table; stop early at a user without a node.

    ``shown`` is what the policy learns from: the table's features, or its items' own numbers.
    """
    rows = np.empty(k, np.int64)
    scores = np.empty(k)
    rewards = np.empty(k)
    for t in range(first, last):
        user = worlds.visitor(world, t)
        if node[user] < 0:
            return t
        rank_catalog(state, node[user], catalog, rows, scores)
        examined = worlds.respond(world, t, user, rows, rewards)
        learn(state, node[user], shown, rows, examined, rewards)
        phase = worlds.phase_of(world, t)
        loss = best[world.kind[phase, user]] - worlds.value(world, t, user, rows)
        reward = worlds.reward(world, rewards, examined)
        log.visits[user] += 1
        record(log, t, phase, log.visits[user], reward, loss, count_clusters(state))
    return last


@kernel
def run_fresh(state: Any, world: Any, node: Any, k: int, first: int, last: int, log: RunLog) -> int:
    """Run rounds ``first`` to ``last``, each with its own items; stop early as ``run_table``."""
    n = world.n_offered
    offered = np.empty(n, np.int64)
    attractions = np.empty(n)
    places = np.empty(k, np.int64)
    rows = np.empty(k, np.int64)
    scores = np.empty(k)
    rewards = np.empty(k)
    for t in range(first, last):
        user = worlds.visitor(world, t)
        if node[user] < 0:
            return t
        worlds.offer(world, t, offered)
        phase = worlds.phase_of(world, t)
        kind = world.kind[phase, user]
        for j in range(n):
            attractions[j] = world.attraction[kind, offered[j]]
        rank_items(state, node[user], world.features, offered, places, scores)
        for p in range(k):
            rows[p] = offered[places[p]]
        examined = worlds.respond(world, t, user, rows, rewards)
        learn(state, node[user], world.features, rows, examined, rewards)
        loss = worlds.best_value(world, attractions, k) - worlds.value(world, t, user, rows)
        reward = worlds.reward(world, rewards, examined)
        log.visits[user] += 1
        record(log, t, phase, log.visits[user], reward, loss, count_clusters(state))
    return last
