"""C3UCBGLM against one SciPy estimate for all users; its one-pass solver against that."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import root

import clubcascade as cc
from tests.reference.glm import GroupedGLM
from tests.reference.online_newton import GroupedOnePass
from tests.reference.problems import assert_near, examples, play, problems


@examples(20)
@given(
    problems(most_rounds=16),
    st.floats(0.0, 8.0),
    st.floats(0.05, 8.0),
    st.sampled_from(["logistic", "probit"]),
)
def test_agrees_with_scipy(problem, beta, reg, link):
    policy = cc.C3UCBGLM(n_features=problem.d, link=link, beta=beta, reg=reg)
    reference = GroupedGLM(problem.d, lambda user: 0, link, beta, reg)

    def after(step):
        assert_near(policy.cluster_weights("anybody"), reference.theta(0), "weights")
        expected = reference.scores(0, step.items)
        assert_near(policy.scores(step.user, step.offered), expected, "scores")

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


def test_an_own_link_solves_its_equation():
    """Equation (8) with the penalty, by SciPy and the function itself instead of its table."""

    def mu(z):
        return 0.5 + np.arctan(z) / np.pi

    link = cc.Link(mu, lambda z: 1 / (np.pi * (1 + z * z)), name="cauchit")
    policy = cc.C3UCBGLM(n_features=3, link=link, reg=1.0)
    rng = np.random.default_rng(5)
    catalog = cc.Catalog(rng.uniform(-0.5, 0.5, (12, 3)))
    seen, clicked = np.zeros((0, 3)), np.zeros(0)
    for _ in range(60):
        shown = catalog.features[ranking := policy.recommend("alice", catalog, 3)]
        liked = rng.random(3) < mu(shown @ [3.0, -2.0, 0.5])
        feedback = cc.Feedback(examined=3, clicks=tuple(np.flatnonzero(liked)))
        policy.update("alice", catalog[ranking], feedback)
        seen, clicked = np.vstack([seen, shown]), np.append(clicked, liked)
    exact = root(lambda w: seen.T @ (clicked - mu(seen @ w)) - policy.penalty * w, np.zeros(3))
    assert_near(policy.cluster_weights("alice"), exact.x, "weights")


@pytest.mark.slow
def test_one_pass_comes_near_the_exact_estimate():
    env = cc.environments.Synthetic(
        n_users=1, n_clusters=1, n_items=30, n_features=5, link="logistic", scale=2.0, seed=2
    )
    exact = cc.C3UCBGLM(n_features=5, reg=1.0)
    online = cc.C3UCBGLM(n_features=5, reg=1.0, solver="online")
    env.reset(1)
    off = []
    for t in range(2000):
        user, catalog = env.next_user()
        ranking = exact.recommend(user, catalog, 4)
        feedback = env.respond(user, ranking)
        for policy in (exact, online):
            policy.update(user, catalog[ranking], feedback)
        if t + 1 in (100, 2000):
            gap = exact.cluster_weights(0) - online.cluster_weights(0)
            off.append(float(np.linalg.norm(gap)))
    error = np.linalg.norm(exact.cluster_weights(0) - env.weights[0])
    assert off[1] < off[0] < 0.5
    assert off[1] < 0.5 * error  # small beside what the samples leave open


@examples(30)
@given(
    problems(most_rounds=16),
    st.floats(0.0, 8.0),
    st.floats(0.05, 8.0),
    st.sampled_from(["logistic", "probit"]),
)
def test_one_pass_agrees_with_a_minimisation_per_sample(problem, beta, reg, link):
    policy = cc.C3UCBGLM(n_features=problem.d, link=link, beta=beta, reg=reg, solver="online")
    reference = GroupedOnePass(problem.d, lambda user: 0, link, beta, reg)

    def after(step):
        assert_near(policy.cluster_weights("anybody"), reference.theta(0), "weights")
        expected = reference.scores(0, step.items)
        assert_near(policy.scores(step.user, step.offered), expected, "scores")

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
