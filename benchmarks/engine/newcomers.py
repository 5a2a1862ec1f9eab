"""What a new user costs: its first round, the longest call of all, and memory."""

from __future__ import annotations

import statistics
import time
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from benchmarks.engine.clock import MICRO, SEED, K
from benchmarks.engine.process import Answer, Job, Part, now_mb
from benchmarks.engine.table import Column, ResultTable
from benchmarks.engine.worlds import FEATURES, crowd, paper_policy, sparse_policy
from clubcascade.core import Catalog, Policy
from clubcascade.policies.cohort_cascade import CohortCascade


def _cohorts(n_users: int) -> CohortCascade:
    return CohortCascade(n_features=FEATURES, users=range(n_users))


KINDS: dict[str, Any] = {
    "CohortCascade": _cohorts,
    "ClubCascade, complete": paper_policy,
    "ClubCascade, sparse": sparse_policy,
}


def _round(policy: Policy, user: Hashable, catalog: Catalog, click: int) -> tuple[float, float]:
    """Return the seconds of a recommendation and of an update."""
    started = time.perf_counter()
    rows = policy.recommend(user, catalog, K)
    between = time.perf_counter()
    policy.update(user, catalog[rows], click)
    return between - started, time.perf_counter() - between


def measure(kind: str, n_users: int, rounds: int, joins: int) -> Answer:
    """Play rounds of known users, some seen often, and then the first rounds of new ones."""
    catalog, rng = crowd(8, 200).catalog, np.random.default_rng(SEED)
    small = KINDS[kind](8)
    for user in range(32):  # compiled, with newcomers
        _round(small, user, catalog, user % K)
    policy = KINDS[kind](n_users)
    seen = rng.integers(n_users, size=min(n_users, max(rounds // 4, 1)))
    known = [
        _round(policy, int(rng.choice(seen)), catalog, int(rng.integers(K))) for _ in range(rounds)
    ]
    before = now_mb()
    new = [_round(policy, n_users + at, catalog, int(rng.integers(K))) for at in range(joins)]
    known_round = statistics.median(map(sum, known))
    new_round = statistics.median(map(sum, new))
    return {
        "policy": kind,
        "n_users": n_users,
        "joins": joins,
        "round": MICRO * known_round,
        "newcomer": MICRO * new_round,
        "ratio": new_round / known_round,
        "longest": 1e3 * max(map(max, new)),
        "before_mb": before,
        "after_mb": now_mb(),
    }


def jobs(quick: bool) -> list[Job]:
    """One process per policy and number of users."""
    sizes = {kind: [2_000, 8_000, 500_000] for kind in KINDS}
    sizes["ClubCascade, complete"] = [2_000, 8_000, 30_000]
    sizes["CohortCascade"].append(10_000_000)
    length = {"rounds": 2_000, "joins": 500} if quick else {"rounds": 20_000, "joins": 2_000}
    return [
        Job(f"{kind}, {n:,} users", measure, {"kind": kind, "n_users": n, **length})
        for kind, counts in sizes.items()
        for n in counts
    ]


def table(answers: Sequence[Answer]) -> ResultTable:
    """Compare the first round of a new user with one of a known user."""
    return ResultTable(
        "newcomers",
        "Newcomers (L=200, d=20)",
        "Known users play first, a few of them; then new users come, one after the other, and each "
        "plays its first round. *Ratio*: of the medians, a new user's first round and one of a "
        "known user; at most 3 is the aim. *Longest*: the longest call of all with a new user; at "
        "most 5 ms is the aim. *Memory* before and after the new users came.",
        (
            Column("policy", "policy"),
            Column("n_users", "known users"),
            Column("joins", "new users"),
            Column("round", "µs, round", 3),
            Column("newcomer", "µs, newcomer", 3),
            Column("ratio", "ratio", 2),
            Column("longest", "longest ms", 3),
            Column("before_mb", "memory MiB", 3),
            Column("after_mb", "after MiB", 3),
        ),
        tuple(answers),
    )


PART = Part("newcomers", jobs, table)
