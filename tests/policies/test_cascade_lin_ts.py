"""CascadeLinTS against the algorithm of its paper, with the luck handed over."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import clubcascade as cc
from clubcascade.kernels import counter_rng
from clubcascade.learners.seeds import key_of
from tests.reference.cascade_lin_ts import CascadeLinTS
from tests.reference.problems import assert_near, examples, play, problems


def normals(policy):
    """The standard normal vector that the next call of ``recommend`` will use."""
    key, draws = key_of(policy.seed, "draws"), policy.state()["draws"][0]
    return np.array([counter_rng.normal(key, draws, f) for f in range(policy.n_features)])


@examples(80)
@given(problems(), st.sampled_from([0.5, 1.0]) | st.floats(0.3, 3.0), st.integers(0, 1000))
def test_agrees_with_the_paper(problem, sigma, seed):
    policy = cc.CascadeLinTS(n_features=problem.d, sigma=sigma, seed=seed)
    reference = CascadeLinTS(problem.d, sigma=sigma)

    def after(step):
        for user in problem.users:
            assert_near(policy.cluster_weights(user), reference.theta(), "weights")
            mean = np.minimum(step.items @ reference.theta(), 1.0)
            assert_near(policy.scores(user, step.offered), mean, "scores of the mean")

    play(
        problem,
        policy,
        bounds=lambda step: reference.bounds(step.items, normals(policy)),
        update=lambda step, rows, ranking, examined, clicks: reference.update(
            rows, examined, clicks
        ),
        after=after,
        capped=False,
    )
