"""Compiled linear algebra against NumPy, and invariants for any ridge."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clubcascade.kernels import factors, linear, triangular
from tests.reference.problems import examples

SIZES = st.tuples(st.integers(1, 13), st.integers(0, 30), st.integers(0, 2**32 - 1))


def problem(size):
    d, n, seed = size
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, d)) * rng.uniform(0, 1, (n, 1))
    gram = np.zeros((d, d))
    for row in rows:
        linear.add_outer(gram, 1.0, row)
    np.testing.assert_allclose(gram, rows.T @ rows, atol=1e-10)
    return d, rows, gram, rng


@examples(100)
@given(SIZES, st.floats(1e-3, 1e3))
def test_inverse_and_log_det(size, ridge):
    d, rows, gram, _ = problem(size)
    matrix = ridge * np.eye(d) + rows.T @ rows
    out, work = np.empty((d, d)), np.empty((d, d))
    log_det = factors.invert(gram, ridge, work, out)
    np.testing.assert_allclose(matrix @ out, np.eye(d), atol=1e-8)
    np.testing.assert_array_equal(out, out.T)
    np.testing.assert_allclose(log_det, np.linalg.slogdet(matrix)[1], rtol=1e-9, atol=1e-9)


@examples(100)
@given(SIZES, st.sampled_from([0.0, 1e-16, 1e-12, 1e-8]), st.sampled_from([1e-6, 1e-12, 1e-16]))
def test_matrices_that_rounding_makes_singular(size, apart, ridge):
    """Rows that are nearly one, many times: pivots are rounding, and all stays finite."""
    d, n, seed = size
    rng = np.random.default_rng(seed)
    rows = rng.uniform(-1, 1, d) + apart * rng.uniform(-1, 1, (n + 1, d))
    gram = 1e6 * rows.T @ rows
    gram -= 1e-9 * gram[0, 0] * apart * np.eye(d)  # as after taking away what was added
    out, work = np.empty((d, d)), np.empty((d, d))
    log_det = factors.invert(gram, ridge, work, out)
    assert np.isfinite(log_det) and np.isfinite(out).all() and (np.diag(work) >= 0).all()
    weights = np.empty(d)
    factors.ridge_weights(gram, rows[0], ridge, np.empty((d, d + 1)), weights)
    assert np.isfinite(weights).all()


@examples(100)
@given(SIZES, st.floats(1e-3, 1e3))
def test_ridge_weights(size, ridge):
    d, rows, gram, rng = problem(size)
    moment = rng.standard_normal(d)
    out, work = np.empty(d), np.empty((d, d + 1))
    factors.ridge_weights(gram, moment, ridge, work, out)
    expected = np.linalg.solve(ridge * np.eye(d) + rows.T @ rows, moment)
    np.testing.assert_allclose(out, expected, rtol=1e-7, atol=1e-9)


@examples(100)
@given(SIZES, st.floats(1e-3, 1e3))
def test_solving_by_the_factor_and_half_of_it(size, ridge):
    d, rows, gram, rng = problem(size)
    matrix = ridge * np.eye(d) + rows.T @ rows
    upper, x = np.empty((d, d)), rng.standard_normal(d)
    linear.add_ridge(gram, ridge, upper)
    factors.factor(upper)
    whole, half = x.copy(), x.copy()
    triangular.solve(upper, whole)
    triangular.solve_half(upper, half)
    np.testing.assert_allclose(matrix @ whole, x, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(half @ half, x @ whole, rtol=1e-9)
    columns = rng.standard_normal((d, 5))
    columns[:, 2] = x
    triangular.solve_half_each(upper, columns)
    np.testing.assert_allclose(columns[:, 2], half, rtol=1e-9, atol=1e-12)
    triangular.solve_other_half(upper, half)
    np.testing.assert_array_equal(half, whole)


@examples(100)
@given(SIZES, st.floats(1e-3, 1e3))
def test_two_systems_side_by_side_are_two_systems(size, ridge):
    d, _, gram, rng = problem(size)
    upper, pair = np.empty((d, d)), rng.standard_normal((2, d))
    linear.add_ridge(gram, ridge, upper)
    factors.factor(upper)
    alone = pair.copy()
    for half, two in (
        (triangular.solve_half, triangular.solve_half_two),
        (triangular.solve_other_half, triangular.solve_other_half_two),
    ):
        two(upper, pair[0], pair[1])
        for x in alone:
            half(upper, x)
        np.testing.assert_array_equal(pair, alone)


@examples(50)
@given(SIZES, st.floats(1e-3, 1e3))
def test_an_inverse_leaves_a_factor_of_its_own_alone(size, ridge):
    d, _, gram, _ = problem(size)
    upper, work, out, same = (np.zeros((d, d)) for _ in range(4))
    factors.invert(gram, ridge, work, out)
    linear.add_ridge(gram, ridge, upper)
    factors.factor(upper)
    before = upper.copy()
    factors.invert_factor(upper, work, same)
    np.testing.assert_array_equal(same, out)
    np.testing.assert_array_equal(upper, before)


@examples(50)
@given(SIZES)
def test_feedback_is_added_and_taken_away(size):
    d, rows, gram, rng = problem(size)
    moment, sums, clicks = rng.standard_normal(d), np.eye(d), np.ones(d)
    linear.add_both(sums, clicks, 1.0, gram, moment)
    np.testing.assert_allclose(sums, np.eye(d) + rows.T @ rows, atol=1e-10)
    np.testing.assert_allclose(clicks, 1.0 + moment)
    linear.add_both(sums, clicks, -1.0, gram, moment)
    np.testing.assert_allclose(sums, np.eye(d), atol=1e-10)
    np.testing.assert_allclose(clicks, np.ones(d))


@pytest.mark.compiled
@examples(50)
@given(SIZES)
def test_times_and_dot_are_the_plain_ones_to_the_bit(size):
    d, _, gram, rng = problem(size)
    x = rng.standard_normal(d)
    matrix, out, plain = np.empty((d, d)), np.empty(d), np.empty(d)
    linear.add_ridge(gram, 0.5, matrix)
    linear.times(matrix, x, out)
    linear.times.py_func(matrix, x, plain)
    np.testing.assert_array_equal(out, plain)
    assert linear.dot(x, out) == linear.dot.py_func(x, out)
