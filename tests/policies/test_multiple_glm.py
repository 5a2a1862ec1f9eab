"""MultipleGLM against one SciPy estimate per user."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clubcascade as cc
from tests.reference.glm import GroupedGLM
from tests.reference.problems import assert_near, busy_problem, examples, partition, play, problems


@examples(25)
@given(
    problems(most_rounds=16),
    st.sampled_from([0.0, 1.0]) | st.floats(0.0, 8.0),
    st.sampled_from([0.1, 4.0]) | st.floats(0.05, 8.0),
    st.sampled_from(["logistic", "probit", "identity"]),
    st.sampled_from([None, 0.01]),
)
def test_agrees_with_scipy(problem, beta, reg, link, penalty):
    policy = cc.MultipleGLM(n_features=problem.d, link=link, beta=beta, reg=reg, penalty=penalty)
    reference = GroupedGLM(problem.d, lambda user: user, link, beta, reg, penalty)

    def after(step):
        expected = reference.theta(step.user)
        assert_near(policy.user_weights(step.user), expected, "user weights")
        gram, moment, count = policy.statistics(step.user)
        known = reference.of(step.user)
        assert_near(gram, known.X.T @ known.X, "gram")
        assert_near(moment, known.y @ known.X, "moment")
        assert count == len(known.y)
        assert partition(policy.clusters()) == {frozenset([user]) for user in reference.samples}
        for user in problem.users:
            expected = reference.scores(user, step.items)
            assert_near(policy.scores(user, step.offered), expected, "scores")

    play(
        problem,
        policy,
        bounds=lambda step: reference.bounds(step.user, step.items),
        update=lambda step, rows, ranking, examined, clicks: reference.update(
            step.user, rows, examined, clicks
        ),
        after=after,
        capped=False,
    )


@pytest.mark.parametrize("solver", ["exact", "online"])
def test_the_identity_link_is_the_linear_policy(solver):
    problem = busy_problem(5, n_rounds=100)
    ours = cc.MultipleGLM(n_features=problem.d, link="identity", reg=2.0, solver=solver)
    linear = cc.MultipleLinUCB(n_features=problem.d, reg=2.0)
    assert ours.beta == linear.beta == 1.0
    for step in problem.rounds:
        ranking = linear.recommend(step.user, step.offered, step.k)
        examined, clicks = step.look(ranking)
        for policy in (ours, linear):
            policy.update(step.user, step.shown(ranking), step.click(examined, clicks))
        assert_near(ours.user_weights(step.user), linear.user_weights(step.user), "weights")
        expected = linear.scores(step.user, step.offered)
        assert_near(ours.scores(step.user, step.offered), expected, "scores")


def test_lists_of_many_users_in_one_turn():
    catalog = cc.Catalog(np.eye(3))
    policy = cc.MultipleGLM(n_features=3, beta=0.1)
    users, rankings = [0, 1, 2, 0], np.array([[0, 1], [1, 2], [2, 0], [0, 2]])
    policy.update_many(users, catalog[rankings], [0, 1, None, 1])
    one_by_one = cc.MultipleGLM(n_features=3, beta=0.1)
    for user, ranking, click in zip(users, rankings, [0, 1, None, 1], strict=True):
        one_by_one.update(user, catalog[ranking], click)
    for user in range(3):
        assert np.array_equal(policy.user_weights(user), one_by_one.user_weights(user))
    lists = policy.recommend_many([2, 1, 0, 2], catalog, 2)
    assert [row.tolist() for row in lists] == [
        policy.recommend(user, catalog, 2).tolist() for user in (2, 1, 0, 2)
    ]
