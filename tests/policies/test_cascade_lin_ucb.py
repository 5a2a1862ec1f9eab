"""CascadeLinUCB against the algorithm of its paper."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import clubcascade as cc
from tests.reference.cascade_lin_ucb import CascadeLinUCB
from tests.reference.problems import assert_near, examples, play, problems


@examples(80)
@given(
    problems(),
    st.sampled_from([0.5, 1.0]) | st.floats(0.3, 3.0),
    st.sampled_from([0.0, 1.0]) | st.floats(0.0, 4.0),
)
def test_agrees_with_the_paper(problem, sigma, c):
    policy = cc.CascadeLinUCB(n_features=problem.d, sigma=sigma, c=c)
    reference = CascadeLinUCB(problem.d, sigma=sigma, c=c)

    def after(step):
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
