"""Items at the edge: single precision, text, and all that is no matrix of numbers."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import clubcascade as cc
from clubcascade.errors import InvalidArgument, InvalidItems
from clubcascade.validation import feature_rows, number


@pytest.mark.parametrize("d", [2, 10, 128, 1536, 4096])
def test_unit_vectors_of_single_precision_are_welcome(d):
    rows = np.random.default_rng(d).standard_normal((500, d)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    assert np.linalg.norm(rows.astype(float), axis=1).max() > 1
    taken = feature_rows("items", rows)
    np.testing.assert_array_equal(taken, rows)  # as they are
    text = np.array([[float(f"{x:.7f}") for x in row] for row in rows[:50]])
    np.testing.assert_array_equal(feature_rows("items", text), text)
    assert len(cc.Catalog(text.tolist())) == 50


def test_a_norm_above_the_tolerance_is_told_with_its_digits():
    with pytest.raises(InvalidItems, match=r"norm at most 1, got norm 1\.00002 in row 1;"):
        feature_rows("items", [[0.0], [1.00002]])
    with pytest.raises(InvalidItems, match=r"got norm 1\.0000101 in row 0;"):
        feature_rows("items", [[1.0000101]])
    assert feature_rows("items", [[1.000009]])[0, 0] == 1.000009


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (np.array([["0.1", "0.2"]]), "real numbers, got <U3"),
        ([["0.1", "0.2"]], "real numbers, got <U3"),
        ([[b"0.1"]], "real numbers, got |S3"),
        (np.array([[0.1, "0.2"]], dtype=object), "real numbers, got str '0.2' in row 0"),
        ([[0.1], [None]], "real numbers, got NoneType None in row 1"),
        ([[1j]], "real numbers, got complex128"),
        (np.array([[1j]], dtype=object), "real numbers, got complex 1j in row 0"),
        (np.array([["2024-01-01"]], dtype="M8[D]"), r"real numbers, got datetime64\[D\]"),
        (np.zeros(2, dtype=[("a", float)]), "real numbers, got "),
        ([[0.1, 0.2], [0.3]], "real numbers, got list: .*inhomogeneous"),
        (sparse.csr_array(np.eye(2)), "got csr_array: its matrix is .toarray"),
        (sparse.csr_matrix(np.eye(2)), "got csr_matrix: its matrix is .toarray"),
        (cc.Catalog(np.eye(2)), "got Catalog: its matrix is .features"),
        (np.ma.array(np.eye(2), mask=[[0, 1], [0, 0]]), "got 1 masked entries"),
        ({"a": 1}, "real numbers, got dict"),
        ({0.5}, "real numbers, got set"),
        (len, "real numbers, got builtin_function"),
        (None, "real numbers, got NoneType None"),
        ("items", "real numbers, got <U5"),
        (0.5, r"shape \(items, features\), got \(\)"),
        (np.array(0.5), r"shape \(items, features\), got \(\)"),
        (np.zeros(3), r"got \(3,\)"),
        (np.zeros((2, 2, 2)), r"got \(2, 2, 2\)"),
        (np.zeros((0, 3)), "at least one item"),
        (np.zeros((3, 0)), "at least one feature"),
        ([[10**400]], "real numbers, got list"),
        ([[1e200]], "norm 1e\\+200 in row 0"),
    ],
)
def test_what_is_no_matrix_of_numbers(rows, words):
    policy = cc.CascadeLinUCB(n_features=2)
    for call, name in (
        (lambda: cc.Catalog(rows), "items"),
        (lambda: feature_rows("items", rows), "items"),
    ):
        with pytest.raises(InvalidItems, match=rf"^{name} must.*{words}"):
            call()
    if not isinstance(rows, cc.Catalog):
        with pytest.raises(InvalidItems, match="^items must"):
            policy.recommend(0, rows, 1)
    with pytest.raises(InvalidItems, match="^shown must"):
        policy.update(0, rows, None)
    assert policy.users == []


@pytest.mark.parametrize(
    "rows",
    [
        np.eye(2, dtype=bool),
        np.eye(2, dtype=np.int8),
        np.eye(2, dtype=np.uint64),
        np.eye(2, dtype=np.float16),
        np.asfortranarray(np.eye(2)),
        np.eye(4)[::2, ::2],
        np.ma.array(np.eye(2)),
        [[1, 0], [0, 1]],
        ((True, False), (False, True)),
        [[Fraction(1), 0], [0, Decimal(1)]],
        [np.array([1.0, 0.0]), np.array([0.0, 1.0])],
        cc.Catalog(np.eye(2))[[0, 1]],
        np.eye(2).astype(">f8"),
    ],
    ids=lambda rows: type(rows).__name__,
)
def test_numbers_of_any_kind(rows):
    taken = feature_rows("items", rows, 2)
    np.testing.assert_array_equal(taken, np.eye(2))
    assert taken.dtype == np.float64
    assert taken.flags.c_contiguous


def test_a_number_too_large_for_a_float_is_named():
    with pytest.raises(InvalidArgument, match="beta must be a number in "):
        number("beta", 10**400, low=0)


def test_read_only_items_are_left_alone_and_need_no_other_kernel():
    """Numba compiles for read-only arrays anew; pandas gives such arrays."""
    items = np.eye(2)
    assert feature_rows("items", items) is items
    items.flags.writeable = False
    rows = feature_rows("items", items)
    assert rows.flags.writeable and np.array_equal(rows, items)
