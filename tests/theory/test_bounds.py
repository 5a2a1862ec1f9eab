"""The regret bounds of linear rewards: by hand, against each other, and their order."""

from __future__ import annotations

import math

import pytest

from clubcascade import theory
from tests.theory.settings import SETTING, changed


def test_learning_by_hand():
    # d = m = K = T = lambda = 1: 2 (sqrt(5 ln 2) + 1) sqrt(2 ln 2)
    expected = 2 * (math.sqrt(5 * math.log(2)) + 1) * math.sqrt(2 * math.log(2))
    bound = theory.regret_bound(1, 1, 1, 1, 1, 1.0, 1.0, 1.0)
    assert bound.learning == pytest.approx(expected, abs=1e-13)
    assert theory.regret_bound_one_cluster(1, 1, 1).total == pytest.approx(expected, abs=1e-13)


def test_parts():
    bound = theory.regret_bound(**SETTING)
    assert bound.clustering == theory.exploration_rounds(40, 20, 0.5, 0.04, 100_000)
    assert bound.total == bound.learning + bound.clustering


def test_one_cluster_is_the_theorem_without_exploration():
    theorem = theory.regret_bound(**changed(SETTING, n_clusters=1))
    corollary = theory.regret_bound_one_cluster(20, 4, 100_000)
    assert corollary.clustering == 0
    assert corollary.learning == pytest.approx(theorem.learning, rel=1e-14)


def test_one_cluster_is_above_the_printed_formula():
    d, k, horizon = 20, 4, 100_000
    first = math.sqrt(d * horizon * math.log(1 + horizon / (k * d)) + 2 * math.log(4 * horizon))
    printed = 2 * (first + math.sqrt(k))
    printed *= math.sqrt(2 * d * k * math.log(1 + horizon * k / (k * d)))
    assert theory.regret_bound_one_cluster(d, k, horizon).total > printed


def test_learning_has_the_order_of_the_abstract():
    def ratio(horizon):
        bound = theory.regret_bound(**changed(SETTING, horizon=horizon))
        return bound.learning / (math.sqrt(horizon) * math.log(horizon))

    assert 0.5 < ratio(10**12) / ratio(10**9) < 1.5


@pytest.mark.parametrize("name, more", [("n_clusters", 6), ("k", 5), ("horizon", 100_001)])
def test_learning_grows(name, more):
    setting = changed(SETTING, reg=5.0)
    base = theory.regret_bound(**setting)
    assert theory.regret_bound(**changed(setting, **{name: more})).learning > base.learning


def test_known_clusters_never_need_more():
    learning = theory.regret_bound(**SETTING).learning
    for rounds in ([20_000] * 5, [100_000, 0, 0, 0, 0], [1, 9, 90, 900, 99_000]):
        known = theory.regret_bound_known_clusters(20, rounds, k=4, reg=4.0)
        assert known.clustering == 0
        assert known.total <= learning


def test_one_known_cluster_is_the_corollary():
    known = theory.regret_bound_known_clusters(20, [100_000], k=4, reg=4.0)
    corollary = theory.regret_bound_one_cluster(20, 4, 100_000)
    assert known.total == pytest.approx(corollary.total, rel=1e-14)


def test_bounds_are_values():
    assert theory.regret_bound(**SETTING) == theory.regret_bound(**SETTING)
    with pytest.raises(AttributeError):
        theory.regret_bound(**SETTING).learning = 1.0
