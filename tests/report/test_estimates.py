from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from clubcascade.report.estimates import Estimate, difference, estimate, ratio

numbers = st.floats(0.5, 100).map(lambda value: round(value, 3))
pairs = st.lists(st.tuples(numbers, numbers), min_size=2, max_size=8)


def test_the_estimate_is_the_t_interval():
    values = np.array([1.0, 4.0, 2.0, 7.0])
    found = estimate(values)
    low, high = stats.t.interval(0.95, 3, loc=values.mean(), scale=stats.sem(values))
    np.testing.assert_allclose([found.value, found.low, found.high], [3.5, low, high])


def test_one_seed_has_no_interval_and_no_sign():
    for found in (estimate(np.array([2.0])), ratio(np.array([2.0]), np.array([4.0]))):
        assert math.isnan(found.low) and math.isnan(found.high) and found.sign is None
    assert ratio(np.array([2.0]), np.array([4.0])).value == 0.5


@given(pairs)
def test_the_ratio_excludes_one_exactly_if_the_difference_excludes_zero(values):
    a, b = np.array(values).T
    found, gap = ratio(a, b), difference(a, b)
    assume(min(abs(gap.low), abs(gap.high)) > 1e-9)
    assume(math.isfinite(found.low))
    assert (found.low > 1 or found.high < 1) == (gap.sign != 0)
    assert found.low - 1e-9 <= found.value <= found.high + 1e-9


@given(pairs)
def test_the_ends_of_the_ratio_are_where_the_t_test_turns(values):
    """Literally: r is in the interval if the paired t-test of a - r b does not reject 0."""
    a, b = np.array(values).T
    found = ratio(a, b)
    assume(math.isfinite(found.low) and found.high - found.low > 1e-6)
    width = found.high - found.low
    for r, inside in [
        (found.low + 0.01 * width, True),
        (found.low - 0.01 * width, False),
        (found.high - 0.01 * width, True),
        (found.high + 0.01 * width, False),
    ]:
        e = a - r * b
        half = stats.t.ppf(0.975, len(e) - 1) * e.std(ddof=1) / math.sqrt(len(e))
        assert (abs(e.mean()) <= half) == inside, "also where a - r b is the same for all"


def test_runs_that_are_all_equal_have_an_interval_without_width():
    found = ratio(np.array([99.298, 99.298]), np.array([0.613, 0.613]))
    assert found.high - found.low < 1e-12


def test_a_ratio_to_what_may_be_zero_has_no_bounded_interval():
    found = ratio(np.array([1.0, 2.0, 3.0]), np.array([-1.0, 1.0, 3.0]))
    assert math.isinf(found.low) and math.isinf(found.high)
    assert math.isnan(ratio(np.ones(3), np.array([-1.0, 0.0, 1.0])).value)


@pytest.mark.parametrize(
    ("ends", "sign"), [((1, 2), 1), ((-2, -1), -1), ((-1, 1), 0), ((0, 1), 0), ((0, 0), 0)]
)
def test_the_sign_of_an_interval(ends, sign):
    assert Estimate(0.0, *ends).sign == sign
