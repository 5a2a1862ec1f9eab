"""Arrivals: uniform, by a power law, by weights."""

import numpy as np
import pytest

import clubcascade as cc
from clubcascade.environments.arrivals import shares


@pytest.mark.parametrize("exponent", [0.0, 0.7, 1.0, 2.5])
def test_a_power_law(exponent):
    found = np.diff(shares({"zipf": exponent}, 50), prepend=0.0)
    expected = np.array([1 / rank**exponent for rank in range(1, 51)])
    np.testing.assert_allclose(found, expected / expected.sum(), atol=1e-12)


def test_zipf_alone_has_exponent_one():
    assert np.array_equal(shares("zipf", 9), shares({"zipf": 1}, 9))


@pytest.mark.parametrize("silent", [0, 2])
def test_shares_end_at_one_whatever_their_rounding(silent):
    """Ten tenths sum to less: a draw beyond the sum would be a user who does not exist."""
    assert np.cumsum(np.full(10, 0.1))[-1] < 1.0
    found = shares([1.0] * 10 + [0.0] * silent, 10 + silent)
    assert found[9:].tolist() == [1.0] * (1 + silent)


def test_users_come_by_the_law():
    env = cc.environments.Matrix(np.zeros((4, 2)), np.eye(2), arrivals={"zipf": 1.5})
    env.reset(3)
    came = np.bincount([env.next_user()[0] for _ in range(20_000)], minlength=4) / 20_000
    np.testing.assert_allclose(came, np.diff(shares({"zipf": 1.5}, 4), prepend=0.0), atol=0.015)


@pytest.mark.parametrize(
    ("arrivals", "words"),
    [
        ("often", "arrivals must be one of"),
        ({"zipf": -1.0}, "exponent of arrivals"),
        ({"zipf": "steep"}, "exponent of arrivals"),
        ({"zipf": np.nan}, "exponent of arrivals"),
        ({"zipf": 1.0, "more": 2.0}, "zipf"),
        ({}, "zipf"),
        ([1.0], "3 weights"),
        ([0.0, 0.0, 0.0], "positive sum"),
    ],
)
def test_bad_arrivals(arrivals, words):
    with pytest.raises(cc.errors.InvalidArgument, match=words):
        shares(arrivals, 3)
