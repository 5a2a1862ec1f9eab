"""Where the time of a round goes, by leaving parts of the work out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from benchmarks.engine.clock import MICRO, SEED, K, median_of, pace, product_seconds
from benchmarks.engine.process import Answer, Job, Part
from benchmarks.engine.speed import SIZES
from benchmarks.engine.table import Column, ResultTable
from benchmarks.engine.worlds import BETA, FEATURES, REG, paper_policy, paper_world
from clubcascade.core import Policy
from clubcascade.policies.known_clusters import KnownClusters
from clubcascade.policies.random import Random
from clubcascade.simulation import simulate


def measure(n_users: int, n_items: int, rounds: int, repeats: int) -> Answer:
    """Time runs that each do more of the work of CLUB-cascade than the one before."""
    env = paper_world(n_users, n_items)
    whole = [0] * n_users
    ladder: dict[str, Callable[[], Policy]] = {
        "world": lambda: Random(seed=SEED),
        "model": lambda: KnownClusters(
            n_features=FEATURES, partition=dict(enumerate(whole)), beta=BETA, reg=REG
        ),
        "compare": lambda: paper_policy(n_users, alpha=math.inf),
        "club": lambda: paper_policy(n_users),
    }
    times: dict[str, float] = {}
    for name, make in ladder.items():

        def settled(make: Callable[[], Policy] = make) -> float:
            policy = make()
            simulate(policy, env, rounds=10 * n_users, k=K, seed=SEED + 1)
            return pace(policy, env, rounds).whole

        times[name] = MICRO * median_of(repeats, settled)
    return {
        "n_users": n_users,
        "n_items": n_items,
        "rounds": rounds,
        "world": times["world"],
        "model": times["model"] - times["world"],
        "compare": times["compare"] - times["model"],
        "split": times["club"] - times["compare"],
        "club": times["club"],
        "product": MICRO * product_seconds(env.catalog._rows),
    }


def jobs(quick: bool) -> list[Job]:
    """One process per size."""
    return [
        Job(
            f"parts of a round, u={n_users} L={n_items}",
            measure,
            {
                "n_users": n_users,
                "n_items": n_items,
                "rounds": 5_000 if quick else 50_000,
                "repeats": 1 if quick else 5,
            },
        )
        for n_users, n_items in SIZES
    ]


def table(answers: Sequence[Answer]) -> ResultTable:
    """Return the parts of a round."""
    return ResultTable(
        "profile",
        "Where the time of a round goes (µs, simulate, fixed catalogue)",
        "Differences between runs of which each does more of the work, after every user has come "
        "about ten times: a random list in the same world; one model for all users (ranking and "
        "rank-one steps); CLUB-cascade that never cuts (the user's own statistics, and comparing "
        "with all neighbours); CLUB-cascade as it is (cutting and splitting, more models to serve, "
        "fewer neighbours to compare with: can be negative).",
        (
            Column("n_users", "u"),
            Column("n_items", "L"),
            Column("world", "world and log", 3),
            Column("model", "ranking and model", 3),
            Column("compare", "own statistics, comparing", 3),
            Column("split", "cuts, splits", 3),
            Column("club", "whole round", 3),
            Column("product", "`X @ theta`", 3),
            Column("rounds", "rounds"),
        ),
        tuple(answers),
    )


PART = Part("profile", jobs, table)
