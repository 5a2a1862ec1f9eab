"""Constants and bound of generalized linear rewards, against the linear ones."""

from __future__ import annotations

import math

import pytest

from clubcascade import theory
from tests.theory.settings import GLM, SETTING


def test_glm_constants_by_hand():
    # lambda_x = 1, d = 1, T = 1, m = 1: sqrt(8 + 0 + 2 ln 4) / c
    expected = math.sqrt(8 + 4 * math.log(2)) / 0.5
    assert theory.beta_glm(1, 1, 1, 1.0, 0.5) == pytest.approx(expected, abs=1e-13)
    assert theory.alpha_glm(2, 1.0, 0.5) == 16.0


def test_glm_alpha_is_the_linear_one_at_slope_one():
    assert theory.alpha_glm(20, 0.05, 1.0) == theory.alpha(20, 0.05)


def test_glm_alpha_of_the_appendix_is_larger_by_a_known_factor():
    d, low, slope = 20, 0.05, 0.2
    appendix = 16 * math.sqrt(d) / (low * slope)
    assert appendix / theory.alpha_glm(d, low, slope) == pytest.approx(math.sqrt(8 / low))


def test_bound():
    bound = theory.regret_bound_glm(**GLM)
    linear = theory.regret_bound(**SETTING)
    radius = theory.beta_glm(20, 100_000, 5, 0.04, 0.1)
    expected = 0.25 * radius * linear.learning / theory.beta(20, 100_000, 5, 4.0)
    assert bound.learning == pytest.approx(expected, rel=1e-13)
    assert bound.clustering == linear.clustering
