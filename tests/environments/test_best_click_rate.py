from __future__ import annotations

import math

import numpy as np
import pytest

from clubcascade import click
from clubcascade.environments import Matrix, Oracle, Synthetic
from clubcascade.simulation import simulate

ROUNDS, K = 40_000, 2
ARRIVALS = ["uniform", "zipf", {"zipf": 3.0}, {"zipf": 0}, [5, 0, 1, 1, 0, 3], np.arange(6.0)]


def world(arrivals, **more):
    attraction = np.random.default_rng(3).random((6, 5)) * np.linspace(0.02, 0.9, 6)[:, None]
    return Matrix(attraction, items=np.eye(5), arrivals=arrivals, **more)


@pytest.mark.parametrize("arrivals", ARRIVALS, ids=str)
@pytest.mark.parametrize("model", [click.Cascade(), click.DCM(stop=0.5)], ids=["cascade", "dcm"])
def test_it_is_the_oracles_share_of_rounds_with_a_click(arrivals, model):
    env = world(arrivals, click=model)
    env.reset(1)
    oracle = Oracle(env)
    clicked = 0
    for _ in range(ROUNDS // 10):
        user, items = env.next_user()
        clicked += bool(env.respond(user, oracle.recommend(user, items, K)).clicks)
    assert env.best_click_rate(K) == pytest.approx(clicked / (ROUNDS // 10), abs=0.03)


@pytest.mark.compiled
@pytest.mark.parametrize("arrivals", ARRIVALS, ids=str)
def test_a_long_run_of_the_oracle_comes_close(arrivals):
    env = world(arrivals)
    trace = simulate(Oracle(env), env, rounds=ROUNDS, k=K, seed=1)
    assert env.best_click_rate(K) == pytest.approx(trace.reward[-1] / ROUNDS, abs=0.01)


def test_it_is_unknown_where_items_are_fresh():
    env = Synthetic(n_users=4, n_clusters=2, n_items=8, n_features=3, items="fresh")
    assert math.isnan(env.best_click_rate(2))
