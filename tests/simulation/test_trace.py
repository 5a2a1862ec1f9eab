"""A trace: which rounds are in it, and what of them."""

import numpy as np
import pytest

import clubcascade as cc
from tests.simulation.worlds import SIZES, Foreign


def test_trace_has_the_recorded_rounds():
    env = cc.environments.Synthetic(**SIZES)
    every = cc.simulate(cc.C3UCB(n_features=3), env, rounds=100, k=2, seed=1)
    tenth = cc.simulate(cc.C3UCB(n_features=3), env, rounds=100, k=2, seed=1, every=10)
    np.testing.assert_array_equal(tenth.round, np.arange(10, 101, 10))
    np.testing.assert_array_equal(tenth.regret, every.regret[9::10])
    table = tenth.to_pandas()
    assert list(table) == ["round", "reward", "regret", "n_clusters", "rand_index"]
    assert len(table) == 10


@pytest.mark.parametrize("every", [1, 7, 30, 99, 100])
@pytest.mark.parametrize("wrap", [lambda policy: policy, Foreign], ids=["compiled", "public"])
def test_the_last_round_is_recorded_whatever_the_rhythm(every, wrap):
    env = cc.environments.Synthetic(**SIZES)
    whole = cc.simulate(cc.ClubCascade(n_features=3, alpha=0.3), env, rounds=100, k=2, seed=1)
    policy = wrap(cc.ClubCascade(n_features=3, alpha=0.3))
    some = cc.simulate(policy, env, rounds=100, k=2, seed=1, every=every)
    assert some.round.tolist() == sorted({*range(every, 101, every), 100})
    for name in ("reward", "n_clusters", "rand_index"):
        np.testing.assert_array_equal(getattr(some, name), getattr(whole, name)[some.round - 1])
    np.testing.assert_allclose(some.regret, whole.regret[some.round - 1], rtol=1e-12)


def test_the_rand_index_is_measured_at_recorded_rounds():
    env = cc.environments.Synthetic(**SIZES)
    policy = cc.ClubCascade(n_features=3, alpha=0.3)
    whole = cc.simulate(policy.fresh(), env, rounds=1000, k=2, seed=1)
    some = cc.simulate(policy.fresh(), env, rounds=1000, k=2, seed=1, every=3)
    measured = ~np.isnan(some.rand_index)
    assert some.round[measured].tolist() == [*range(12, 1000, 12), 1000]
    both = measured & ~np.isnan(whole.rand_index[some.round - 1])
    assert both.sum() >= 5
    np.testing.assert_array_equal(some.rand_index[both], whole.rand_index[some.round[both] - 1])
