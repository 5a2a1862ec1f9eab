"""A model that sees observations one by one is the ridge regression of all of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clubcascade.kernels import ridge as kernels
from clubcascade.learners.models import Models
from tests.reference.problems import examples


@examples(60)
@given(
    d=st.integers(1, 8),
    n=st.integers(0, 60),
    reg=st.floats(0.01, 100),
    seed=st.integers(0, 2**32 - 1),
)
def test_observing_is_ridge_regression(d, n, reg, seed):
    rng = np.random.default_rng(seed)
    models = Models(d, reg, capacity=2, log_det=True)
    models.clear(1)
    rows = rng.standard_normal((n, d)) / np.sqrt(d)
    rows[rng.random(n) < 0.1] = 0.0
    clicks = (rng.random(n) < 0.4).astype(float)
    path = 0.0
    old = np.zeros(d)
    matrix = reg * np.eye(d)
    for x, y in zip(rows, clicks, strict=True):
        kernels.observe(models.struct, 1, x, y)
        kernels.settle(models.struct, 1)
        matrix += np.outer(x, x)
        new = models.arrays["weights"][1].copy()
        path += np.sqrt((new - old) @ matrix @ (new - old))
        old = new
    a = models.arrays
    np.testing.assert_allclose(a["inverse"][1] @ matrix, np.eye(d), atol=1e-9)
    np.testing.assert_allclose(a["weights"][1], np.linalg.solve(matrix, rows.T @ clicks), atol=1e-9)
    np.testing.assert_allclose(a["log_det"][1], np.linalg.slogdet(matrix)[1], atol=1e-8)
    np.testing.assert_allclose(a["gram"][1], rows.T @ rows, atol=1e-12)
    assert a["count"][1] == n
    assert a["drift"][1] == pytest.approx(path, abs=1e-7)


def test_inverse_does_not_drift_in_a_long_run():
    rng = np.random.default_rng(1)
    models = Models(6, 1.0, capacity=1)
    models.clear(0)
    items = rng.standard_normal((50, 6))
    items /= np.linalg.norm(items, axis=1, keepdims=True)
    worst = 0.0
    for t in range(20_000):
        kernels.observe(models.struct, 0, items[rng.integers(50)], float(rng.random() < 0.5))
        kernels.settle(models.struct, 0)
        if t % 997 == 0:
            product = (np.eye(6) + models.arrays["gram"][0]) @ models.arrays["inverse"][0]
            worst = max(worst, np.abs(product - np.eye(6)).max())
    assert worst < 1e-9


def test_an_inverse_is_computed_anew_after_so_many_steps():
    """A tiny ridge: the first inverse is huge, and rounding of that size would stay for good."""
    rng = np.random.default_rng(2)
    models = Models(3, 1e-8, capacity=1)
    models.clear(0)
    a = models.arrays

    def off():
        return np.abs((1e-8 * np.eye(3) + a["gram"][0]) @ a["inverse"][0] - np.eye(3)).max()

    for t in range(1, 2 * kernels.RENEW + 1):
        x = rng.standard_normal(3) / 2
        kernels.observe(models.struct, 0, x, float(rng.random() < 0.5))
        kernels.settle(models.struct, 0)
        assert a["age"][0] == t % kernels.RENEW
        if t == kernels.RENEW - 1:
            assert off() > 1e-7, "no drift: this test shows nothing"
    assert off() < 1e-11
    expected = np.linalg.solve(1e-8 * np.eye(3) + a["gram"][0], a["moment"][0])
    np.testing.assert_allclose(a["weights"][0], expected, rtol=1e-11)
