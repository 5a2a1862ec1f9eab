"""C3UCB against the algorithm of its paper."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import clubcascade as cc
from tests.reference.c3_ucb import C3UCB
from tests.reference.problems import assert_near, examples, play, problems

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


def test_all_users_are_one():
    policy = cc.C3UCB(n_features=2, beta=1.0)
    items = np.eye(2)
    policy.update("alice", items, 1)
    assert_near(policy.scores("bob", items), policy.scores("alice", items), "scores")
