"""UniCLUB against its literal version, with the random numbers handed over; and its limits."""

from __future__ import annotations

import math
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clubcascade as cc
from clubcascade.checks._rounds import same
from clubcascade.kernels import counter_rng
from clubcascade.learners.seeds import key_of
from tests.policies.test_sclub import with_lists_of
from tests.reference.problems import (
    assert_best,
    assert_near,
    busy_problem,
    examples,
    partition,
    play,
    problems,
)
from tests.reference.uni_club import UniCLUB

PARAMETERS = st.fixed_dictionaries(
    {
        "alpha": st.sampled_from([0.0, 0.1, 0.3, 1.0, math.inf]) | st.floats(0.02, 1.5),
        "beta": st.sampled_from([0.0, 1.0]) | st.floats(0.0, 4.0),
        "reg": st.sampled_from([0.1, 1.0]) | st.floats(0.05, 8.0),
    }
)
ROUNDS = st.integers(0, 20)
LENGTHS = st.sampled_from([None, 1, 4])
ITEMS = np.eye(4)


def uniforms(policy, n):
    """The numbers that the next list will be drawn with."""
    key, draws = key_of(policy.seed, "draws"), policy.state()["draws"][0]
    return [counter_rng.uniform(key, draws, p) for p in range(n)]


def compare(problem, exploration_rounds, parameters):
    policy = cc.UniCLUB(
        n_features=problem.d,
        users=problem.early,
        exploration_rounds=exploration_rounds,
        seed=problem.seed % 1000,
        **parameters,
    )
    reference = UniCLUB(problem.d, problem.early, exploration_rounds, **parameters)
    drawn = {}

    def bounds(step):
        if reference.explores():
            drawn["list"] = reference.draw(len(step.items), step.k, uniforms(policy, step.k))
        return reference.bounds(step.user, step.items)

    def check(step, expected, ranking):
        if reference.explores():
            assert ranking.tolist() == drawn["list"]
        else:
            assert_best(ranking, expected, step.k)

    def after(step):
        if reference.margin < 1e-9:
            return False
        assert partition(policy.clusters()) == reference.clusters()
        for user in reference.users:
            assert_near(policy.user_weights(user), reference.estimate([user])[1], "user weights")
        return True

    play(
        problem,
        policy,
        bounds,
        lambda step, rows, ranking, examined, clicks: reference.update(
            step.user, rows, examined, clicks
        ),
        after,
        check=check,
    )


@examples(150)
@given(problems(), ROUNDS, PARAMETERS, LENGTHS)
def test_agrees_with_the_literal_version(problem, exploration_rounds, parameters, k):
    compare(with_lists_of(k, problem), exploration_rounds, parameters)


@examples(40)
@given(st.integers(0, 2**32 - 1), ROUNDS, st.floats(0.2, 1.2), LENGTHS)
def test_agrees_with_the_literal_version_in_busy_stories(seed, exploration_rounds, alpha, k):
    problem = with_lists_of(k, busy_problem(seed))
    compare(problem, exploration_rounds, {"alpha": alpha, "beta": 0.5, "reg": 0.3})


@examples(40)
@given(problems(), PARAMETERS)
def test_without_exploration_it_is_club_cascade(problem, parameters):
    known = {"n_features": problem.d, "users": problem.early, **parameters}
    policy, club = cc.UniCLUB(exploration_rounds=0, **known), cc.ClubCascade(**known)
    for step in problem.rounds:
        chosen = club.recommend(step.user, step.offered, step.k)
        assert np.array_equal(policy.recommend(step.user, step.offered, step.k), chosen)
        for one in (policy, club):
            one.update(step.user, step.shown(chosen), step.click(*step.look(chosen)))
    assert same(policy.state(), club.state())


@pytest.mark.parametrize("user", ["alice", "stranger"])
@pytest.mark.parametrize("items", [ITEMS, cc.Catalog(ITEMS)], ids=["loose", "catalogue"])
def test_all_first_lists_are_equally_likely(items, user):
    policy = cc.UniCLUB(n_features=4, users=["alice"], exploration_rounds=1, seed=5)
    assert not policy.has_scores
    found = Counter(tuple(policy.recommend(user, items, 2).tolist()) for _ in range(6000))
    assert set(found) == set(permutations(range(4), 2))
    # twelve lists, 500 of each expected, standard deviation 21
    assert all(abs(count - 500) < 100 for count in found.values())
    policy.update("alice", ITEMS[:1], 0)
    lists = {tuple(policy.recommend(user, items, 2).tolist()) for _ in range(50)}
    assert len(lists) == 1
    assert policy.has_scores
    assert policy.state()["draws"][0] == 6000
