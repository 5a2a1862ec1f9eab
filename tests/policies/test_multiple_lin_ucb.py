"""MultipleLinUCB against one ridge model per user."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import clubcascade as cc
from tests.reference.multiple_lin_ucb import MultipleLinUCB
from tests.reference.problems import assert_near, examples, partition, play, problems


@examples(80)
@given(
    problems(),
    st.sampled_from([0.0, 1.0]) | st.floats(0.0, 4.0),
    st.sampled_from([0.1, 1.0, 4.0]) | st.floats(0.05, 8.0),
)
def test_agrees_with_one_model_per_user(problem, beta, reg):
    policy = cc.MultipleLinUCB(n_features=problem.d, beta=beta, reg=reg)
    reference = MultipleLinUCB(problem.d, beta=beta, reg=reg)

    def after(step):
        for user in reference.S:
            S, b, T = reference.model(user)
            gram, moment, count = policy.statistics(user)
            assert_near(gram, S, "gram")
            assert_near(moment, b, "moment")
            assert count == T
            assert_near(policy.user_weights(user), reference.theta(user), "user weights")
            assert_near(policy.cluster_weights(user), reference.theta(user), "cluster weights")
        assert partition(policy.clusters()) == {frozenset([user]) for user in reference.S}
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
    )
