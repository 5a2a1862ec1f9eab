"""KnownClustersGLM against one SciPy estimate per cluster."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clubcascade as cc
from clubcascade.errors import UnknownUser
from tests.reference.glm import GroupedGLM
from tests.reference.problems import assert_near, examples, play, problems


@examples(15)
@given(problems(most_rounds=16), st.floats(0.0, 8.0), st.floats(0.05, 8.0), st.integers(1, 3))
def test_agrees_with_scipy(problem, beta, reg, m):
    cluster = {user: number % m for number, user in enumerate(problem.users)}
    policy = cc.KnownClustersGLM(n_features=problem.d, partition=cluster, beta=beta, reg=reg)
    reference = GroupedGLM(problem.d, cluster.get, "logistic", beta, reg)

    def after(step):
        for user in problem.users:
            assert_near(policy.cluster_weights(user), reference.theta(user), "weights")

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


def test_strangers_are_refused():
    policy = cc.KnownClustersGLM(n_features=2, partition=[{"a"}, {"b"}])
    with pytest.raises(UnknownUser, match="user must be in the partition"):
        policy.recommend("c", np.eye(2), k=1)
