"""The world of niches: what it promises, and what is refused."""

import numpy as np
import pytest

import clubcascade as cc
from clubcascade.environments import Niche

SIZES = {"n_users": 12, "n_clusters": 4, "n_items": 60, "n_features": 12}


def test_what_is_common_and_what_is_not():
    env = Niche(**SIZES, idle=2, popular=0.4, love=0.8, seed=3)
    common, niches = env.attraction[:, :-12], env.attraction[:, -12:].reshape(4, 4, 3)
    assert np.ptp(common, axis=0).max() < 1e-12  # all clusters alike
    assert 0.1 < common.min() and common.max() <= 0.4 + 1e-12
    for cluster in range(4):
        np.testing.assert_allclose(niches[cluster, cluster], [0.8, 0.76, 0.72])
        np.testing.assert_allclose(np.delete(niches[cluster], cluster, axis=0), 0.0, atol=1e-12)
    assert np.linalg.matrix_rank(env.catalog.features) == 10
    assert np.linalg.norm(env.weights, axis=1).max() <= 1.0
    assert cc.theory.item_eigenvalue(env.catalog.features) < 1e-12
    assert sorted(np.bincount(env.partition)) == [3, 3, 3, 3]


def test_every_niche_is_in_the_spanner():
    env = Niche(**SIZES, seed=5)
    chosen = cc.spanner.barycentric_spanner(env.catalog.features)
    niche = (chosen[chosen >= 48] - 48) // 3
    assert set(niche.tolist()) == {0, 1, 2, 3}


@pytest.mark.slow
def test_one_model_misses_the_niches_and_a_spanner_finds_the_clusters():
    env = Niche(n_users=20, n_clusters=4, n_items=100, n_features=12, seed=1)
    setting = {"n_features": 12, "users": range(20), "alpha": 2.0}

    def last_half(policy):
        trace = cc.simulate(policy, env, rounds=12_000, k=4, seed=1, every=6000)
        return trace.regret[1] - trace.regret[0], trace.rand_index[-1]

    loss, _ = last_half(cc.C3UCB(n_features=12, beta=1.0))
    assert loss > 1000
    loss, index = last_half(cc.SpannerExploration(cc.ClubCascade(**setting)))
    assert loss < 300
    assert index > 0.9


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n_users": 3}, "n_clusters"),
        ({"n_items": 12}, "n_items"),
        ({"n_features": 6}, "n_features"),
        ({"idle": -1}, "idle"),
        ({"popular": 0.1}, "love / n_clusters < popular"),
        ({"popular": 0.7}, "popular"),
        ({"love": 0.0}, "love"),
        ({"seed": -1}, "seed"),
        ({"arrivals": "often"}, "arrivals"),
    ],
)
def test_bad_settings(changes, words):
    with pytest.raises(cc.errors.InvalidArgument, match=words):
        Niche(**(SIZES | changes))
