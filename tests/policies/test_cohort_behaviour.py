"""CohortCascade finds clusters that are there, and does no harm where there are none."""

from __future__ import annotations

import numpy as np
import pytest

import clubcascade as cc

pytestmark = pytest.mark.slow

ROUNDS = 20_000


def regret(policy, env, seed):
    return cc.simulate(policy, env, rounds=ROUNDS, k=4, seed=seed, every=ROUNDS).regret[-1]


def clustered(seed, n_clusters, gap="orthogonal"):
    return cc.environments.Synthetic(
        n_users=40, n_clusters=n_clusters, n_items=200, n_features=20, gap=gap, seed=seed
    )


def different(seed):
    """Forty users, each with a taste of its own."""
    rng = np.random.default_rng(seed)
    tastes, items = np.abs(rng.standard_normal((40, 20))), np.abs(rng.standard_normal((200, 20)))
    tastes /= np.linalg.norm(tastes, axis=1, keepdims=True)
    items /= np.linalg.norm(items, axis=1, keepdims=True)
    return cc.environments.Matrix(np.clip(tastes @ items.T, 0.0, 1.0), items)


@pytest.mark.parametrize("n_clusters", [2, 5])
@pytest.mark.parametrize("seed", [0, 1])
def test_finds_the_clusters(n_clusters, seed):
    """One of these worlds has a cluster of two users, which takes longer than the others."""
    policy = cc.CohortCascade(n_features=20, seed=seed)
    trace = cc.simulate(policy, clustered(seed, n_clusters), rounds=ROUNDS, k=4, seed=seed)
    assert abs(trace.n_clusters[-1] - n_clusters) <= 1
    assert trace.rand_index[-1] > 0.9


def test_loses_less_than_one_model_per_user_and_the_printed_clusters():
    """Far less: under half on this world."""
    ours, per_user, printed = 0.0, 0.0, 0.0
    for seed in range(2):
        env = clustered(seed, n_clusters=5, gap=1.0)
        ours += regret(cc.CohortCascade(n_features=20, seed=seed), env, seed)
        per_user += regret(cc.MultipleLinUCB(n_features=20), env, seed)
        printed += regret(cc.ClubCascade(n_features=20, users=range(40)), env, seed)
    assert ours < 0.6 * per_user
    assert ours < 0.6 * printed


def test_all_alike_are_served_as_one():
    """Not quite as well as by the one model that assumes it, far better than user by user."""
    ours, shared, per_user = 0.0, 0.0, 0.0
    for seed in range(6):  # single seeds lose up to twice as much as the one model
        env = clustered(seed, n_clusters=1)
        ours += regret(cc.CohortCascade(n_features=20, seed=seed), env, seed)
        shared += regret(cc.C3UCB(n_features=20, beta=1.0), env, seed)
        per_user += regret(cc.MultipleLinUCB(n_features=20), env, seed)
    assert ours < 1.6 * shared
    assert ours < 0.3 * per_user


def test_users_who_are_all_different_are_served_nearly_as_well_as_alone():
    """Cohorts and everyone's weights have nothing to give here; they must not cost much."""
    ours, alone, shared = 0.0, 0.0, 0.0
    for seed in range(12):  # single seeds lose up to twice as much
        env = different(seed)
        ours += regret(cc.CohortCascade(n_features=20, seed=seed), env, seed)
        alone += regret(cc.MultipleLinUCB(n_features=20), env, seed)
        shared += regret(cc.C3UCB(n_features=20, beta=1.0), env, seed)
    assert ours < 1.35 * alone
    assert ours < 0.75 * shared


@pytest.mark.parametrize("seed", range(4))
def test_what_sets_users_apart_is_found_even_if_the_many_never_need_it(seed):
    """Without warm-up users one of these four ends with everybody served the common items."""
    env = cc.environments.Niche(n_users=40, n_clusters=4, n_items=200, n_features=12, seed=seed)
    policy = cc.CohortCascade(n_features=12, seed=seed)
    trace = cc.simulate(policy, env, rounds=ROUNDS, k=4, seed=seed)
    assert trace.rand_index[-1] > 0.9
    last = len(trace.regret) // 2
    assert trace.regret[-1] - trace.regret[last] < 0.01 * ROUNDS / 2
