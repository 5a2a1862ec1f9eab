"""Worlds that change: who comes when, whose tastes change, and what is refused."""

import numpy as np
import pytest
from scipy.special import logit

import clubcascade as cc
from clubcascade.environments import Changes, Matrix, Pool, Synthetic

SIZES = {"n_users": 9, "n_clusters": 3, "n_items": 30, "n_features": 6, "seed": 4}


def world(items="fixed", **changes):
    return Synthetic(**SIZES, items=items, changes=Changes(**changes))


def visitors(env, rounds):
    return [env.next_user()[0] for _ in range(rounds)]


def test_newcomers_come_in_their_phase_alone():
    users = visitors(world(at=[100, 300], users="new"), 600)
    assert set(users[:100]) == {0, 3, 6}
    assert set(users[100:300]) == {1, 4, 7}
    assert set(users[300:]) == {2, 5, 8}


def test_late_joiners_stay():
    users = visitors(world(at=[100, 300], users="join"), 900)
    assert set(users[:100]) == {0, 3, 6}
    assert set(users[100:300]) == {0, 1, 3, 4, 6, 7}
    assert set(users[300:]) == set(range(9))


def test_phases_keep_how_often_users_come():
    weights = [8, 1, 4, 3, 1, 0, 1, 1, 0]
    env = Synthetic(**SIZES, arrivals=weights, changes=Changes(at=[4000], users="new"))
    counts = np.bincount(visitors(env, 4000), minlength=9)
    expected = np.where(np.arange(9) % 2 == 0, weights, 0)
    np.testing.assert_allclose(counts / 4000, expected / expected.sum(), atol=0.03)


def test_a_switch_moves_users_to_another_cluster():
    env = world(at=[10, 20], switch=0.5)
    before, between, after = (env.partition_in(t) for t in (9, 10, 20))
    np.testing.assert_array_equal(before, env.partition)
    assert (before != between).sum() == (between != after).sum() == 4
    for t, clusters in ((9, before), (10, between), (20, after)):
        env.round = t
        for user in range(9):
            first = np.flatnonzero(env.partition == clusters[user])[0]
            np.testing.assert_array_equal(env.attraction_now(user), env.attraction[env.kind[first]])


def test_users_of_a_matrix_switch_to_the_tastes_of_others():
    table = np.random.default_rng(1).random((5, 4))
    env = Matrix(table, np.eye(4), changes=Changes(at=[10], switch=1.0))
    env.round = 10
    for user in range(5):
        others = np.delete(table, user, axis=0)
        assert (others == env.attraction_now(user)).all(axis=1).any()


def test_weights_drift_in_steps_of_that_length():
    """With a link nothing is cut off at 0, and the weights can be read from the probabilities."""
    logistic = {"link": "logistic", "scale": 2.0}
    env = Synthetic(**SIZES, **logistic, changes=Changes(at=[10, 20], drift=0.1))
    np.testing.assert_array_equal(env.attraction[:3], Synthetic(**SIZES, **logistic).attraction)
    weights = np.linalg.lstsq(env.catalog.features, logit(env.attraction).T)[0].T.reshape(3, 3, 6)
    np.testing.assert_allclose(weights[0], env.weights)
    np.testing.assert_allclose(np.linalg.norm(weights, axis=2), 2.0)
    steps = np.linalg.norm(np.diff(weights, axis=0), axis=2)
    assert (steps > 0.05).all() and (steps < 0.21).all()
    env.round = 10
    np.testing.assert_array_equal(env.attraction_now(4), env.attraction[3 + env.kind[4]])


def test_the_appeal_of_items_changes_for_all_users_alike():
    env, still = world(at=[10], appeal=0.4), world()
    factors = env.attraction.reshape(2, 3, 30) / still.attraction
    np.testing.assert_allclose(factors, np.broadcast_to(factors[:, :1], factors.shape))
    assert factors.min() >= 0.6 and factors.max() <= 1.0
    assert not np.allclose(factors[0], factors[1])


@pytest.mark.parametrize("items", ["fixed", "fresh"])
def test_changes_after_the_last_round_change_nothing(items):
    late = world(items, at=[200], switch=0.5, drift=0.3)
    policies = [cc.MultipleLinUCB(n_features=6) for _ in range(2)]
    ours, theirs = (
        cc.simulate(policy, env, rounds=200, k=3, seed=1)
        for policy, env in zip(policies, (world(items), late), strict=True)
    )
    np.testing.assert_array_equal(ours.regret, theirs.regret)
    np.testing.assert_array_equal(ours.reward, theirs.reward)
    early = world(items, at=[199], switch=0.5, drift=0.3)
    other = cc.simulate(cc.MultipleLinUCB(n_features=6), early, rounds=200, k=3, seed=1)
    np.testing.assert_array_equal(ours.regret[:199], other.regret[:199])


def test_the_rand_index_is_that_of_the_clusters_of_the_round():
    """Found users of one cluster are all wrong a moment after everybody has switched."""
    env = Synthetic(**SIZES, changes=Changes(at=[100], switch=1.0))
    policy = cc.KnownClusters(n_features=6, partition=env.partition)
    index = cc.simulate(policy, env, rounds=200, k=3, seed=1, every=1).rand_index
    assert index[99] == 1.0
    true = env.partition_in(100)
    assert index[199] == cc.simulation.adjusted_rand_index(env.partition, true) < 1.0


def test_the_oracle_follows_every_change():
    env = world(at=[50, 120], switch=0.5, drift=0.4, appeal=0.5)
    trace = cc.simulate(cc.environments.Oracle(env), env, rounds=200, k=3, seed=1)
    assert abs(trace.regret[-1]) < 1e-9


def test_the_best_click_rate_of_a_changing_world_is_unknown():
    assert np.isnan(world(at=[50], users="new").best_click_rate(3))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"at": 5}, "at must be a list of rounds, got 5"),
        ({"at": "5"}, "at must be a list of rounds"),
        ({"at": [0]}, "at must be a whole number >= 1, got 0"),
        ({"at": [0.5]}, "at must be a whole number"),
        ({"at": [9, 9]}, r"at must be ascending rounds, got \[9, 9\]"),
        ({"users": "some"}, "users must be one of 'all', 'new', 'join', got 'some'"),
        ({"switch": 1.5}, r"switch must be a number in \[0, 1\], got 1.5"),
        ({"drift": -1}, "drift must be a number"),
        ({"appeal": 2}, r"appeal must be a number in \[0, 1\], got 2"),
        ({"at": range(1, 10), "users": "new"}, "n_users must be at least the 10 phases"),
    ],
)
def test_bad_changes(changes, words):
    with pytest.raises(cc.errors.InvalidArgument, match=words):
        world(**changes)


def test_changes_that_a_world_cannot_have():
    with pytest.raises(cc.errors.InvalidArgument, match="switch needs at least two clusters"):
        Synthetic(**SIZES | {"n_clusters": 1}, changes=Changes(at=[5], switch=0.5))
    with pytest.raises(cc.errors.InvalidArgument, match="drift of changes must be 0"):
        Matrix(np.eye(3), np.eye(3), changes=Changes(at=[5], drift=0.5))
    with pytest.raises(cc.errors.InvalidArgument, match="one for each of 2 phases .* got 3"):
        Matrix(np.zeros((3, 2, 3)), np.eye(3), changes=Changes(at=[5]))
    with pytest.raises(cc.errors.InvalidArgument, match=r"changes must be environments\.Changes"):
        Matrix(np.eye(3), np.eye(3), changes={"at": [5]})


def test_clicks_of_a_replay_that_are_not_certain():
    env = Matrix([[1, 0, 0.5]], np.eye(3), click_rates=(0.02, 0.8))
    np.testing.assert_allclose(env.attraction, [[0.8, 0.02, 0.41]])
    clicks = np.random.default_rng(1).random((30, 12)) < 0.3
    sure = Pool(clicks, n_users=10, n_items=12, n_features=3, history=9, seed=2)
    unsure = Pool(
        clicks, n_users=10, n_items=12, n_features=3, history=9, seed=2, click_rates=[0.1, 0.7]
    )
    np.testing.assert_allclose(unsure.attraction, np.where(sure.attraction > 0, 0.7, 0.1))
    for wrong in ((0.8, 0.02), (0.5,), 0.5, (-0.1, 1.0), (0.0, 1.1)):
        with pytest.raises(cc.errors.InvalidArgument, match="click_rates must be"):
            Matrix([[1, 0]], np.eye(2), click_rates=wrong)


def test_rare_clicks_are_linear_in_the_items_and_an_intercept():
    plain = Synthetic(**SIZES)
    sizes = SIZES | {"n_features": 7}
    env = Synthetic(**sizes, click_rates=(0.005, 0.03), intercept=True)
    np.testing.assert_allclose(env.attraction, 0.005 + 0.025 * plain.attraction)
    assert env.n_features == 7
    weights, *_ = np.linalg.lstsq(env.catalog.features, env.attraction.T)
    np.testing.assert_allclose(env.catalog.features @ weights, env.attraction.T, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(env.catalog.features, axis=1), 1.0)
    with pytest.raises(cc.errors.InvalidArgument, match="intercept must be one of"):
        Synthetic(**SIZES, intercept="yes")


def test_a_misspecified_world_is_off_by_at_most_that_much():
    plain, env = Synthetic(**SIZES), Synthetic(**SIZES, misspecification=0.1)
    off = env.attraction - plain.attraction
    assert 0.09 < abs(off).max() <= 0.1 and abs(off.mean()) < 0.03
    assert env.attraction.min() >= 0.0
    with pytest.raises(cc.errors.InvalidArgument, match="misspecification must be a number"):
        Synthetic(**SIZES, misspecification=-0.1)
