"""What a round of CohortCascade costs: beside ClubCascade and ``X @ theta``, and by users.

``python benchmarks/cohort.py`` prints the two tables of docs/explain/cohort-cascade.md. One core;
keep the machine quiet. ``early``: the first 50,000 rounds, in which users look for their cohort;
``late``: the 50,000 after them; ``all``: both. The median of some seeds.
The second table tells rounds apart by how many lists a user has had: a round costs what it costs to
get to know its user. The machine has handed out the memory before: it does so when a page is first
written, which may take longer than a round and is shown apart. It takes five minutes.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from itertools import pairwise

import numpy as np

import clubcascade as cc

K, D = 4, 20
PART = 50_000
LISTS = (0, 5, 10, 20, 40, 80)
MOST_ROUNDS = 20_000_000


def product(features: np.ndarray, times: int = 20_000) -> float:
    """Microseconds of one ``X @ theta``."""
    theta = np.random.default_rng(0).random(features.shape[1])
    started = time.perf_counter()
    for _ in range(times):
        features @ theta
    return 1e6 * (time.perf_counter() - started) / times


def rounds(policy: cc.Policy, world: cc.environments.Synthetic, seed: int, number: int) -> float:
    """Microseconds of a round."""
    trace = cc.simulate(policy, world, rounds=number, k=K, seed=seed, every=number)
    return 1e6 * trace.seconds / number


def speed(repeats: int) -> None:
    """Print what a round costs, early, late and on the whole, with a catalogue."""
    both = " | ".join(f"{name} early | late | all" for name in ("ClubCascade", "CohortCascade"))
    print(f"| u | L | `X @ theta` | {both} |\n|" + "---:|" * 9)
    for n_users, n_items in ((40, 200), (200, 1000), (900, 1000)):
        world = cc.environments.Synthetic(
            n_users=n_users, n_clusters=5, n_items=n_items, n_features=D, seed=7
        )
        table = []
        for seed in range(2, 2 + repeats):
            row = [product(np.asarray(world.catalog.features))]
            club = cc.ClubCascade(n_features=D, users=range(n_users), beta=1.0, reg=4.0)
            for policy in (club, cc.CohortCascade(n_features=D)):
                rounds(policy.fresh(), world, 1, 100)  # compiles
                early = rounds(policy, world, seed, PART)
                late = rounds(policy, world, 1000 + seed, PART)
                row += [early, late, (early + late) / 2]
            table.append(row)
        cells = " | ".join(f"{cost:.1f}" for cost in np.median(table, axis=0))
        print(f"| {n_users} | {n_items} | {cells} |", flush=True)


def touch(policy: cc.CohortCascade) -> float:
    """Write to all memory of a policy; return how many seconds that takes."""
    started = time.perf_counter()
    own, remembered = policy._cohorts.arrays, policy._learner._arrays  # type: ignore[attr-defined]
    for array in (*own.values(), *remembered.values()):
        array += array.dtype.type(0)
    return time.perf_counter() - started


def flatness(n_users: int) -> None:
    """Print a row: what a round costs with so many users, by the lists that each has had."""
    world = cc.environments.Synthetic(
        n_users=n_users, n_clusters=5, n_items=200, n_features=D, seed=7
    )
    rounds(cc.CohortCascade(n_features=D), world, 1, 100)  # compiles
    table, touched = [], 0.0
    for seed in range(2, 2 + max(1, 20_000 // n_users)):
        policy = cc.CohortCascade(n_features=D, users=range(n_users))
        touched = touch(policy)
        table.append(
            [
                rounds(policy, world, 1000 * seed + last, (last - first) * n_users)
                for first, last in pairwise(LISTS)
                if last * n_users <= MOST_ROUNDS
            ]
        )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    cells = [f"{cost:.1f}" for cost in np.median(table, axis=0)]
    cells += ["-"] * (len(LISTS) - 1 - len(cells))
    print(f"| {n_users:,} | {memory:,.0f} | {touched:.2f} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print both tables, or one row of the second."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--users", type=int, help="one row of the second table")
    given = parser.parse_args()
    if given.users:
        flatness(given.users)
        return
    speed(given.repeats)
    lists = " | ".join(f"lists {first + 1} to {last}" for first, last in pairwise(LISTS))
    print(
        f"\n| users | memory, MiB | first write to memory, s | {lists} |\n|"
        + "---:|" * (2 + len(LISTS))
    )
    for n_users in (1_000, 10_000, 100_000, 1_000_000):  # each in a process: for its memory
        subprocess.run([sys.executable, __file__, "--users", str(n_users)], check=True)


if __name__ == "__main__":
    main()
