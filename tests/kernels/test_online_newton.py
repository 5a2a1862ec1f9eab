"""Estimates of one pass: the step that they take, and what they are sums of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from clubcascade.kernels import online_newton
from clubcascade.learners.likelihoods import Likelihoods
from clubcascade.links import read_link
from tests.kernels.test_newton import LINKS, Case
from tests.reference.glm import LINKS as FUNCTIONS
from tests.reference.glm import estimate
from tests.reference.problems import examples, vectors


@examples(80)
@given(
    st.floats(-30.0, 30.0),
    st.floats(1e-9, 1e6),
    st.sampled_from([0.0, 1.0]),
    st.sampled_from(LINKS),
)
def test_the_error_solves_its_equation(z, width, y, link):
    found = online_newton.implicit_error(read_link(link).compiled, z, width, y)
    mu = FUNCTIONS[link][0]
    first = y - mu(np.float64(z))

    def left(error):
        return error - y + mu(np.float64(z + width * error))

    low, high = min(first, 0.0), max(first, 0.0)
    expected = brentq(left, low, high, xtol=1e-15) if left(low) * left(high) < 0 else first
    assert found == pytest.approx(expected, abs=1e-9)


def test_with_the_identity_link_it_is_ridge_regression():
    rng = np.random.default_rng(1)
    X, y = vectors(rng, 50, 4), rng.random(50) < 0.5
    for inverses in (True, False):
        case = Case(4, "identity", penalty=2.0, online=True, inverses=inverses)
        for i in range(50):
            case.see(X[i], y[i])
        np.testing.assert_allclose(case.weights, estimate(X, y, "identity", 2.0), atol=1e-12)


@pytest.mark.parametrize("link", LINKS)
def test_weights_are_those_of_the_sums(link):
    rng = np.random.default_rng(2)
    case = Case(4, link, penalty=0.5, online=True)
    for _ in range(60):
        case.see(vectors(rng, 1, 4)[0], rng.random() < 0.5)
    before = case.weights.copy()
    online_newton.solve_weights(case.fits.struct, 0)
    np.testing.assert_allclose(case.weights, before, atol=1e-10)


def test_sums_of_two_users_are_added():
    rng = np.random.default_rng(3)
    fits = Likelihoods(np.zeros((3, 2)), penalty=1.0, online=True)
    link = read_link("logistic").compiled
    for g in range(3):
        fits.clear(g)
    for _ in range(40):
        x, g = vectors(rng, 1, 2)[0], int(rng.integers(2))
        online_newton.newton_step(fits.struct, g, link, x, float(rng.random() < 0.5))
    online_newton.sum_statistics(fits.struct, np.array([0, 1]), fits.struct, 2)
    online_newton.solve_weights(fits.struct, 2)
    second, target = fits.arrays["second"], fits.arrays["target"]
    np.testing.assert_allclose(second[2], second[0] + second[1])
    expected = np.linalg.solve(np.eye(2) + second[0] + second[1], target[0] + target[1])
    np.testing.assert_allclose(fits.arrays["weights"][2], expected, atol=1e-12)
