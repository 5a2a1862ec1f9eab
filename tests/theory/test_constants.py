"""Alpha, beta and what they are made of, against values worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from clubcascade import theory
from clubcascade.errors import InvalidItems

E = math.e


def test_beta_by_hand():
    # d = 1, T = 1, m = 1, lambda = 1: sqrt(ln 2 + 2 ln 4) + 1 = sqrt(5 ln 2) + 1
    assert theory.beta(1, 1, 1, 1.0) == pytest.approx(1 + math.sqrt(5 * math.log(2)), abs=1e-14)


def test_beta_is_the_confidence_radius_at_its_level():
    radius = theory.confidence_radius(7, 1000, 3.0, delta=1 / (4 * 5 * 1000))
    assert theory.beta(7, 1000, 5, 3.0) == pytest.approx(radius, abs=1e-12)


def test_alpha_by_hand():
    assert theory.alpha(2, 1.0) == 8.0
    assert theory.alpha(2, 0.25) == 16.0


def test_alpha_of_the_paper_is_far_too_large_to_cut():
    # two estimates are at most about 2 apart, the threshold starts at 2 alpha
    assert theory.alpha(20, 0.05) > 100


def test_confidence_radius_by_hand():
    # no data, no doubt about failure: only the ridge is left
    assert theory.confidence_radius(3, 0, 9.0, 1.0) == 3.0
    # d = 1, lambda = 1, t = e - 1: ln(1 + t) = 1; delta = exp(-4): 2 ln(1/delta) = 8
    assert theory.confidence_radius(1, E - 1, 1.0, math.exp(-4)) == pytest.approx(4.0)
    assert theory.confidence_radius(1, E - 1, 1.0, math.exp(-4), 0.5) == pytest.approx(2.5)


def test_beta_grows_with_all_that_is_unknown():
    base = theory.beta(5, 1000, 3, 2.0)
    assert theory.beta(6, 1000, 3, 2.0) > base
    assert theory.beta(5, 1001, 3, 2.0) > base
    assert theory.beta(5, 1000, 4, 2.0) > base


def test_item_eigenvalue_by_hand():
    # the mean of x x' is [[0.68, 0.24], [0.24, 0.32]]: trace 1, determinant 0.16
    items = np.array([[1.0, 0.0], [0.6, 0.8]])
    assert theory.item_eigenvalue(items) == pytest.approx(0.2, abs=1e-15)


def test_item_eigenvalue_at_most_one_over_d():
    rng = np.random.default_rng(3)
    items = rng.standard_normal((500, 6))
    items /= np.linalg.norm(items, axis=1, keepdims=True)
    assert 0.1 < theory.item_eigenvalue(items) <= 1 / 6


def test_item_eigenvalue_zero_when_a_direction_is_missing():
    items = np.array([[0.5, 0.5, 0.0], [0.5, -0.5, 0.0], [0.1, 0.9, 0.0]])
    assert theory.item_eigenvalue(items) == 0
    assert theory.item_eigenvalue([[0.0]]) == 0


def test_bad_items():
    with pytest.raises(InvalidItems, match="items"):
        theory.item_eigenvalue([[1.0, 1.0]])
    with pytest.raises(InvalidItems, match="items"):
        theory.item_eigenvalue([1.0])
