"""Ranking by two products in single precision: exactly the sums from first feature to last."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clubcascade.kernels import packed_items
from clubcascade.kernels.packed_items import BLOCK, pack
from clubcascade.kernels.top_k import GROUPS, PART
from tests.reference.problems import examples

EDGES = [
    1,
    2,
    PART,
    PART + 1,
    GROUPS,
    2 * GROUPS,
    2 * GROUPS + 1,
    BLOCK - 1,
    BLOCK,
    BLOCK + 1,
    3 * BLOCK,
]
SIZES = st.sampled_from(EDGES) | st.integers(1, 600)


def single_scores(items, weights):
    """``items @ weights`` with every number and every partial sum in single precision."""
    short, total = weights.astype(np.float32), np.zeros(len(items), np.float32)
    for f, column in enumerate(items.astype(np.float32).T):
        total += short[f] * column
    return total


def rank(weights, shift, packed, rows, scores):
    packed_items.score(weights, shift, packed)
    packed_items.select(packed, rows, scores)


def best(scores, k):
    return np.lexsort((np.arange(len(scores)), -scores))[:k]


@examples(150)
@given(d=st.integers(1, 9), n=SIZES, seed=st.integers(0, 2**32 - 1), data=st.data())
def test_lists_are_those_of_single_precision(d, n, seed, data):
    rng = np.random.default_rng(seed)
    items = rng.standard_normal((n, d))
    items /= np.maximum(np.linalg.norm(items, axis=1, keepdims=True), 1.0)
    items[rng.random(n) < 0.1] = 0.0
    twins = rng.integers(n, size=(n // 5, 2))
    items[twins[:, 0]] = items[twins[:, 1]]
    laid_out = pack(items, np.arange(n))
    for k in (1, min(4, n), n, data.draw(st.integers(1, n))):
        weights = rng.standard_normal(d) * rng.choice([0.0, 1e-3, 1.0, 50.0])
        shift = rng.standard_normal(d) * rng.choice([0.0, 0.1, 1.0])
        expected = single_scores(items, weights) + np.abs(single_scores(items, shift))
        rows, scores = np.empty(k, np.int64), np.empty(k)
        rank(weights, shift, laid_out, rows, scores)
        np.testing.assert_array_equal(rows, best(expected, k))
        np.testing.assert_array_equal(scores, expected[rows])
        near = 2e-6 * (np.abs(weights).sum() + np.abs(shift).sum())
        mirrored = [items[rows] @ (weights + side * shift) for side in (1, -1)]
        np.testing.assert_allclose(scores, np.maximum(*mirrored), atol=near)
        offered = rng.permutation(n)[: rng.integers(k, n + 1)]
        rank(weights, shift, pack(items, offered), rows, scores)
        np.testing.assert_array_equal(rows, best(expected[offered], k))
        np.testing.assert_array_equal(scores, expected[offered[rows]])


@pytest.mark.parametrize("n", [5, PART, PART + 5, 4 * PART, BLOCK, BLOCK + 5, 4 * BLOCK])
def test_ties_go_to_the_lower_row(n):
    """Also across blocks, also when better items come late."""
    items = np.ones((n, 1)) / 2
    items[n - 1] = 1.0
    rows, scores = np.empty(4, np.int64), np.empty(4)
    rank(np.ones(1), np.zeros(1), pack(items, np.arange(n)), rows, scores)
    assert rows.tolist() == [n - 1, 0, 1, 2]
    nothing, backwards = np.zeros(1), np.arange(n)[::-1].copy()
    rank(nothing, nothing, pack(items, backwards), rows, scores)
    assert rows.tolist() == [0, 1, 2, 3]
