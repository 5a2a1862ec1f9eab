"""One run of many rounds: does rounding pile up, does memory grow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.engine.clock import MICRO, SEED, K, pace
from benchmarks.engine.process import Answer, Job, Part, now_mb
from benchmarks.engine.table import Column, ResultTable
from benchmarks.engine.worlds import paper_policy, paper_world
from clubcascade.policies.club_cascade import ClubCascade
from clubcascade.simulation import simulate


def drift(policy: ClubCascade) -> float:
    """Return the largest entry of ``|M M_inv - I|`` over all models in use."""
    arrays = policy._learner.models.arrays
    d = arrays["gram"].shape[1]
    live = np.unique(policy.labels())
    matrix = arrays["gram"][live] + policy.reg * np.eye(d)
    return float(np.abs(matrix @ arrays["inverse"][live] - np.eye(d)).max())


def measure(rounds: int) -> Answer:
    """Play one run at u=40, L=200, and look at it a hundred times."""
    env = paper_world(40, 200)
    simulate(paper_policy(40), env, rounds=20, k=K, seed=SEED)  # compiled
    policy = paper_policy(40)
    seen: list[tuple[float, float | None]] = []

    def look(done: int) -> None:
        seen.append((drift(policy), now_mb()))

    seconds = pace(policy, env, rounds, look).whole
    memory = [mb for _, mb in seen if mb is not None]
    return {
        "rounds": rounds,
        "seconds": seconds * rounds,
        "microseconds": MICRO * seconds,
        "drift": max(found for found, _ in seen),
        "drift_end": seen[-1][0],
        "memory_first": memory[0] if memory else None,
        "memory_last": memory[-1] if memory else None,
    }


def jobs(quick: bool) -> list[Job]:
    """Run them one after the other; the longest is the one that counts."""
    lengths = (10_000, 100_000) if quick else (100_000, 1_000_000, 10_000_000)
    return [Job(f"{n:,} rounds", measure, {"rounds": n}) for n in lengths]


def table(answers: Sequence[Answer]) -> ResultTable:
    """Return drift and memory against the number of rounds."""
    return ResultTable(
        "rounds",
        "One long run (u=40, L=200, d=20, complete start)",
        "One run each, u=40, L=200, d=20, K=4, one core, looked at a hundred times. *Drift* is "
        "`max |M M_inv - I|` over all models in use: the largest ever seen, and at the end. "
        "*Memory* is that of the process at the first and at the last look.",
        (
            Column("rounds", "rounds"),
            Column("seconds", "seconds", 3),
            Column("microseconds", "µs a round", 3),
            Column("drift", "largest drift", 2),
            Column("drift_end", "at the end", 2),
            Column("memory_first", "memory MiB, first", 4),
            Column("memory_last", "last", 4),
        ),
        tuple(answers),
    )


PART = Part("rounds", jobs, table)
