"""The theory against values worked out by hand, its directions, and its limits."""

from __future__ import annotations

import math

import numpy as np
import pytest

from clubcascade import theory
from clubcascade.errors import InvalidArgument, InvalidItems

E = math.e
SETTING = dict(
    n_users=40,
    n_clusters=5,
    n_features=20,
    k=4,
    horizon=100_000,
    gap=0.5,
    item_eigenvalue=0.04,
    reg=4.0,
)
GLM = SETTING | dict(slope=0.1, lipschitz=0.25)


def changed(setting, **values):
    return setting | values


class TestConstants:
    def test_beta_by_hand(self):
        # d = 1, T = 1, m = 1, lambda = 1: sqrt(ln 2 + 2 ln 4) + 1 = sqrt(5 ln 2) + 1
        assert theory.beta(1, 1, 1, 1.0) == pytest.approx(1 + math.sqrt(5 * math.log(2)), abs=1e-14)

    def test_beta_is_the_confidence_radius_at_its_level(self):
        radius = theory.confidence_radius(7, 1000, 3.0, delta=1 / (4 * 5 * 1000))
        assert theory.beta(7, 1000, 5, 3.0) == pytest.approx(radius, abs=1e-12)

    def test_alpha_by_hand(self):
        assert theory.alpha(2, 1.0) == 8.0
        assert theory.alpha(2, 0.25) == 16.0

    def test_alpha_of_the_paper_is_far_too_large_to_cut(self):
        # two estimates are at most about 2 apart, the threshold starts at 2 alpha
        assert theory.alpha(20, 0.05) > 100

    def test_confidence_radius_by_hand(self):
        # no data, no doubt about failure: only the ridge is left
        assert theory.confidence_radius(3, 0, 9.0, 1.0) == 3.0
        # d = 1, lambda = 1, t = e - 1: ln(1 + t) = 1; delta = exp(-4): 2 ln(1/delta) = 8
        assert theory.confidence_radius(1, E - 1, 1.0, math.exp(-4)) == pytest.approx(4.0)
        assert theory.confidence_radius(1, E - 1, 1.0, math.exp(-4), 0.5) == pytest.approx(2.5)

    def test_beta_grows_with_all_that_is_unknown(self):
        base = theory.beta(5, 1000, 3, 2.0)
        assert theory.beta(6, 1000, 3, 2.0) > base
        assert theory.beta(5, 1001, 3, 2.0) > base
        assert theory.beta(5, 1000, 4, 2.0) > base

    def test_glm_constants_by_hand(self):
        # lambda_x = 1, d = 1, T = 1, m = 1: sqrt(8 + 0 + 2 ln 4) / c
        expected = math.sqrt(8 + 4 * math.log(2)) / 0.5
        assert theory.beta_glm(1, 1, 1, 1.0, 0.5) == pytest.approx(expected, abs=1e-13)
        assert theory.alpha_glm(2, 1.0, 0.5) == 16.0

    def test_glm_alpha_is_the_linear_one_at_slope_one(self):
        assert theory.alpha_glm(20, 0.05, 1.0) == theory.alpha(20, 0.05)

    def test_glm_alpha_of_the_appendix_is_larger_by_a_known_factor(self):
        d, low, slope = 20, 0.05, 0.2
        appendix = 16 * math.sqrt(d) / (low * slope)
        assert appendix / theory.alpha_glm(d, low, slope) == pytest.approx(math.sqrt(8 / low))


class TestExplorationRounds:
    def test_where_the_gap_decides(self):
        # u = d = lambda_x = T = 1, delta = 4 exp(-2): ln(4 u T / delta) = ln(4 u / delta) = 2;
        # gamma = 0.1: 51,200 * 2 is above 256 ln(128 / delta)
        rounds = theory.exploration_rounds(1, 1, 0.1, 1.0, 1, delta=4 * math.exp(-2))
        assert rounds == pytest.approx(16 * 2 + 4 * 51_200 * 2)

    def test_where_the_items_decide(self):
        # gamma = 2: 512 / 4 * 2 = 256 is below 256 ln(128 / (4 exp(-2))) = 256 (5 ln 2 + 2)
        rounds = theory.exploration_rounds(1, 1, 2.0, 1.0, 1, delta=4 * math.exp(-2))
        assert rounds == pytest.approx(32 + 4 * 256 * (5 * math.log(2) + 2))

    def test_delta_is_one_over_the_horizon_by_default(self):
        setting = (40, 20, 0.5, 0.04, 5000)
        assert theory.exploration_rounds(*setting) == theory.exploration_rounds(*setting, 1 / 5000)

    def test_directions(self):
        base = theory.exploration_rounds(40, 20, 0.5, 0.04, 5000)
        assert theory.exploration_rounds(41, 20, 0.5, 0.04, 5000) > base
        assert theory.exploration_rounds(40, 21, 0.5, 0.04, 5000) > base
        assert theory.exploration_rounds(40, 20, 0.3, 0.04, 5000) > base
        assert theory.exploration_rounds(40, 20, 0.5, 0.03, 5000) > base
        assert theory.exploration_rounds(40, 20, 0.5, 0.04, 5001) > base
        assert theory.exploration_rounds(40, 20, 0.5, 0.04, 5000, delta=0.5) < base

    def test_then_the_radius_of_every_user_is_below_half_the_gap(self):
        # the promise of the lemma behind T0, at the number of observations that it names
        u, d, gap, low, reg, delta = 40, 20, 0.5, 0.04, 4.0, 1e-4
        count = 512 * d / (gap**2 * low) * math.log(4 * u / delta)
        radius = theory.confidence_radius(d, count, reg, delta / (4 * u))
        assert radius / math.sqrt(reg + count * low / 8) < gap / 2


class TestRegretBounds:
    def test_learning_by_hand(self):
        # d = m = K = T = lambda = 1: 2 (sqrt(5 ln 2) + 1) sqrt(2 ln 2)
        expected = 2 * (math.sqrt(5 * math.log(2)) + 1) * math.sqrt(2 * math.log(2))
        bound = theory.regret_bound(1, 1, 1, 1, 1, 1.0, 1.0, 1.0)
        assert bound.learning == pytest.approx(expected, abs=1e-13)
        assert theory.regret_bound_one_cluster(1, 1, 1).total == pytest.approx(expected, abs=1e-13)

    def test_parts(self):
        bound = theory.regret_bound(**SETTING)
        assert bound.clustering == theory.exploration_rounds(40, 20, 0.5, 0.04, 100_000)
        assert bound.total == bound.learning + bound.clustering

    def test_one_cluster_is_the_theorem_without_exploration(self):
        theorem = theory.regret_bound(**changed(SETTING, n_clusters=1))
        corollary = theory.regret_bound_one_cluster(20, 4, 100_000)
        assert corollary.clustering == 0
        assert corollary.learning == pytest.approx(theorem.learning, rel=1e-14)

    def test_one_cluster_is_above_the_printed_formula(self):
        d, k, horizon = 20, 4, 100_000
        first = math.sqrt(d * horizon * math.log(1 + horizon / (k * d)) + 2 * math.log(4 * horizon))
        printed = 2 * (first + math.sqrt(k))
        printed *= math.sqrt(2 * d * k * math.log(1 + horizon * k / (k * d)))
        assert theory.regret_bound_one_cluster(d, k, horizon).total > printed

    def test_learning_has_the_order_of_the_abstract(self):
        def ratio(horizon):
            bound = theory.regret_bound(**changed(SETTING, horizon=horizon))
            return bound.learning / (math.sqrt(horizon) * math.log(horizon))

        assert 0.5 < ratio(10**12) / ratio(10**9) < 1.5

    @pytest.mark.parametrize("name, more", [("n_clusters", 6), ("k", 5), ("horizon", 100_001)])
    def test_learning_grows(self, name, more):
        setting = changed(SETTING, reg=5.0)
        base = theory.regret_bound(**setting)
        assert theory.regret_bound(**changed(setting, **{name: more})).learning > base.learning

    def test_known_clusters_never_need_more(self):
        learning = theory.regret_bound(**SETTING).learning
        for rounds in ([20_000] * 5, [100_000, 0, 0, 0, 0], [1, 9, 90, 900, 99_000]):
            known = theory.regret_bound_known_clusters(20, rounds, k=4, reg=4.0)
            assert known.clustering == 0
            assert known.total <= learning

    def test_one_known_cluster_is_the_corollary(self):
        known = theory.regret_bound_known_clusters(20, [100_000], k=4, reg=4.0)
        corollary = theory.regret_bound_one_cluster(20, 4, 100_000)
        assert known.total == pytest.approx(corollary.total, rel=1e-14)

    def test_glm(self):
        bound = theory.regret_bound_glm(**GLM)
        linear = theory.regret_bound(**SETTING)
        radius = theory.beta_glm(20, 100_000, 5, 0.04, 0.1)
        expected = 0.25 * radius * linear.learning / theory.beta(20, 100_000, 5, 4.0)
        assert bound.learning == pytest.approx(expected, rel=1e-13)
        assert bound.clustering == linear.clustering

    def test_bounds_are_values(self):
        assert theory.regret_bound(**SETTING) == theory.regret_bound(**SETTING)
        with pytest.raises(AttributeError):
            theory.regret_bound(**SETTING).learning = 1.0


class TestItemEigenvalue:
    def test_by_hand(self):
        # the mean of x x' is [[0.68, 0.24], [0.24, 0.32]]: trace 1, determinant 0.16
        items = np.array([[1.0, 0.0], [0.6, 0.8]])
        assert theory.item_eigenvalue(items) == pytest.approx(0.2, abs=1e-15)

    def test_at_most_one_over_d(self):
        rng = np.random.default_rng(3)
        items = rng.standard_normal((500, 6))
        items /= np.linalg.norm(items, axis=1, keepdims=True)
        assert 0.1 < theory.item_eigenvalue(items) <= 1 / 6

    def test_zero_when_a_direction_is_missing(self):
        items = np.array([[0.5, 0.5, 0.0], [0.5, -0.5, 0.0], [0.1, 0.9, 0.0]])
        assert theory.item_eigenvalue(items) == 0
        assert theory.item_eigenvalue([[0.0]]) == 0

    def test_bad_items(self):
        with pytest.raises(InvalidItems, match="items"):
            theory.item_eigenvalue([[1.0, 1.0]])
        with pytest.raises(InvalidItems, match="items"):
            theory.item_eigenvalue([1.0])


class TestEdgeProbability:
    def test_by_hand(self):
        # u = 100, delta = 100 exp(-5) (below 1): 5 m / (share u)
        delta = 100 * math.exp(-5)
        assert theory.edge_probability(100, 2, 0.5, delta) == pytest.approx(0.2)

    def test_is_a_probability(self):
        assert theory.edge_probability(3, 3, 0.1, 0.01) == 1.0
        assert theory.edge_probability(1, 1, 1.0, 0.1) == 1.0

    def test_directions(self):
        base = theory.edge_probability(900, 5, 0.5, 0.1)
        assert theory.edge_probability(1800, 5, 0.5, 0.1) < base
        assert theory.edge_probability(900, 6, 0.5, 0.1) > base
        assert theory.edge_probability(900, 5, 0.6, 0.1) < base
        assert theory.edge_probability(900, 5, 0.5, 0.2) < base

    def test_clusters_hang_together_as_often_as_promised(self):
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


BAD = [
    (theory.beta, dict(n_features=0, horizon=10, n_clusters=1, reg=1.0), "n_features"),
    (theory.beta, dict(n_features=2, horizon=0, n_clusters=1, reg=1.0), "horizon"),
    (theory.beta, dict(n_features=2, horizon=10.0, n_clusters=1, reg=1.0), "horizon"),
    (theory.beta, dict(n_features=2, horizon=10, n_clusters=0, reg=1.0), "n_clusters"),
    (theory.beta, dict(n_features=2, horizon=10, n_clusters=1, reg=0.0), "reg"),
    (theory.beta, dict(n_features=2, horizon=10, n_clusters=1, reg=math.nan), "reg"),
    (theory.alpha, dict(n_features=2, item_eigenvalue=0.0), "item_eigenvalue"),
    (theory.alpha, dict(n_features=2, item_eigenvalue=1.5), "item_eigenvalue"),
    (theory.alpha, dict(n_features=True, item_eigenvalue=0.5), "n_features"),
    (theory.confidence_radius, dict(n_features=2, count=-1, reg=1.0, delta=0.1), "count"),
    (theory.confidence_radius, dict(n_features=2, count=1, reg=1.0, delta=0.0), "delta"),
    (theory.confidence_radius, dict(n_features=2, count=1, reg=1.0, delta=2.0), "delta"),
    (theory.confidence_radius, dict(n_features=2, count=1, reg=1.0, delta=0.1, noise=-1), "noise"),
    (
        theory.beta_glm,
        dict(n_features=2, horizon=1, n_clusters=1, item_eigenvalue=0.5, slope=0.1),
        "horizon",
    ),
    (theory.regret_bound, changed(SETTING, gap=0.0), "gap"),
    (theory.regret_bound, changed(SETTING, gap=2.1), "gap"),
    (theory.regret_bound, changed(SETTING, reg=3.9), "reg"),
    (theory.regret_bound, changed(SETTING, n_clusters=41), "n_clusters"),
    (theory.regret_bound, changed(SETTING, n_users=0), "n_users"),
    (theory.regret_bound, changed(SETTING, k=0), "k"),
    (theory.regret_bound_one_cluster, dict(n_features=2, k=4, horizon=10, reg=3.0), "reg"),
    (theory.regret_bound_one_cluster, dict(n_features=2, k=0, horizon=10), "k"),
    (
        theory.regret_bound_known_clusters,
        dict(n_features=2, cluster_rounds=[], k=1, reg=1.0),
        "cluster_rounds",
    ),
    (
        theory.regret_bound_known_clusters,
        dict(n_features=2, cluster_rounds=[5, -1], k=1, reg=1.0),
        "cluster_rounds",
    ),
    (theory.regret_bound_glm, changed(GLM, horizon=19), "horizon"),
    (theory.regret_bound_glm, changed(GLM, slope=0.0), "slope"),
    (theory.regret_bound_glm, changed(GLM, lipschitz=0.05), "lipschitz"),
    (theory.alpha_glm, dict(n_features=2, item_eigenvalue=0.5, slope=-1.0), "slope"),
    (
        theory.edge_probability,
        dict(n_users=5, n_clusters=2, smallest_share=0.0, delta=0.1),
        "smallest_share",
    ),
    (theory.edge_probability, dict(n_users=5, n_clusters=6, smallest_share=1, delta=0.1), "n_clu"),
]


@pytest.mark.parametrize("function, arguments, name", BAD)
def test_bad_arguments_are_named(function, arguments, name):
    with pytest.raises(InvalidArgument, match=f"{name}.*must be .*got"):
        function(**arguments)
