"""The terms of a list are those of the literal version, and right in expectation."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clubcascade.evaluation.redraw import list_terms
from tests.reference.evaluation import cascade_dr, cascade_value, item_wise_dr, prefix_weight


@st.composite
def lists(draw):
    n, k = draw(st.integers(3, 6)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    few = rng.permuted(np.tile(np.arange(n), (4, 1)), axis=1)[:, :k]  # so that prefixes match
    drawn, own = few[rng.integers(0, 4, 9)], few[rng.integers(0, 4, 5)]
    click = draw(st.integers(-1, k - 1))
    return rng.random(n), few[rng.integers(0, 4)], click, drawn, own


@given(lists())
@settings(max_examples=200)
def test_terms_are_those_of_the_literal_version(one):
    theta, shown, click, drawn, own = one
    weights, (cascade, by_item, _) = list_terms(theta, shown, click, drawn, own, None)
    literal = theta, shown, None if click < 0 else click, drawn, own
    assert cascade == pytest.approx(cascade_dr(*literal))
    assert by_item == pytest.approx(item_wise_dr(*literal))
    for j, weight in enumerate(weights, start=1):
        assert weight == pytest.approx(prefix_weight(shown, drawn, own, j))


def outcomes(truth, shown):
    """Yield every first click of a list with its probability."""
    alive = 1.0
    for place, item in enumerate(shown):
        yield place, alive * truth[item]
        alive *= 1 - truth[item]
    yield -1, alive


@given(st.integers(0, 2**31), st.integers(1, 3))
@settings(max_examples=50)
def test_with_known_propensities_the_mean_is_the_truth_whatever_the_model(seed, k):
    rng = np.random.default_rng(seed)
    truth, theta = rng.random(4), rng.random(4)
    own = np.array([rng.permutation(4)[:k] for _ in range(3)])
    every = list(permutations(range(4), k))
    known = 1 / np.cumprod(4.0 - np.arange(k))
    value = np.mean([cascade_value(truth, each) for each in own])
    mean, low, high, first = 0.0, 0.0, 1.0, 0.0
    for shown in every:
        for click, p in outcomes(truth, shown):
            p /= len(every)
            drawn = np.array(every)
            weights, found = list_terms(theta, np.array(shown), click, drawn, own, known)
            mean += p * found[0]
            low += p * weights[click] * (click >= 0)
            high -= p * weights[-1] * (click < 0)
            first += p * weights[0]
    assert mean == pytest.approx(value)
    assert first == pytest.approx(1.0)
    assert (low, high) == pytest.approx((value, value))  # both bounds are tight with full support


@pytest.mark.parametrize("p", [0.3, 0.02])
def test_weights_from_redrawn_lists_never_overstate(p):
    rng, m = np.random.default_rng(3), 16
    found = []
    for _ in range(20_000):
        first = np.where(rng.random(m + 1) < p, 0, 1)
        weights, _ = list_terms(
            np.full(2, 0.5), first[:1], -1, first[1:, None], np.array([[0]]), None
        )
        found.append(weights[0])
    mean, error = np.mean(found), np.std(found) / np.sqrt(len(found))
    assert mean <= 1 + 3 * error
    assert mean == pytest.approx(1 - (1 - p) ** (m + 1), abs=4 * error)


def test_unsupported_lists_leave_the_bracket_wide():
    truth, theta = np.array([0.9, 0.1, 0.5]), np.full(3, 0.3)
    low, high = 0.0, 1.0
    drawn, own = np.array([[1]] * 8), np.array([[0]])  # the log never shows item 0
    for click, p in outcomes(truth, [1]):
        weights, _ = list_terms(theta, np.array([1]), click, drawn, own, None)
        low += p * weights[click] * (click >= 0)
        high -= p * weights[-1] * (click < 0)
    assert (low, high) == (0.0, 1.0)


def test_examination_is_floored():
    theta, drawn = np.full(5, 0.5), np.array([[0, 1]] * 8)
    shown, own = np.array([4, 3]), np.array([[4, 3]])
    _, (_, by_item, _) = list_terms(theta, shown, 0, drawn, own, None)
    assert by_item == pytest.approx(0.75 + 0.5 * 0.5 * 9)  # 1 / (M + 1), not 1 / 0
