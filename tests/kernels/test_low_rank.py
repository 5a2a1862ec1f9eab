"""Few observations in the place of sums over many."""

import numpy as np
import pytest

from clubcascade.kernels import low_rank


@pytest.mark.parametrize(("d", "n", "distinct"), [(1, 3, 1), (7, 4, 4), (30, 40, 9), (5, 9, 5)])
def test_observations_have_the_sums_they_were_made_from(d, n, distinct):
    rng = np.random.default_rng(d)
    items = rng.standard_normal((distinct, d))
    rows = items[rng.integers(distinct, size=n)]
    clicks = rng.random(n).round()
    rank = np.linalg.matrix_rank(rows)
    found, x, h = low_rank.observations(rows.T @ rows, rows.T @ clicks, rank)
    assert found and x.shape == (rank, d) and h.shape == (rank,)
    np.testing.assert_allclose(x.T @ x, rows.T @ rows, atol=1e-12)
    np.testing.assert_allclose(x.T @ h, rows.T @ clicks, atol=1e-12)
    np.testing.assert_allclose(low_rank.products(x), np.triu(x @ x.T), atol=1e-12)
    mean = rng.standard_normal(d)
    np.testing.assert_allclose(low_rank.residuals(x, h, mean), h - x @ mean, atol=1e-12)


def test_too_many_are_not_found():
    gram, moment = np.eye(4), np.ones(4)
    found, x, _ = low_rank.observations(gram, moment, 3)
    assert not found and len(x) == 0
    assert low_rank.observations(gram, moment, 4)[0]


def test_nothing_is_no_observation():
    found, x, _ = low_rank.observations(np.zeros((3, 3)), np.zeros(3), 1)
    assert found and len(x) == 0
