"""C3UCB against the algorithm of its paper."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clubcascade as cc
from clubcascade.checks._rounds import same
from tests.reference.c3_ucb import C3UCB
from tests.reference.problems import assert_near, examples, play, problems

DISCOUNTS = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=4).map(
    lambda each: sorted(each, reverse=True)
)
REGS = st.sampled_from([0.1, 1.0, 4.0]) | st.floats(0.05, 8.0)


def run(problem, policy, reference):
    def after(step):
        gram, moment, count = policy.statistics(step.user)
        assert_near(gram, reference.X.T @ reference.X, "gram")
        assert_near(moment, reference.X.T @ reference.Y, "moment")
        assert count == len(reference.Y)
        for user in problem.users:
            assert_near(policy.cluster_weights(user), reference.theta(), "weights")

    play(
        problem,
        policy,
        bounds=lambda step: reference.bounds(step.items),
        update=lambda step, rows, ranking, examined, clicks: reference.update(
            rows, examined, clicks
        ),
        after=after,
    )


@examples(80)
@given(problems(), REGS, st.floats(0.001, 1.0), st.floats(0.0, 2.0, exclude_min=True))
def test_growing_radius(problem, reg, delta, noise):
    policy = cc.C3UCB(n_features=problem.d, reg=reg, delta=delta, noise=noise)
    run(problem, policy, C3UCB(problem.d, reg=reg, delta=delta, noise=noise))


@examples(60)
@given(problems(), REGS, st.sampled_from([0.0, 1.0]) | st.floats(0.0, 4.0))
def test_constant_radius(problem, reg, beta):
    policy = cc.C3UCB(n_features=problem.d, beta=beta, reg=reg)
    run(problem, policy, C3UCB(problem.d, beta=beta, reg=reg))


@examples(80)
@given(problems(), REGS, DISCOUNTS, st.none() | st.floats(0.0, 4.0))
def test_discounts(problem, reg, discounts, beta):
    radius = "growing" if beta is None else beta
    policy = cc.C3UCB(n_features=problem.d, beta=radius, reg=reg, discounts=discounts)
    run(problem, policy, C3UCB(problem.d, beta=beta, reg=reg, discounts=discounts))


@examples(40)
@given(problems(), REGS)
def test_discounts_of_one_are_none_to_the_bit(problem, reg):
    plain = cc.C3UCB(n_features=problem.d, reg=reg)
    ones = cc.C3UCB(n_features=problem.d, reg=reg, discounts=[1.0, 1.0])
    for step in problem.rounds:
        chosen = plain.recommend(step.user, step.offered, step.k)
        assert np.array_equal(ones.recommend(step.user, step.offered, step.k), chosen)
        click = step.click(*step.look(chosen))
        plain.update(step.user, step.shown(chosen), click)
        ones.update(step.user, step.shown(chosen), click)
        assert same(plain.state(), ones.state())


@pytest.mark.parametrize("kind", [cc.C3UCB, cc.MultipleLinUCB, cc.ClubCascade, cc.KnownClusters])
@pytest.mark.parametrize("discounts", [[], [0.5, 0.6], [1.2], [-0.1], [np.nan], "1", 0.5, [True]])
def test_bad_discounts(kind, discounts):
    more = {"partition": [0, 1]} if kind is cc.KnownClusters else {}
    with pytest.raises(cc.errors.InvalidArgument, match="discounts"):
        kind(n_features=2, discounts=discounts, **more)


def test_all_users_are_one():
    policy = cc.C3UCB(n_features=2, beta=1.0)
    items = np.eye(2)
    policy.update("alice", items, 1)
    assert_near(policy.scores("bob", items), policy.scores("alice", items), "scores")
