"""Our environments are environments of Gymnasium."""

import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import clubcascade as cc
from clubcascade.errors import InvalidArgument, MissingExtra
from clubcascade.gymnasium import RankingEnv
from tests.checks.test_environments import ENVIRONMENTS


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_gymnasium_accepts_every_environment(name):
    check_env(RankingEnv(ENVIRONMENTS[name](), k=3, rounds=50), skip_render_check=True)


def test_every_environment_is_tried():
    tried = {type(make()) for make in ENVIRONMENTS.values()}
    assert tried == set(cc.environments.ENVIRONMENTS.values())


def episode(env, policy, seed, rounds=80):
    observation, _ = env.reset(seed=seed)
    rewards, regret = [], []
    for _ in range(rounds):
        user, items = observation["user"], observation["items"]
        ranking = policy.recommend(user, items, env.k)
        observation, reward, terminated, truncated, info = env.step(ranking)
        feedback = cc.Feedback(examined=info["examined"], clicks=tuple(info["clicks"]))
        policy.update(user, items[ranking], feedback)
        rewards.append(reward)
        regret.append(info["regret"])
        assert not terminated and not truncated
    return np.array(rewards), np.cumsum(regret)


@pytest.mark.parametrize("name", ["orthogonal", "fresh", "matrix", "pool"])
def test_an_episode_is_a_simulation_of_the_same_seed(name):
    world = ENVIRONMENTS[name]()
    policy = cc.MultipleLinUCB(n_features=world.n_features)
    trace = cc.simulate(policy.fresh(), world, rounds=80, k=3, seed=5)
    rewards, regret = episode(RankingEnv(world, k=3), policy, seed=5)
    np.testing.assert_array_equal(rewards.cumsum(), trace.reward)
    np.testing.assert_allclose(regret, trace.regret, atol=1e-12)


def test_every_click_counts():
    world = cc.environments.Matrix(np.ones((1, 4)), np.eye(4), click=cc.click.DCM(stop=0.0))
    env = RankingEnv(world, k=3)
    env.reset(seed=1)
    _, reward, _, _, info = env.step([2, 0, 1])
    assert reward == 3.0 and info["clicks"] == [0, 1, 2] and info["examined"] == 3


def test_an_item_is_shown_once():
    world = cc.environments.Matrix(np.ones((1, 4)), np.eye(4), click=cc.click.DCM(stop=0.0))
    env = RankingEnv(world, k=3)
    env.reset(seed=1)
    _, reward, _, _, info = env.step(np.array([2, 2, 1]))
    assert reward == 2.0 and info["examined"] == 2


def test_an_episode_ends_where_it_is_told_to():
    env = RankingEnv(ENVIRONMENTS["orthogonal"](), k=2, rounds=3)
    for _ in range(2):
        env.reset(seed=1)
        assert [env.step([0, 1])[3] for _ in range(3)] == [False, False, True]


def test_resets_without_a_seed_go_on_but_follow_from_the_first():
    def users():
        env = RankingEnv(ENVIRONMENTS["orthogonal"](), k=2)
        found = [env.reset(seed=3)[0]["user"]]
        return found + [env.reset()[0]["user"] for _ in range(20)]

    assert users() == users() and len(set(users())) > 1


def test_wrong_calls_are_refused():
    env = RankingEnv(ENVIRONMENTS["orthogonal"](), k=2)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step([0, 1])
    env.reset(seed=1)
    before = env.env.round
    for wrong in ([0], [0, 20], [-1, 0], [0.5, 1], "ab", None):
        with pytest.raises(InvalidArgument, match="action must be 2 item indices"):
            env.step(wrong)
    assert env.env.round == before
    for k in (0, 21, 1.5):
        with pytest.raises(InvalidArgument, match="k must"):
            RankingEnv(ENVIRONMENTS["orthogonal"](), k=k)


def test_without_the_extra_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    monkeypatch.delitem(sys.modules, "clubcascade.gymnasium")
    with pytest.raises(MissingExtra, match=r'pip install "clubcascade\[gymnasium\]"'):
        __import__("clubcascade.gymnasium")


def test_what_is_no_environment_is_named():
    with pytest.raises(InvalidArgument, match="^env must be an environment"):
        RankingEnv(cc.Random(), k=2)
