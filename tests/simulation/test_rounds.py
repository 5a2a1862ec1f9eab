"""The call itself: what it refuses, what it takes by default, and that it tells how far it is."""

import pytest

import clubcascade as cc
from tests.simulation.worlds import SIZES


def test_progress_is_told():
    env = cc.environments.Synthetic(**SIZES)
    told = []
    cc.simulate(cc.Random(), env, rounds=250, k=2, seed=1, progress=told.append)
    assert told[-1] == 250
    assert told == sorted(told)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rounds": 0}, "rounds"),
        ({"k": 0}, "k must"),
        ({"k": 41}, "k must be at most"),
        ({"seed": -1}, "seed"),
        ({"every": 0}, "every"),
        ({"every": 1000}, "every"),
    ],
)
def test_bad_calls_say_what_is_wrong(changes, words):
    env = cc.environments.Synthetic(**SIZES)
    call = {"rounds": 10, "k": 2, "seed": 1} | changes
    with pytest.raises(cc.errors.InvalidArgument, match=words):
        cc.simulate(cc.Random(), env, **call)


def test_wrong_number_of_features_is_an_error_before_anything_runs():
    env = cc.environments.Synthetic(**SIZES)
    with pytest.raises(cc.errors.InvalidItems, match="features"):
        cc.simulate(cc.C3UCB(n_features=5), env, rounds=10, k=2, seed=1)


def test_counting_policies_refuse_fresh_items():
    env = cc.environments.Synthetic(**SIZES, items="fresh")
    with pytest.raises(cc.errors.InvalidItems, match="Catalog"):
        cc.simulate(cc.CascadeUCB1(), env, rounds=10, k=2, seed=1)


def test_without_a_policy_it_is_cohort_cascade():
    env = cc.environments.Synthetic(n_users=4, n_clusters=2, n_items=30, n_features=6, seed=1)
    default = cc.simulate(None, env, rounds=50, k=3, seed=5)
    named = cc.simulate(cc.CohortCascade(n_features=6, seed=5), env, rounds=50, k=3, seed=5)
    assert default.regret.tolist() == named.regret.tolist()
