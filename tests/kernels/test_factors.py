"""Factors and inverses against NumPy's, for every remainder of four rows."""

import numpy as np
import pytest

from clubcascade.kernels import factors


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 7, 8, 11, 14, 24, 33])
def test_factor_and_inverse(d):
    rng = np.random.default_rng(d)
    root = rng.standard_normal((d, d))
    gram = root @ root.T
    matrix = gram + 0.5 * np.eye(d)
    upper = matrix.copy()
    factors.factor(upper)
    np.testing.assert_allclose(np.triu(upper), np.linalg.cholesky(matrix).T, atol=1e-10)
    work, inverse = np.empty((d, d)), np.empty((d, d))
    log_det = factors.invert(gram, 0.5, work, inverse)
    assert log_det == pytest.approx(np.linalg.slogdet(matrix)[1])
    np.testing.assert_allclose(inverse @ matrix, np.eye(d), atol=1e-9)
    np.testing.assert_array_equal(inverse, inverse.T)
    kept = upper.copy()
    factors.invert_factor(upper, work, inverse)
    np.testing.assert_array_equal(upper, kept)  # scratch of its own
    np.testing.assert_allclose(inverse @ matrix, np.eye(d), atol=1e-9)
