"""Best lists of loose items: by scores, by means and by bounds, ties to the lower row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clubcascade.kernels import ranking

SCORES = st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), min_size=1, max_size=90)


def best(scores, k):
    return np.lexsort((np.arange(len(scores)), -np.asarray(scores)))[:k]


@given(scores=SCORES, data=st.data())
def test_the_largest_scores(scores, data):
    k = data.draw(st.integers(1, len(scores)))
    rows, kept = np.empty(k, np.int64), np.empty(k)
    ranking.rank_scores(np.array(scores), rows, kept)
    np.testing.assert_array_equal(rows, best(scores, k))
    np.testing.assert_array_equal(kept, np.array(scores)[rows])


@given(scores=SCORES, data=st.data())
def test_insert_keeps_the_best_in_any_order(scores, data):
    k = data.draw(st.integers(1, 5))
    rows, kept, filled = np.empty(k, np.int64), np.empty(k), 0
    for row in data.draw(st.permutations(range(len(scores)))):
        filled = ranking.insert(kept, rows, filled, scores[row], row)
    assert filled == min(k, len(scores))
    np.testing.assert_array_equal(rows[:filled], best(scores, k))


@pytest.mark.parametrize("n", [1, 16, 63, 64, 65, 200])
@pytest.mark.parametrize("d", [1, 3, 4, 9])
def test_means_and_bounds_of_some_offered_rows(n, d):
    rng = np.random.default_rng(100 * n + d)
    features, weights = rng.standard_normal((2 * n, d)), rng.standard_normal(d)
    root = rng.standard_normal((d, d))
    inverse = root @ root.T + np.eye(d)
    offered = rng.permutation(2 * n)[:n]
    mean, width = np.empty(n), np.empty(n)
    ranking.score_items(weights, inverse, features, offered, mean, width)
    chosen = features[offered]
    np.testing.assert_allclose(mean, chosen @ weights, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(width**2, ((chosen @ inverse) * chosen).sum(axis=1), rtol=1e-9)
    k = min(n, 7)
    rows, scores = np.empty(k, np.int64), np.empty(k)
    ranking.rank_means(weights, features, offered, rows, scores)
    np.testing.assert_array_equal(rows, best(mean, k))
    ranking.rank_fully(weights, inverse, 0.7, features, offered, rows, scores)
    np.testing.assert_array_equal(rows, best(mean + 0.7 * width, k))
