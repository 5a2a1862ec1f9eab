"""Inverses that follow by rank-one steps are computed anew before rounding piles up.

With a tiny ridge constant a model's first inverse is huge. Its rounding errors would stay for
good: after some thousand samples they would show in the sixth digit.
"""

from __future__ import annotations

import numpy as np
import pytest

import clubcascade as cc
from clubcascade.kernels.ridge import RENEW

REG = 1e-6
LINEAR = [
    lambda: cc.C3UCB(n_features=3, beta=1.0, reg=REG),
    lambda: cc.MultipleLinUCB(n_features=3, beta=1.0, reg=REG),
    lambda: cc.ClubCascade(n_features=3, users="ab", alpha=np.inf, beta=1.0, reg=REG),
    lambda: cc.ClubCascade(
        n_features=3, users="ab", alpha=np.inf, reg=REG, start="random", edge_probability=1.0
    ),
]
GENERALIZED = [
    lambda solver: cc.C3UCBGLM(n_features=3, reg=REG, beta=1.0, penalty=1e-6, solver=solver),
    lambda solver: cc.ClubCascadeGLM(
        n_features=3, users="ab", alpha=np.inf, beta=1.0, reg=REG, penalty=1e-6, solver=solver
    ),
]
ITEMS = np.random.default_rng(4).standard_normal((40, 3)) / 4


def teach(policy, updates):
    """Show random items to one user, four at a time; return them and what was clicked."""
    rng = np.random.default_rng(5)
    seen = ITEMS[rng.integers(40, size=(updates, 4))]
    clicked = rng.random((updates, 4)) < 0.5 + seen @ [0.5, -0.3, 0.1]
    for rows, clicks in zip(seen, clicked, strict=True):
        policy.update("a", rows, cc.Feedback(examined=4, clicks=tuple(np.flatnonzero(clicks))))
    return seen.reshape(-1, 3), clicked.ravel().astype(float)


@pytest.mark.parametrize("make", LINEAR)
def test_linear_models_do_not_drift(make):
    policy = make()
    seen, clicked = teach(policy, RENEW // 4)
    matrix = REG * np.eye(3) + seen.T @ seen
    exact = np.linalg.solve(matrix, seen.T @ clicked)
    np.testing.assert_allclose(policy.cluster_weights("a"), exact, rtol=1e-10)
    np.testing.assert_allclose(policy.user_weights("a"), exact, rtol=1e-10)
    if isinstance(policy, cc.ClubCascade):  # what edges are decided by
        own = policy._learner.users.arrays
        np.testing.assert_allclose(own["weights"][0], exact, rtol=1e-10)
        np.testing.assert_allclose(own["inverse"][0] @ matrix, np.eye(3), atol=1e-10)
    width = np.sqrt(np.einsum("nf,fg,ng->n", ITEMS, np.linalg.inv(matrix), ITEMS))
    mean = ITEMS @ exact
    assert (mean + policy.beta * width < 1.0).all()
    np.testing.assert_allclose(policy.scores("a", ITEMS), mean + policy.beta * width, rtol=1e-9)


@pytest.mark.parametrize("solver", ["exact", "online"])
@pytest.mark.parametrize("make", GENERALIZED)
def test_widths_of_generalized_models_do_not_drift(make, solver):
    policy = make(solver)
    seen, _ = teach(policy, RENEW // 4 + 3)
    matrix = REG * np.eye(3) + seen.T @ seen
    kept = policy._learner.models.arrays["inverse"][0]
    np.testing.assert_allclose(kept @ matrix, np.eye(3), atol=1e-11)
    inverse = np.linalg.inv(matrix)
    width = np.sqrt(np.einsum("nf,fg,ng->n", ITEMS, inverse, ITEMS))
    bound = ITEMS @ policy.cluster_weights("a") + policy.beta * width
    expected = 1.0 / (1.0 + np.exp(-bound))
    np.testing.assert_allclose(policy.scores("a", ITEMS), expected, rtol=1e-9)


@pytest.mark.parametrize("make", GENERALIZED)
def test_weights_of_one_pass_do_not_drift(make):
    """They are those of the sums that are kept, and of nothing that followed in small steps."""
    policy = make("online")
    teach(policy, RENEW // 4 + 3)
    learner = policy._learner
    fits = getattr(learner, "users", learner).fits.arrays
    exact = np.linalg.solve(1e-6 * np.eye(3) + fits["second"][0], fits["target"][0])
    np.testing.assert_allclose(policy.cluster_weights("a"), exact, rtol=1e-11)
