"""Rounds until the clusters are correct, and links of a random start: by hand, and drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest

from clubcascade import theory


def test_where_the_gap_decides():
    # u = d = lambda_x = T = 1, delta = 4 exp(-2): ln(4 u T / delta) = ln(4 u / delta) = 2;
    # gamma = 0.1: 51,200 * 2 is above 256 ln(128 / delta)
    rounds = theory.exploration_rounds(1, 1, 0.1, 1.0, 1, delta=4 * math.exp(-2))
    assert rounds == pytest.approx(16 * 2 + 4 * 51_200 * 2)


def test_where_the_items_decide():
    # gamma = 2: 512 / 4 * 2 = 256 is below 256 ln(128 / (4 exp(-2))) = 256 (5 ln 2 + 2)
    rounds = theory.exploration_rounds(1, 1, 2.0, 1.0, 1, delta=4 * math.exp(-2))
    assert rounds == pytest.approx(32 + 4 * 256 * (5 * math.log(2) + 2))


def test_delta_is_one_over_the_horizon_by_default():
    setting = (40, 20, 0.5, 0.04, 5000)
    assert theory.exploration_rounds(*setting) == theory.exploration_rounds(*setting, 1 / 5000)


def test_exploration_rounds_directions():
    base = theory.exploration_rounds(40, 20, 0.5, 0.04, 5000)
    assert theory.exploration_rounds(41, 20, 0.5, 0.04, 5000) > base
    assert theory.exploration_rounds(40, 21, 0.5, 0.04, 5000) > base
    assert theory.exploration_rounds(40, 20, 0.3, 0.04, 5000) > base
    assert theory.exploration_rounds(40, 20, 0.5, 0.03, 5000) > base
    assert theory.exploration_rounds(40, 20, 0.5, 0.04, 5001) > base
    assert theory.exploration_rounds(40, 20, 0.5, 0.04, 5000, delta=0.5) < base


def test_then_the_radius_of_every_user_is_below_half_the_gap():
    # the promise of the lemma behind T0, at the number of observations that it names
    u, d, gap, low, reg, delta = 40, 20, 0.5, 0.04, 4.0, 1e-4
    count = 512 * d / (gap**2 * low) * math.log(4 * u / delta)
    radius = theory.confidence_radius(d, count, reg, delta / (4 * u))
    assert radius / math.sqrt(reg + count * low / 8) < gap / 2


def test_edge_probability_by_hand():
    # u = 100, delta = 100 exp(-5) (below 1): 5 m / (share u)
    delta = 100 * math.exp(-5)
    assert theory.edge_probability(100, 2, 0.5, delta) == pytest.approx(0.2)


def test_edge_probability_is_a_probability():
    assert theory.edge_probability(3, 3, 0.1, 0.01) == 1.0
    assert theory.edge_probability(1, 1, 1.0, 0.1) == 1.0


def test_edge_probability_directions():
    base = theory.edge_probability(900, 5, 0.5, 0.1)
    assert theory.edge_probability(1800, 5, 0.5, 0.1) < base
    assert theory.edge_probability(900, 6, 0.5, 0.1) > base
    assert theory.edge_probability(900, 5, 0.6, 0.1) < base
    assert theory.edge_probability(900, 5, 0.5, 0.2) < base


def test_clusters_hang_together_as_often_as_promised():
    users, clusters, delta = 120, 3, 0.2
    p = theory.edge_probability(users, clusters, 1.0, delta)
    rng = np.random.default_rng(11)
    size = users // clusters
    apart = 0
    for _ in range(300):
        apart += any(not _connected(rng, size, p) for _ in range(clusters))
    assert apart / 300 < delta + 0.08  # three standard errors


def _connected(rng, size, p):
    upper = np.triu(rng.random((size, size)) < p, 1)
    links = upper | upper.T
    reached = np.zeros(size, dtype=bool)
    reached[0] = True
    for _ in range(size):
        reached = reached | links[reached].any(axis=0)
    return bool(reached.all())
