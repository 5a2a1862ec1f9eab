"""A list place by place, each as if the places before had been examined and passed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clubcascade as cc
from clubcascade.kernels import cohort_constants as constants
from clubcascade.kernels import cohort_ranking, packed_items
from tests.reference.problems import examples


def believed(mean, precision, passed):
    """The expected weights after some items were examined and passed."""
    return np.linalg.solve(precision + passed.T @ passed, precision @ mean)


@examples(100)
@given(d=st.integers(1, 8), n=st.integers(1, 30), seed=st.integers(0, 2**32 - 1), data=st.data())
def test_every_place_is_the_best_after_passes(d, n, seed, data):
    rng = np.random.default_rng(seed)
    k = data.draw(st.integers(1, n))
    seen = rng.standard_normal((rng.integers(12), d))
    precision = seen.T @ seen + rng.choice([0.25, 4.0, 64.0]) * np.eye(d)
    mean, shift = rng.standard_normal(d), 0.3 * rng.standard_normal(d)
    items = (rng.standard_normal((n, d)) / np.sqrt(d)).astype(np.float32)
    policy = cc.CohortCascade(n_features=d)
    policy._cohorts.arrays["factor_work"][:, :d] = np.linalg.cholesky(precision).T
    swings = np.abs(items @ shift)
    rows, scores = np.empty(k, np.int64), np.empty(k)
    hopes = items @ mean + swings
    places = rng.permutation(n)
    columns = np.ascontiguousarray(items.T.astype(float))
    state = policy._cohorts.compiled
    cohort_ranking.rank_sequentially(
        state, 2.0, mean, columns, places, hopes, policy._cohorts._nothing, rows, scores
    )
    found = [int(np.flatnonzero(places == row)[0]) for row in rows]
    assert len(set(found)) == k
    for place, at in enumerate(found):
        passed = items[found[: min(place, constants.SEQUENTIAL_POSITIONS - 1)]].astype(float)
        after = items @ believed(mean, precision, passed) + swings
        assert scores[place] == pytest.approx(after[at], abs=1e-5)
        left = np.delete(after, found[:place])
        assert after[at] >= left.max() - 1e-5


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_no_row_comes_twice_whatever_the_scores_are(bad):
    policy = cc.CohortCascade(n_features=2)
    factor = policy._cohorts.arrays["factor_work"]
    for spoilt in ("hopes", "factor"):
        factor[:, :2] = np.diag([bad if spoilt == "factor" else 1.0] * 2)
        hopes = np.full(5, bad if spoilt == "hopes" else 0.5)
        rows, scores, columns = np.empty(4, np.int64), np.empty(4), np.full((2, 5), 0.5)
        places = np.arange(5)
        state = policy._cohorts.compiled
        cohort_ranking.rank_sequentially(
            state, 2.0, np.ones(2), columns, places, hopes, policy._cohorts._nothing, rows, scores
        )
        assert len(set(rows.tolist())) == 4


def test_a_newcomer_is_not_shown_one_guess_twice():
    """Two items of the best kind and one of the next: the second place goes to the other kind."""
    items = np.array([[1.0, 0.0], [0.99, 0.0], [0.0, 0.9]])
    policy = cc.CohortCascade(n_features=2, explore=0.0)
    for _ in range(30):  # everyone likes the first kind a little better, but not all do
        for click, kind in ((0, 0), (0, 0), (0, 2), (None, 2)):
            policy.update("somebody", items[[kind]], click=click)
    scores = policy.scores("newcomer", items)
    assert scores[0] > scores[1] > scores[2]
    assert policy.recommend("newcomer", items, k=2).tolist() == [0, 2]
    assert policy.recommend("newcomer", cc.Catalog(items), k=2).tolist() == [0, 2]


@pytest.mark.parametrize(
    ("k", "n", "size"), [(1, 100, 3), (4, 100, 12), (4, 9, 9), (16, 100, 48), (20, 100, 52)]
)
def test_a_shortlist_has_three_for_each_of_the_first_places(k, n, size):
    places, hopes = cohort_ranking.shortlist(np.empty(k, np.int64), n)
    assert len(places) == len(hopes) == size


def test_items_are_fetched_as_they_are_scored():
    rng = np.random.default_rng(1)
    items = rng.standard_normal((300, 3)) / 3
    places, offered = np.array([299, 0, 256, 255]), rng.permutation(300)
    found = packed_items.unpack(packed_items.pack(items, offered), places)
    np.testing.assert_array_equal(found[:, :4].T, items[offered[places]].astype("f4"))
    assert found.shape == (3, packed_items.LANES) and not found[:, 4:].any()
