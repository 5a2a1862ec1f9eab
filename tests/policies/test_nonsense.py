"""Nonsense in every argument: refused by name with the value, and nothing is changed."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import clubcascade as cc
from clubcascade.checks._rounds import same
from clubcascade.errors import InvalidArgument
from clubcascade.policies import POLICIES

ITEMS = cc.Catalog(np.eye(3), ids=["a", "b", "c"])
TWO = ITEMS[[[0, 1], [1, 0]]]
ENV = cc.environments.Synthetic(n_users=4, n_items=6, n_features=3, n_clusters=2, seed=1)
NOT_K = [0, -1, 4, 10**30, 10**5000, 1.0, True, np.bool_(True), "1", None, [1], np.nan, 1j]
NOT_CLICK = [-1, 2, 10**30, 1.0, True, np.bool_(True), np.array([0]), "0", [0], (0,), np.nan, {}]


def single_calls(policy):
    for k in NOT_K:
        yield "k", lambda k=k: policy.recommend(0, ITEMS, k)
    for click in NOT_CLICK:
        yield "click", lambda click=click: policy.update(0, ITEMS[[0, 1]], click)
    for shown in (5, None, "ab", TWO, ITEMS, ITEMS[[]], {}, len, [[1j, 0, 0]]):
        yield "shown", lambda shown=shown: policy.update(0, shown, 0)
    for items in (5, None, "ab", {}, len, [[1j, 0, 0]]):
        yield "items", lambda items=items: policy.recommend(0, items, 1)


def calls(policy):
    yield from single_calls(policy)
    for k in NOT_K:
        yield "k", lambda k=k: policy.recommend_many([0], ITEMS, k)
    for click in NOT_CLICK:
        yield "click", lambda click=click: policy.update_many([0, 0], TWO, [0, click])
    for users in (5, None, "ab", {0, 1}, iter([0, 1]), len, np.array(0), np.zeros((2, 2))):
        yield "users", lambda users=users: policy.recommend_many(users, ITEMS, 1)
        yield "users", lambda users=users: policy.update_many(users, TWO, [0, 1])
    for clicks in (5, None, "01", {0, 1}, iter([0, 1]), len):
        yield "clicks", lambda clicks=clicks: policy.update_many([0, 1], TWO, clicks)
    yield "users, shown and clicks", lambda: policy.update_many([0], TWO, [0, 1])
    for shown in (5, None, np.eye(3), [[0, 1], [1, 0]], ITEMS):
        yield "shown", lambda shown=shown: policy.update_many([0, 1], shown, [0, 1])
    yield "shown", lambda: policy.update_many([0, 1], ITEMS[[0, 1]], [0, 1])
    for items in (5, None, "ab", {}, len, [[1j, 0, 0]]):
        yield "items", lambda items=items: policy.recommend_many([0], items, 1)
    for rows in ([3], [-4], 0.5, [0.5], "a", ["a"], (0, 1, 2), {0}, 10**30):
        yield "rows", lambda rows=rows: ITEMS[rows]
        yield "rows", lambda rows=rows: ITEMS.remove(rows)
        yield "rows", lambda rows=rows: ITEMS.replace(rows, np.eye(3)[:1])


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_nonsense_is_refused(name):
    policy = next(iter(POLICIES[name].examples()))
    policy.update(0, ITEMS[[0, 1]], 1)
    before = policy.state()
    batches = hasattr(policy, "recommend_many")  # not of a policy around another one
    for argument, call in calls(policy) if batches else single_calls(policy):
        with pytest.raises(InvalidArgument, match=rf"^{argument} must .*got "):
            call()
        assert same(policy.state(), before)


@pytest.mark.parametrize("kind", [np.array, pd.Series, pl.Series, tuple])
def test_columns_are_lists(kind):
    one, other = (cc.CascadeLinUCB(n_features=3) for _ in range(2))
    one.update_many(kind([7, 8]), TWO, kind([1, 0]))
    other.update_many([7, 8], TWO, [1, 0])
    assert same(one.state(), other.state())
    assert one.recommend_many(kind([7, 9]), ITEMS, 1).shape == (2, 1)


@pytest.mark.parametrize("ids", [5, len, 1.5, np.array(5)])
def test_ids_that_are_no_list(ids):
    with pytest.raises(InvalidArgument, match="^ids must be a list of ids, got"):
        cc.Catalog(np.eye(2), ids)


@pytest.mark.parametrize(
    ("examined", "clicks", "words"),
    [
        (0, (), "examined must be a whole number >= 1, got 0"),
        (True, (), "examined must .*got True"),
        (np.nan, (), "examined must .*got nan"),
        (2, "01", "clicks must .*got '0'"),
        (2, (True,), "clicks must .*got True"),
        (2, np.array([[0]]), r"clicks must .*got array\(\[0\]\)"),
        (2, {1: 0, 0: 1}, "clicks must be rising"),
        (2, 0.5, "clicks must be rising positions, got 0.5"),
    ],
)
def test_feedback(examined, clicks, words):
    with pytest.raises(cc.errors.InvalidFeedback, match=words):
        cc.Feedback(examined, clicks)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rounds": 0}, "^rounds must be a whole number >= 1, got 0"),
        ({"rounds": 1.5}, "^rounds must"),
        ({"rounds": "10"}, "^rounds must"),
        ({"k": 0}, "^k must"),
        ({"k": 7}, "^k must be at most the number of items, 6, got 7"),
        ({"k": 10**5000}, "^k must"),
        ({"seed": -1}, "^seed must"),
        ({"seed": 0.5}, "^seed must"),
        ({"policy": "random"}, "^policy must"),
        ({"policy": cc.Random}, "^policy must"),
        ({"policy": 5}, "^policy must"),
        ({"env": np.eye(3)}, "^env must"),
        ({"env": None}, "^env must"),
        ({"env": cc.environments.Synthetic}, "^env must"),
        ({"policy": cc.CascadeLinUCB(n_features=2)}, "must have 2 features, got"),
    ],
)
def test_simulate(changes, words):
    policy = cc.CascadeLinUCB(n_features=3)
    given = {"policy": policy, "env": ENV, "rounds": 5, "k": 2, "seed": 1} | changes
    with pytest.raises(InvalidArgument, match=words):
        cc.simulate(given.pop("policy"), given.pop("env"), **given)
    assert policy.users == []
