"""Estimates against SciPy: warm and cold, separable, of one class, of tiny probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clubcascade.kernels import likelihood, newton, online_newton, samples
from clubcascade.learners.likelihoods import Likelihoods, make_store
from clubcascade.links import Link, read_link
from tests.reference.glm import estimate
from tests.reference.problems import examples, vectors

LINKS = ["logistic", "probit", "identity"]


class Case:
    """One estimate, fed sample by sample."""

    def __init__(self, d, link="logistic", penalty=1.0, online=False, inverses=True):
        self.link = read_link(link).compiled if isinstance(link, str) else link.compiled
        self.store = make_store(d)
        self.fits = Likelihoods(np.zeros((1, d)), penalty=penalty, online=online, inverses=inverses)
        self.fits.clear(0)

    @property
    def weights(self):
        return self.fits.arrays["weights"][0]

    def see(self, x, y):
        if self.fits.online:
            online_newton.newton_step(self.fits.struct, 0, self.link, x, float(y))
        elif x.any():
            item = samples.number(self.store, x)
            samples.count(self.fits._counts, 0, item, int(y))
            likelihood.follow(self.fits.struct, 0, self.link, x)

    def solve(self, anew=0):
        items = samples.items_of(self.store)
        newton.solve(self.fits.struct, 0, items, self.link, anew)
        return self.weights


@examples(60)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 6),
    st.integers(1, 60),
    st.sampled_from(LINKS),
    st.sampled_from([1e-3, 0.1, 1.0, 10.0]),
    st.sampled_from(["coins", "ones", "zeros", "separable"]),
    st.booleans(),
)
def test_agrees_with_scipy(seed, d, n, link, penalty, kind, inverses):
    rng = np.random.default_rng(seed)
    table = vectors(rng, 12, d)
    X = table[rng.integers(12, size=n)]
    y = {
        "coins": rng.random(n) < 0.4,
        "ones": np.ones(n),
        "zeros": np.zeros(n),
        "separable": X @ rng.standard_normal(d) > 0,
    }[kind]
    case = Case(d, link, penalty, inverses=inverses)
    for i in range(n):
        case.see(X[i], y[i])
        if i % 3 == 0 or i == n - 1:
            case.solve()
    expected = estimate(X, y, link, penalty)
    np.testing.assert_allclose(case.weights, expected, atol=2e-9, rtol=1e-9)
    np.testing.assert_allclose(case.solve(anew=1), expected, atol=2e-9, rtol=1e-9)


@examples(40)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["logistic", "probit"]),
    st.booleans(),
    st.sampled_from([1e-6, 1e-3]),
    st.integers(1, 400),
)
def test_separable_samples_never_give_nan(seed, link, online, penalty, n):
    rng = np.random.default_rng(seed)
    X = vectors(rng, n, 4)
    y = X @ rng.standard_normal(4) > 0
    case = Case(4, link, penalty, online=online)
    for i in range(n):
        case.see(X[i], y[i])
        if not online:
            case.solve()
    assert np.isfinite(case.weights).all()
    # the penalised loss at the estimate is at most that at 0, n ln 2 (probit: n 0.4)
    if not online:
        assert np.linalg.norm(case.weights) <= np.sqrt(2 * n * np.log(2) / penalty) + 1e-6


def test_tiny_probabilities():
    # one click in 10^12 observations: the weight is about the logarithm of the odds
    case = Case(1, penalty=1e-6)
    case.see(np.ones(1), 1)
    observations = samples.lists(case.fits._counts)[1]
    observations[0] = 10**12
    weight = case.solve(anew=1)[0]
    assert weight == pytest.approx(np.log(1e-12), abs=1e-4)


def test_a_steep_own_link_is_held_back():
    # mu = exp: a whole Newton step from 0 would go to e^(large), and overflow
    case = Case(1, Link(np.exp, np.exp, name="poisson"), penalty=1e-3)
    for _ in range(5):
        case.see(np.full(1, 0.02), 1)
    weight = case.solve(anew=1)[0]
    left = 1e-3 * weight + 5 * (np.exp(0.02 * weight) - 1) * 0.02
    assert abs(left) < 1e-12 and np.isfinite(weight)


def test_a_kept_inverse_saves_steps_but_changes_nothing():
    rng = np.random.default_rng(1)
    table = vectors(rng, 30, 5)
    kept, fresh = Case(5), Case(5, inverses=False)
    for _ in range(400):
        x, y = table[rng.integers(30)], rng.random() < 0.3
        for case in (kept, fresh):
            case.see(x, y)
            case.solve()
    np.testing.assert_allclose(kept.weights, fresh.weights, atol=2e-9)
    curve = kept.fits.arrays["curve"][0]
    second = np.zeros((5, 5))
    likelihood.curvature(kept.fits.struct, 0, samples.items_of(kept.store), kept.link, second)
    np.testing.assert_allclose(curve @ (second + np.eye(5)), np.eye(5), atol=0.05)


@pytest.mark.parametrize("link", LINKS)
def test_growing_keeps_what_there_is(link):
    rng = np.random.default_rng(2)
    case = Case(3, link)
    X, y = vectors(rng, 20, 3), rng.random(20) < 0.5
    for i in range(20):
        case.see(X[i], y[i])
        case.solve()
        if i == 10:
            weights = np.zeros((4, 3))
            weights[:1] = case.fits.arrays["weights"]
            case.fits.reserve(weights)
    np.testing.assert_allclose(case.weights, estimate(X, y, link, 1.0), atol=2e-9)
