"""Where CohortCascade's rounds cost more: early, with many features, and with long lists.

``python benchmarks/cohort_phases.py`` prints a table: microseconds of a round of ClubCascade and of
CohortCascade, in the first tenth of a run and in its last half, and the same in ``X @ theta`` of
the same matrix. One core; keep the machine quiet. The least of some repetitions, policies taking
turns. ``--only`` picks rows by their names.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import clubcascade as cc

ROWS = {  # users, items, features, length of lists, rounds
    "u=40": (40, 200, 20, 4, 50_000),
    "u=200": (200, 1000, 20, 4, 50_000),
    "u=900": (900, 1000, 20, 4, 50_000),
    "u=10000": (10_000, 1000, 20, 4, 50_000),
    "d=50": (200, 1000, 50, 4, 20_000),
    "d=100": (200, 1000, 100, 4, 8_000),
    "d=200": (200, 1000, 200, 4, 3_000),
    "k=50": (200, 1000, 20, 50, 20_000),
}


def product(features: np.ndarray, times: int = 2_000) -> float:
    """Microseconds of one ``X @ theta``."""
    theta = np.random.default_rng(0).random(features.shape[1])
    started = time.perf_counter()
    for _ in range(times):
        features @ theta
    return 1e6 * (time.perf_counter() - started) / times


def phases(policy: cc.Policy, world: cc.environments.Synthetic, k: int, rounds: int) -> list[float]:
    """Microseconds of a round in the first tenth, and in the last half."""
    parts = (rounds // 10, rounds // 2 - rounds // 10, rounds // 2)
    seconds = [
        cc.simulate(policy, world, rounds=part, k=k, seed=seed, every=part).seconds
        for seed, part in enumerate(parts)
    ]
    return [1e6 * seconds[0] / parts[0], 1e6 * seconds[2] / parts[2]]


def row(name: str, repeats: int) -> None:
    """Print one row."""
    n_users, n_items, d, k, rounds = ROWS[name]
    world = cc.environments.Synthetic(
        n_users=n_users, n_clusters=5, n_items=n_items, n_features=d, seed=7
    )
    club = cc.ClubCascade(n_features=d, users=range(n_users), beta=1.0, reg=4.0)
    policies = (club, cc.CohortCascade(n_features=d, users=range(n_users)))
    for policy in policies:
        cc.simulate(policy.fresh(), world, rounds=50, k=k, seed=1)  # compiles
    table = [
        [product(np.asarray(world.catalog.features))]
        + [cost for policy in policies for cost in phases(policy.fresh(), world, k, rounds)]
        for _ in range(repeats)
    ]
    least = np.min(table, axis=0)
    cells = " | ".join(f"{cost:.1f} ({cost / least[0]:.1f})" for cost in least[1:])
    print(f"| {name} | {least[0]:.1f} | {cells} | {least[4] / least[2]:.1f} |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=list(ROWS), choices=list(ROWS))
    given = parser.parse_args()
    both = " | ".join(f"{name} first tenth | late" for name in ("ClubCascade", "CohortCascade"))
    print(f"| | `X @ theta` | {both} | late, ratio |\n|---|" + "---:|" * 6)
    for name in given.only:
        row(name, given.repeats)


if __name__ == "__main__":
    main()
