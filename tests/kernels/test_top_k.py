"""The best few of many scores, against a sort."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clubcascade.kernels import top_k
from clubcascade.kernels.top_k import GROUPS, LONGEST_LIST, MAX_COLLECTED, PART
from tests.reference.problems import examples


def pick(scores, k):
    """Call the kernel; what lies beyond the scores must not matter."""
    n = len(scores)
    room = np.full(-(-n // GROUPS) * GROUPS, np.float32(1e30))
    room[:n] = scores
    rows, found = np.empty(k, np.int64), np.empty(k)
    tops, kept = np.empty(GROUPS, np.float32), np.full(MAX_COLLECTED, -1)
    top_k.select(room.reshape(-1, PART), room.reshape(-1, GROUPS), tops, kept, n, rows, found)
    return rows, found


def sorted_best(scores, k):
    return np.lexsort((np.arange(len(scores)), -scores))[:k]


@examples(300)
@given(
    n=st.integers(1, 700) | st.sampled_from([GROUPS, 2 * GROUPS - 1, 2 * GROUPS, 5000]),
    k=st.integers(1, 3 * LONGEST_LIST),
    levels=st.sampled_from([1, 2, 5, 50, 10**6]),
    order=st.sampled_from(["any", "rising", "falling", "one far above"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_it_is_the_head_of_a_sort(n, k, levels, order, seed):
    """Whatever the scores: many ties, all alike, sorted either way, or no bar to be found."""
    rng = np.random.default_rng(seed)
    scores = (rng.integers(levels, size=n) / levels - 0.5).astype(np.float32)
    scores *= np.float32(rng.choice([1e-30, 1.0, 1e30]))
    if order == "one far above":
        scores[rng.integers(n)] = 1e38
    elif order != "any":
        scores = np.sort(scores)[:: 1 if order == "rising" else -1].copy()
    k = min(k, n)
    rows, found = pick(scores, k)
    np.testing.assert_array_equal(rows, sorted_best(scores, k))
    np.testing.assert_array_equal(found, scores[rows])


@pytest.mark.parametrize("k", [1, 4, 12, LONGEST_LIST])
def test_few_are_set_aside(k):
    """The bar lets hardly more through than are wanted: else it would cost more than it saves."""
    rng = np.random.default_rng(k)
    for _ in range(50):
        scores = rng.standard_normal(1024).astype(np.float32)
        tops, kept = np.empty(GROUPS, np.float32), np.empty(MAX_COLLECTED, np.int64)
        bar = top_k._threshold(scores.reshape(-1, GROUPS), 16, tops, k)
        count = top_k._collect(scores.reshape(-1, PART), 1024, bar, kept)
        assert k <= count <= (2 * k + 4 if k < LONGEST_LIST else MAX_COLLECTED)
        assert (scores[kept[:count]] >= bar).all() and (scores >= bar).sum() == count


def test_too_many_to_set_aside():
    """One score far above hides where the bar should be; the best of the others come last."""
    scores = np.linspace(0, 1, 5000, dtype=np.float32)
    scores[7] = 1e38
    rows, _ = pick(scores, 5)
    assert rows.tolist() == [7, 4999, 4998, 4997, 4996]


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none(wrong):
    """Scores may overflow: a list is filled all the same, each row once."""
    scores = np.random.default_rng(1).standard_normal(300).astype(np.float32)
    scores[::3] = wrong
    rows, _ = pick(scores, 5)
    assert len(set(rows.tolist())) == 5 and rows.min() >= 0 and rows.max() < 300
