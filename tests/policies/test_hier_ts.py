"""HierTS against its literal version, with the random numbers handed over."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import clubcascade as cc
from clubcascade.kernels import counter_rng
from clubcascade.learners.seeds import key_of
from tests.reference.hier_ts import HierTS
from tests.reference.problems import assert_near, examples, play, problems


def normals(policy):
    """The two standard normal vectors that the next call of ``recommend`` will use."""
    key, d = key_of(policy.seed, "draws"), policy.n_features
    draws = policy.state()["draws"][0]
    z = np.array([counter_rng.normal(key, draws, f) for f in range(2 * d)])
    return z[:d], z[d:]


@examples(80)
@given(problems(), st.integers(0, 1000))
def test_agrees_with_the_literal_version(problem, seed):
    policy = cc.HierTS(n_features=problem.d, users=problem.early, seed=seed)
    reference = HierTS(problem.d)

    def after(step):
        assert_near(policy.cluster_weights(step.user), reference.mu, "mean of all")
        assert_near(policy.noise_variance, reference.s2, "noise variance")
        assert_near(policy.covariance, reference.Sigma, "covariance")
        for user in problem.users:
            mean, _ = reference.posterior(user)
            assert_near(policy.scores(user, step.offered), np.clip(step.items @ mean, 0, 1), "mean")

    play(
        problem,
        policy,
        bounds=lambda step: reference.bounds(step.user, step.items, *normals(policy)),
        update=lambda step, rows, ranking, examined, clicks: reference.update(
            step.user, rows, examined, clicks
        ),
        after=after,
        capped=False,
    )


def test_finds_the_prior_of_normal_weights():
    """EM comes close to the mean and the deviation of the weights that clicks came from."""
    rng = np.random.default_rng(5)
    mean, deviation = np.array([0.4, 0.4, 0.2]), np.array([0.05, 0.05, 0.25])
    weights = mean + deviation * rng.standard_normal((150, 3))
    policy = cc.HierTS(n_features=3)
    for turn in range(100 * len(weights)):
        user = turn % len(weights)
        item = np.abs(rng.standard_normal((1, 3)))
        item /= np.linalg.norm(item)
        policy.update(user, item, 0 if rng.random() < item[0] @ weights[user] else None)
    assert_near(policy.cluster_weights(0), mean, "mean", 0.05)
    assert_near(np.sqrt(np.diag(policy.covariance)), deviation, "deviation", 0.07)
