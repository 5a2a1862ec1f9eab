"""Normal numbers of the ziggurat: the whole law with its tails; neighbours share nothing."""

import numpy as np
import pytest
from scipy import stats

from clubcascade.kernels import ziggurat
from clubcascade.kernels.jit import INTERPRETED

KEY = np.uint64(2026)


def draw(rounds, places, key=KEY):
    out = np.empty((rounds // 25 if INTERPRETED else rounds, places))
    for t, row in enumerate(out):
        ziggurat.normals(key, t, row)
    return out


def test_the_law_is_normal():
    draws = draw(20_000, 20).ravel()
    assert stats.kstest(draws, "norm").pvalue > 0.001
    for power, moment, spread in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96), (6, 15, 10_170)):
        error = (draws**power).mean() - moment
        assert abs(error) < 4 * np.sqrt(spread / draws.size), power


@pytest.mark.parametrize("beyond", [2.5, 3.0, ziggurat.TAIL, 4.0])
def test_tails(beyond):
    """Both have as many numbers as they should; the last layer and what is beyond it."""
    draws = draw(50_000, 20, np.uint64(7)).ravel()
    expected = draws.size * stats.norm.sf(beyond)
    for side in (draws, -draws):
        assert abs(np.count_nonzero(side > beyond) - expected) < 4 * np.sqrt(expected)


def test_layers_have_one_area():
    edges, heights = ziggurat._EDGES, ziggurat._HEIGHTS
    areas = edges[1:256] * np.diff(heights)[1:256]
    lowest = edges[0] * heights[1]
    np.testing.assert_allclose(areas, lowest, rtol=1e-9)
    whole = ziggurat.TAIL * heights[1] + np.sqrt(2 * np.pi) * stats.norm.sf(ziggurat.TAIL)
    assert lowest == pytest.approx(whole, rel=1e-12)


def test_neighbours_share_nothing():
    draws = draw(20_000, 20)
    for one, other in ((draws[1:], draws[:-1]), (draws[:, 1:], draws[:, :-1])):
        for power in (1, 2):
            a, b = one.ravel() ** power, other.ravel() ** power
            assert abs(np.corrcoef(a, b)[0, 1]) < 4 / np.sqrt(a.size)


def test_numbers_are_known_by_their_place():
    """A shorter vector is the beginning of a longer one, and every round has its own."""
    long, short = np.empty(20), np.empty(7)
    ziggurat.normals(KEY, 5, long)
    ziggurat.normals(KEY, 5, short)
    np.testing.assert_array_equal(short, long[:7])
    ziggurat.normals(KEY, 6, short)
    assert not np.isin(short, long).any()
