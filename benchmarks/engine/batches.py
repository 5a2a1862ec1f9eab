"""Logs of events and lists for many users, in one call."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.engine.clock import SEED, K, median_of, seconds_of
from benchmarks.engine.machine import cores
from benchmarks.engine.process import ONE_THREAD, Answer, Job, Part
from benchmarks.engine.table import Column, ResultTable
from benchmarks.engine.worlds import paper_policy, paper_world
from clubcascade.core import Ints
from clubcascade.policies.club_cascade import ClubCascade
from clubcascade.simulation import simulate

EVENTS_TARGET = 200_000
"""Least events a second that ``update_many`` digests at u=1000, d=20."""


def log_of(
    n_users: int, n_items: int, events: int
) -> tuple[ClubCascade, Any, list[int], Ints, list[int | None]]:
    """Return a policy's log: a new policy, the catalogue, users, lists and clicks, in order.

    A run of the compiled policy teaches it; then it ranks for random users, who click.
    """
    env = paper_world(n_users, n_items)
    teacher = paper_policy(n_users)
    simulate(teacher, env, rounds=max(events // 2, 1), k=K, seed=SEED)
    env.reset(SEED + 1)
    users, rankings = [], np.empty((events, K), np.intp)
    clicks: list[int | None] = []
    for event in range(events):
        user, catalog = env.next_user()
        rankings[event] = teacher.recommend(user, catalog, K)
        clicked = env.respond(user, rankings[event]).clicks
        users.append(user)
        clicks.append(clicked[0] if clicked else None)
    return paper_policy(n_users), env.catalog, users, rankings, clicks


def updates(n_users: int, events: int, repeats: int) -> Answer:
    """Measure ``update_many`` against single calls, on one log."""
    fresh, catalog, users, rankings, clicks = log_of(n_users, 1000, events)
    fresh.fresh().update_many(users[:3], catalog[rankings[:3]], clicks[:3])  # compiled
    policies = iter([fresh.fresh() for _ in range(repeats)])
    many = median_of(
        repeats,
        lambda: seconds_of(lambda: next(policies).update_many(users, catalog[rankings], clicks)),
    )

    def one_by_one() -> None:
        policy = fresh.fresh()
        for user, ranking, click in zip(users, rankings, clicks, strict=True):
            policy.update(user, catalog[ranking], click)

    single = seconds_of(one_by_one)
    return {
        "what": f"update_many, u={n_users:,}",
        "events": events,
        "per_second": events / many,
        "single_per_second": events / single,
        "speed_up": single / many,
        "target": f"≥ {EVENTS_TARGET:,} a second",
        "met": "met" if events / many >= EVENTS_TARGET else "not met",
    }


def lists(n_users: int, n_items: int, batch: int, threads: int, repeats: int) -> Answer:
    """Measure ``recommend_many`` on so many cores, against single calls.

    Nobody shares a cluster (alpha 0): otherwise most lists of a batch would be the same list.
    """
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    env = paper_world(n_users, n_items)
    policy = paper_policy(n_users, alpha=0.0)
    simulate(policy, env, rounds=20 * n_users, k=K, seed=SEED)
    users = np.random.default_rng(SEED).integers(n_users, size=batch).tolist()
    answer = policy.recommend_many(users, env.catalog, K)
    single = seconds_of(lambda: [policy.recommend(user, env.catalog, K) for user in users])
    many = median_of(
        repeats, lambda: seconds_of(lambda: policy.recommend_many(users, env.catalog, K))
    )
    alone = [policy.recommend(user, env.catalog, K) for user in users[:100]]
    return {
        "what": f"recommend_many, u={n_users:,} L={n_items:,}, {threads} core"
        + ("s" if threads > 1 else ""),
        "threads": threads,
        "events": batch,
        "per_second": batch / many,
        "single_per_second": batch / single,
        "speed_up": single / many,
        "target": None,
        "met": "same lists" if np.array_equal(answer[:100], alone) else "lists differ",
    }


def jobs(quick: bool) -> list[Job]:
    """Learn from a log; rank for a crowd on one core, and on two where there are two."""
    events = 5_000 if quick else 200_000
    found: list[Job] = [
        Job(
            "update_many",
            updates,
            {"n_users": 1000, "events": events, "repeats": 1 if quick else 3},
        )
    ]
    for threads in range(1, min(2, cores()) + 1):
        found.append(
            Job(
                f"recommend_many, {threads} core{'s' if threads > 1 else ''}",
                lists,
                {
                    "n_users": 200 if quick else 1000,
                    "n_items": 1000 if quick else 10_000,
                    "batch": 2_000 if quick else 10_000,
                    "threads": threads,
                    "repeats": 3 if quick else 5,
                },
                {**ONE_THREAD, "NUMBA_NUM_THREADS": str(threads)},
            )
        )
    return found


def table(answers: Sequence[Answer]) -> ResultTable:
    """Return events and lists a second, and what a second core brings."""
    rows = [dict(answer) for answer in answers]
    alone = next((row["per_second"] for row in rows if row.get("threads") == 1), None)
    for row in rows:
        if alone is not None and row.get("threads", 1) > 1:
            row["to_one_core"] = row["per_second"] / alone
    return ResultTable(
        "batches",
        "Batches (K=4, d=20, complete start)",
        "K=4, d=20, complete start. *Single*: the same calls one by one, from Python, on the same "
        "cores. `recommend_many` ranks once per cluster; here every user is one (alpha 0): the "
        "most work.",
        (
            Column("what", "call"),
            Column("events", "events"),
            Column("per_second", "a second", 3),
            Column("single_per_second", "single, a second", 3),
            Column("speed_up", "speed-up", 2),
            Column("to_one_core", "to one core", 2),
            Column("target", "target"),
            Column("met", ""),
        ),
        tuple(rows),
    )


PART = Part("batches", jobs, table)
