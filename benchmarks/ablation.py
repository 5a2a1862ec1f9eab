"""What each part of CohortCascade buys: regret without it, on five small worlds.

``python benchmarks/ablation.py`` prints the table of docs/explain/cohort-cascade.md. Parts are
taken out by writing into the arrays of a policy that has learned nothing; the public parameters
know nothing of it.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

import numpy as np

import clubcascade as cc
from clubcascade.kernels import cohort_constants as constants
from clubcascade.kernels import cohort_posterior as posterior

SEEDS = range(300, 305)
D = 20
K = 4
EXPLORE = cc.CohortCascade(n_features=1).explore
World = cc.environments.Synthetic | cc.environments.Matrix
Maker = Callable[[World, int], cc.Policy]


def synthetic(n_users: int, n_clusters: int, gap: float | str) -> Callable[[int], World]:
    def make(seed: int) -> cc.environments.Synthetic:
        return cc.environments.Synthetic(
            n_users=n_users,
            n_clusters=n_clusters,
            n_items=200,
            n_features=D,
            gap=gap,  # type: ignore[arg-type]
            seed=seed,
        )

    return make


def certain(seed: int) -> World:
    """Five clusters as before, but a user likes a tenth of the items for sure, the rest never."""
    env = synthetic(40, 5, "orthogonal")(seed)
    liked = env.attraction >= np.quantile(env.attraction, 0.9, axis=1, keepdims=True)
    return cc.environments.Matrix(
        liked[env.kind].astype(float), env.catalog.features, partition=env.partition
    )


WORLDS = {
    "5 clusters, orthogonal": synthetic(40, 5, "orthogonal"),
    "5 clusters, gap 0.5": synthetic(40, 5, 0.5),
    "all alike": synthetic(40, 1, 0.0),
    "20 users, all different": synthetic(20, 20, "orthogonal"),
    "5 clusters, clicks certain": certain,
}


def cohort_cascade(seed: int, **parameters: float) -> cc.CohortCascade:
    return cc.CohortCascade(n_features=D, seed=seed, **parameters)  # type: ignore[arg-type]


def only_predictors(allowed: Callable[[int], bool]) -> Maker:
    """Give other predictors an infinite error: they are never the best."""

    def make(env: World, seed: int) -> cc.Policy:
        policy = cohort_cascade(seed)
        predictors = [
            predictor for predictor in range(constants.N_PREDICTORS) if allowed(predictor)
        ]
        others = [
            predictor for predictor in range(constants.N_PREDICTORS) if not allowed(predictor)
        ]
        policy._cohorts.arrays["error"][: constants.N_BUCKETS, others] = np.inf
        if constants.FIRST_PREDICTOR not in predictors:
            policy._cohorts.arrays["predictor"][:] = predictors[-1]
        return policy

    return make


def with_scalars(**values: float) -> Maker:
    """Change scalars of the compiled state, as kernels/cohort_state.py names them."""

    def make(env: World, seed: int) -> cc.Policy:
        policy = cohort_cascade(seed)
        policy._cohorts.compiled.assign(**values)
        return policy

    return make


def explore(factor: float) -> Maker:
    return lambda env, seed: cohort_cascade(seed, explore=factor * EXPLORE)


def known(env: World, seed: int) -> cc.Policy:
    assert env.partition is not None
    clusters = [np.flatnonzero(env.partition == c).tolist() for c in np.unique(env.partition)]
    return cc.KnownClusters(n_features=D, partition=clusters)


VARIANTS: dict[str, Maker] = {
    "CohortCascade": lambda env, seed: cohort_cascade(seed),
    "no cohorts": only_predictors(lambda predictor: predictor <= len(constants.PRECISIONS)),
    "no weights of one's own": only_predictors(
        lambda predictor: posterior.precision_of(predictor) == math.inf
    ),
    "neither: everyone's weights": only_predictors(
        lambda predictor: predictor == len(constants.PRECISIONS)
    ),
    "no everyone: cohort and user": only_predictors(
        lambda predictor: predictor > len(constants.PRECISIONS)
    ),
    "reassigned to the best cohort, not drawn": with_scalars(draws_moves=False),
    "draws not mirrored": with_scalars(mirrors_draws=False),
    "the whole list at once": with_scalars(sequential=False),
    "noise fixed at 1/4": with_scalars(measures_noise=False, noise_variance=0.25),
    "prior means drawn no wider than users": with_scalars(mean_widening=1.0),
    "explore / 2": explore(0.5),
    "explore x 2": explore(2.0),
    "explore x 4": explore(4.0),
    "*ClubCascade, as it comes*": lambda env, seed: cc.ClubCascade(
        n_features=D, users=range(env.n_users)
    ),
    "*MultipleLinUCB, as it comes*": lambda env, seed: cc.MultipleLinUCB(n_features=D),
    "*KnownClusters, as it comes*": known,
}


def regret(world: Callable[[int], World], variant: Maker, rounds: int, seed: int) -> float:
    env = world(seed)
    trace = cc.simulate(variant(env, seed), env, rounds=rounds, k=K, seed=seed, every=rounds)
    assert trace.regret is not None
    return float(trace.regret[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="how many, from 300 on")
    parser.add_argument("--worlds", default="", help="only those with this in their names")
    options = parser.parse_args()
    worlds = {name: world for name, world in WORLDS.items() if options.worlds in name}
    print(f"| regret after {options.rounds:,} rounds | " + " | ".join(worlds) + " |")
    print("|---|" + "---|" * len(worlds))
    for name, variant in VARIANTS.items():
        cells = []
        for world in worlds.values():
            seeds = range(SEEDS.start, SEEDS.start + options.seeds)
            found = [regret(world, variant, options.rounds, seed) for seed in seeds]
            error = np.std(found, ddof=1) / math.sqrt(len(found)) if len(found) > 1 else 0.0
            cells.append(f"{np.mean(found):,.0f} ± {error:,.0f}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
