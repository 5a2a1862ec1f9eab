"""How the time of a round grows with users, items and features."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Sequence

from benchmarks.engine.clock import MICRO, SEED, K, median_of, pace, product_seconds
from benchmarks.engine.process import Answer, Job, Part
from benchmarks.engine.table import Column, ResultTable
from benchmarks.engine.worlds import crowd, paper_policy, paper_world, sparse_policy
from clubcascade.simulation import simulate


def users(n_users: int, rounds: int, repeats: int) -> Answer:
    """Measure a sparse start of ``n_users`` users, mean degree 20, 200 items."""
    env = crowd(n_users, 200)
    simulate(sparse_policy(8), crowd(8, 200), rounds=20, k=K, seed=SEED)  # compiled
    started = time.perf_counter()
    policy = sparse_policy(n_users, alpha=math.inf)
    built = time.perf_counter() - started
    others = (sparse_policy(n_users, alpha=math.inf) for _ in range(repeats - 1))
    paces = [pace(each, env, rounds) for each in (policy, *others)]
    return {
        "n_users": n_users,
        "rounds": rounds,
        "build_seconds": built,
        "seen": int(policy.compiled.n_rows),
        "clusters": policy._learner.graph.n_components,
        "microseconds": MICRO * statistics.median(found.whole for found in paces),
        "late": MICRO * statistics.median(found.late for found in paces),
    }


def items(n_items: int, rounds: int, repeats: int) -> Answer:
    """Measure a fixed catalogue of ``n_items``, 40 users, complete start."""
    env = paper_world(40, n_items)
    simulate(paper_policy(8), paper_world(8, 50), rounds=20, k=K, seed=SEED)  # compiled
    seconds = median_of(repeats, lambda: pace(paper_policy(40), env, rounds).whole)
    product = product_seconds(env.catalog._rows)
    return {
        "n_items": n_items,
        "rounds": rounds,
        "microseconds": MICRO * seconds,
        "product": MICRO * product,
        "products": seconds / product,
        "products_met": "met" if seconds <= 3 * product else "not met",
    }


def features(n_features: int, rounds: int, repeats: int) -> Answer:
    """Measure ``n_features``, 40 users, 200 items, complete start."""
    env = paper_world(40, 200, n_features)
    simulate(paper_policy(40, n_features), env, rounds=20, k=K, seed=SEED)  # compiled
    policies = (paper_policy(40, n_features) for _ in range(repeats))
    seconds = median_of(repeats, lambda: pace(next(policies), env, rounds).whole)
    return {"n_features": n_features, "rounds": rounds, "microseconds": MICRO * seconds}


def slope(now: Answer, before: Answer | None, size: str) -> float | None:
    """Return the exponent of the growth since the row before; None for the first.

    >>> slope({"n": 20, "microseconds": 8.0}, {"n": 10, "microseconds": 2.0}, "n")
    2.0
    """
    if before is None:
        return None
    ratio = math.log(now["microseconds"] / before["microseconds"])
    return ratio / math.log(now[size] / before[size])


def users_jobs(quick: bool) -> list[Job]:
    """One process per number of users, so that each has a peak of memory of its own."""
    counts = (1_000, 10_000, 100_000) if quick else (1_000, 10_000, 100_000, 1_000_000)
    return [
        Job(
            f"{n:,} users",
            users,
            {
                "n_users": n,
                "rounds": max(20_000 if quick else 200_000, (1 if quick else 2) * n),
                "repeats": 1 if quick or n > 10_000 else 3,
            },
        )
        for n in counts
    ]


def items_jobs(quick: bool) -> list[Job]:
    """One process per size of the catalogue."""
    counts = (200, 1_000, 10_000) if quick else (200, 1_000, 10_000, 30_000, 100_000)
    return [
        Job(
            f"{n:,} items",
            items,
            {"n_items": n, "rounds": 5_000 if quick else 20_000, "repeats": 1 if quick else 3},
        )
        for n in counts
    ]


def features_jobs(quick: bool) -> list[Job]:
    """One process per number of features."""
    counts = (1, 4, 16, 64) if quick else (1, 4, 16, 20, 64, 128, 256)
    return [
        Job(
            f"{d} features",
            features,
            {
                "n_features": d,
                "rounds": (3_000 if quick else 20_000) if d <= 64 else 5_000,
                "repeats": 1 if quick else 3,
            },
        )
        for d in counts
    ]


def users_table(answers: Sequence[Answer]) -> ResultTable:
    """Compare every number of users with the first."""
    first = answers[0]["microseconds"]
    return ResultTable(
        "users",
        "A round against the number of users (sparse start, mean degree 20, L=200, d=20)",
        "Sparse start of mean degree 20, L=200, d=20, K=4, one core. Every edge is tested in every "
        "round of its users and none is cut (alpha is infinite), so that all sizes have the same "
        "degree. *Memory* is the peak of the "
        "process, Python and compiler included. A user's first round is the dear one: it meets "
        "memory that nobody has touched; the *last fifth* of the rounds has fewer of them. At "
        "most 2.5 times the round of 1,000 users is the aim.",
        (
            Column("n_users", "users"),
            Column("microseconds", "µs", 3),
            Column("ratio", "to the first", 2),
            Column("late", "µs, last fifth", 3),
            Column("peak_mb", "memory MiB", 3),
            Column("build_seconds", "start s", 2),
            Column("rounds", "rounds"),
            Column("seen", "users seen"),
            Column("clusters", "clusters at the end"),
        ),
        tuple({**row, "ratio": row["microseconds"] / first} for row in answers),
    )


def items_table(answers: Sequence[Answer]) -> ResultTable:
    """Compare every size with the bare product of that size."""
    return ResultTable(
        "items",
        "A round against the number of items (u=40, d=20, complete start)",
        "Fixed catalogue, u=40, d=20, K=4, complete start, one core. At most 3 times `X @ theta` "
        "is the aim from 1,000 items on; 200 are shown for the growth.",
        (
            Column("n_items", "items"),
            Column("microseconds", "µs", 3),
            Column("product", "`X @ theta` µs", 3),
            Column("products", "in `X @ theta`", 2),
            Column("products_met", "≤ 3"),
            Column("peak_mb", "memory MiB", 3),
            Column("rounds", "rounds"),
        ),
        tuple(
            {**row, "products_met": row["products_met"] if row["n_items"] >= 1000 else None}
            for row in answers
        ),
    )


def features_table(answers: Sequence[Answer]) -> ResultTable:
    """Show the growth from row to row."""
    before = (None, *answers)
    rows = tuple(
        {**row, "slope": slope(row, old, "n_features")}
        for row, old in zip(answers, before, strict=False)
    )
    return ResultTable(
        "features",
        "A round against the number of features (u=40, L=200, complete start)",
        "Fixed catalogue, u=40, L=200, K=4, complete start, one core. *Exponent*: of d, since the "
        "row above; the arithmetic of a round grows as d².",
        (
            Column("n_features", "features"),
            Column("microseconds", "µs", 3),
            Column("slope", "exponent", 2),
            Column("peak_mb", "memory MiB", 3),
            Column("rounds", "rounds"),
        ),
        rows,
    )


USERS = Part("users", users_jobs, users_table)
ITEMS = Part("items", items_jobs, items_table)
FEATURES = Part("features", features_jobs, features_table)
