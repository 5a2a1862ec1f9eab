"""What the constants of CohortCascade buy: regret with another value, or without one.

``python benchmarks/constants.py`` prints a row per variant: the change of the mean regret in
percent, and its standard error, paired by seed. ``--jester FILE`` adds a world of real clicks (200
users of ``ratings.npz``). Each variant is a process that compiles its own kernels, about a minute;
``--only`` takes some of them, by a part of their names.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

SEEDS = range(500, 512)
SOURCE = Path(__file__).parents[1] / "src" / "clubcascade" / "kernels" / "cohort_constants.py"
NONE, ALWAYS = 1e-9, 1e9
VARIANTS: dict[str, dict[str, float]] = {
    "as it is": {},
    "users around a cohort vary 4 times as much": {"WITHIN_VARIANCE": 1 / 250},
    "cohorts around everyone vary 4 times as much": {"BETWEEN_VARIANCE": 1 / 8},
    "initial noise 1/4": {"INITIAL_NOISE": 0.25},
    "noise over 5,000 observations": {"NOISE_DECAY": 1 - 1 / 5000},
    "no lowest noise": {"LOWEST_NOISE": 1e-12},
    "posterior over cohorts: margin as of predictors": {"MIXTURE_MARGIN": 0.001},
    "no head start": {"HEAD_START_OBSERVATIONS": NONE},
    "head start for ever": {"HEAD_START_OBSERVATIONS": ALWAYS},
    "no margin": {"MARGIN": 0.0},
    "no tolerance": {"TOLERANCE": 0.0, "EARLY_TOLERANCE": 0.0},
    "no early tolerance": {"EARLY_TOLERANCE": 0.0},
    "tolerance whole at once": {"TOLERANCE_OBSERVATIONS": 0.0},
    "every list evaluated": {"EVALUATED_FULLY": ALWAYS},
    "window 5,000": {"SHORTEST_WINDOW": 5000.0},
    "window 2,000": {"SHORTEST_WINDOW": 2000.0, "LONGEST_WINDOW": 2000.0},
    "bins inherit nothing": {"INHERITED_OBSERVATIONS": 0.0},
    "bins inherit 1,000 observations": {"INHERITED_OBSERVATIONS": 1000.0},
    "first assignment at 5": {"FIRST_ASSIGNMENT": 5},
    "splits as often as reassignments": {"SPLIT_GROWTH": 1.1},
    "reassignments as rare as splits": {"REASSIGNMENT_GROWTH": 1.2},
    "all mergers tested": {"MERGE_RATE": 1.0},
    "merger evidence 10": {"MERGE_EVIDENCE": 10.0},
    "one in ten reassigned at least": {"LOWEST_MOVE_RATE": 0.1, "MOVE_RATE_STEP": 0.1},
    "8 iterations of a split": {"SPLIT_ITERATIONS": 8},
    "2 iterations of a split": {"SPLIT_ITERATIONS": 2},
    "one scored candidate": {"SCORED_CANDIDATES": 1},
    "draws not narrowed where items are remembered": {"REMEMBERED_EXPLORE": 1.0},
    "shortlist of two a position": {"SHORTLIST_FACTOR": 2},
    "sequential at any precision": {"LARGEST_SEQUENTIAL_PRECISION": 256.0},
}


def override(values: dict[str, float]) -> None:
    """Change constants before any kernel is imported."""
    name = "clubcascade.kernels.cohort_constants"
    spec = importlib.util.spec_from_file_location(name, SOURCE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for constant, value in values.items():
        assert hasattr(module, constant), constant
        setattr(module, constant, value)
    sys.modules[name] = module


def package() -> Any:
    """Import the package, after constants were changed."""
    return importlib.import_module("clubcascade")


def jester(path: str, seed: int, n_users: int = 200) -> Any:
    """Return a world of users whose opinion of all jokes is known; features are from others."""
    with np.load(path) as data:
        ratings = data["ratings"]
    order = np.random.default_rng(seed).permutation(np.flatnonzero(~np.isnan(ratings).any(axis=1)))
    liked, past = (ratings[part] >= 5 for part in (order[:n_users], order[n_users:]))
    _, values, directions = np.linalg.svd(past.astype(float), full_matrices=False)
    features = (values[:20, None] * directions[:20]).T
    return package().environments.Matrix(
        liked.astype(float), features / np.linalg.norm(features, axis=1).max()
    )


def measured(path: str, n_seeds: int, rounds: int) -> dict[str, list[float]]:
    """Return the regret of every world and seed, after a tenth of the rounds and at the end."""
    cc = package()

    def synthetic(n_users: int, n_clusters: int) -> Any:
        return lambda seed: cc.environments.Synthetic(
            n_users=n_users,
            n_clusters=n_clusters,
            n_items=200,
            n_features=20,
            gap="orthogonal" if n_clusters > 1 else 0.0,
            seed=seed,
        )

    worlds = {
        "5 clusters, u=40": synthetic(40, 5),
        "5 clusters, u=200": synthetic(200, 5),
        "one cluster, u=40": synthetic(40, 1),
        "20 users alone": synthetic(20, 20),
    }
    if path:
        worlds["Jester, u=200"] = lambda seed: jester(path, seed)
    found: dict[str, list[float]] = {}
    for name, world in worlds.items():
        for seed in SEEDS[:n_seeds]:
            env = world(seed)
            policy = cc.CohortCascade(n_features=20, seed=seed)
            regret = cc.simulate(policy, env, rounds=rounds, k=4, seed=seed).regret
            assert regret is not None
            for when in (rounds // 10, rounds):
                found.setdefault(f"{name}, {when:,}", []).append(float(regret[when - 1]))
    return found


def in_process(variant: str, options: argparse.Namespace) -> dict[str, list[float]]:
    """Measure a variant in a process with a cache of its own."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, __file__, "--one", variant, "--jester", options.jester]
        command += ["--seeds", str(options.seeds), "--rounds", str(options.rounds)]
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    found: dict[str, list[float]] = json.loads(done.stdout)
    return found


def change(values: list[float], base: list[float]) -> str:
    """Return the mean of paired differences and its standard error, in percent of the mean."""
    n, mean = len(base), sum(base) / len(base)
    off = [one - other for one, other in zip(values, base, strict=True)]
    shift = sum(off) / n
    error = math.sqrt(sum((each - shift) ** 2 for each in off) / max(n - 1, 1) / n)
    return f"{100 * shift / mean:+.0f} ± {100 * error / mean:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jester", default="", help="ratings.npz")
    parser.add_argument("--only", default="", help="variants with this in their names")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="how many, from 500 on")
    parser.add_argument("--rounds", type=int, default=20_000)
    parser.add_argument("--one", default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        override(VARIANTS[options.one])
        print(json.dumps(measured(options.jester, options.seeds, options.rounds)))
        return
    base = in_process("as it is", options)
    print("| change of regret, % | " + " | ".join(base) + " |")
    print("|---|" + "---|" * len(base))
    means = (f"{sum(values) / len(values):,.0f}" for values in base.values())
    print("| as it is: regret | " + " | ".join(means) + " |", flush=True)
    for name in list(VARIANTS)[1:]:
        if options.only in name:
            found = in_process(name, options)
            cells = (change(found[world], base[world]) for world in base)
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
