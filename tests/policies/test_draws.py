"""Policies that draw: every list has luck of its own, and a seed gives all of it."""

from __future__ import annotations

import numpy as np
import pytest

import clubcascade as cc

ITEMS = np.random.default_rng(1).standard_normal((40, 4)) / 6
MAKE = [
    lambda seed: cc.CascadeLinTS(n_features=4, seed=seed),
    lambda seed: cc.ClubCascade2017(n_features=4, seed=seed),
    lambda seed: cc.CohortCascade(n_features=4, seed=seed),
    lambda seed: cc.Random(seed=seed),
    lambda seed: cc.UniCLUB(n_features=4, exploration_rounds=2, seed=seed),
]


def lists(policy, offered, n=12):
    return [tuple(policy.recommend("alice", offered, 4).tolist()) for _ in range(n)]


@pytest.mark.parametrize("offered", [ITEMS, cc.Catalog(ITEMS)], ids=["loose", "catalogue"])
@pytest.mark.parametrize("met", [False, True], ids=["stranger", "met"])
@pytest.mark.parametrize("make", MAKE, ids=["TS", "2017", "cohort", "random", "uniform"])
def test_no_two_lists_share_their_luck(make, met, offered):
    one, same, other = make(3), make(3), make(4)
    if met:
        for policy in (one, same, other):
            policy.update("alice", offered[[0, 1]], 1)
    found = lists(one, offered)
    assert len(set(found)) > 6
    assert lists(same, offered) == found
    assert lists(other, offered) != found
