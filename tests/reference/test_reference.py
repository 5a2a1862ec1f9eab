"""The references themselves, against a few cases worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.reference.c3_ucb import C3UCB
from tests.reference.cascade_kl_ucb import CascadeKLUCB, divergence
from tests.reference.cascade_lin_ts import CascadeLinTS
from tests.reference.cascade_lin_ucb import CascadeLinUCB
from tests.reference.cascade_ucb1 import CascadeUCB1
from tests.reference.cascade_woful import CascadeWOFUL
from tests.reference.club_cascade import ClubCascade
from tests.reference.known_clusters import KnownClusters
from tests.reference.multiple_lin_ucb import MultipleLinUCB
from tests.reference.top_rank import TopRank

ONE = np.array([[1.0]])
E1, E2 = np.eye(2)


class TestClubCascade:
    def test_two_users_by_hand(self):
        # a clicks x = 1 once: S = b = T = 1, theta_a = 1 / (1 + 1) = 0.5, theta_b = 0.
        # line 10: 0.5 against alpha (sqrt((1 + ln 2) / 2) + 1) = 1.92009... alpha
        for alpha, parts in [(0.27, [{"a", "b"}]), (0.26, [{"a"}, {"b"}])]:
            club = ClubCascade(1, ["a", "b"], alpha=alpha, beta=1.0, reg=1.0)
            club.update("a", ONE, examined=1, clicks=(0,))
            assert club.theta["a"] == pytest.approx(0.5)
            assert club.T == {"a": 1, "b": 0}
            assert club.clusters() == {frozenset(part) for part in parts}
            assert club.margin == pytest.approx(abs(0.5 - 1.920094 * alpha), abs=1e-6)

    def test_bounds_by_hand(self):
        club = ClubCascade(1, ["a", "b"], alpha=0.27, beta=1.0, reg=1.0)
        assert club.bounds("b", ONE) == pytest.approx([1.0])  # M = 1, theta = 0
        club.update("a", ONE, 1, (0,))
        # together: M = 2, b = 1: 0.5 + sqrt(1 / 2)
        assert club.bounds("b", ONE) == pytest.approx([0.5 + math.sqrt(0.5)])
        assert club.scores("b", ONE) == pytest.approx([1.0])

    def test_click_by_click(self):
        club = ClubCascade(2, ["a"], alpha=1.0, beta=1.0, reg=1.0)
        shown = np.array([E1, E2])
        club.update("a", shown, examined=1, clicks=(0,))  # e2 was not looked at
        assert np.array_equal(club.S["a"], [[1, 0], [0, 0]])
        assert np.array_equal(club.b["a"], E1)
        club.update("a", shown, examined=2, clicks=(1,))
        assert np.array_equal(club.S["a"], [[2, 0], [0, 1]])
        assert np.array_equal(club.b["a"], [1, 1])
        assert club.theta["a"] == pytest.approx([1 / 3, 1 / 2])
        club.update("a", shown, examined=2, clicks=())
        assert club.theta["a"] == pytest.approx([1 / 4, 1 / 3])
        assert club.T["a"] == 5
        club.update("a", shown, examined=2, clicks=(0, 1))
        assert np.array_equal(club.b["a"], [2, 2])

    def test_alpha_zero_cuts_even_equal_users(self):
        club = ClubCascade(1, ["a", "b", "c"], alpha=0.0)
        club.update("a", ONE, 1, ())
        assert club.clusters() == {frozenset("a"), frozenset("bc")}

    def test_alpha_infinite_cuts_nothing(self):
        club = ClubCascade(1, ["a", "b"], alpha=math.inf, reg=1e-9)
        for _ in range(50):
            club.update("a", ONE, 1, (0,))
            club.update("b", ONE, 1, ())
        assert club.clusters() == {frozenset("ab")}

    def test_a_deleted_edge_may_leave_the_component_whole(self):
        # a path a - b - c and the edge a - c: without a - c the component is still whole
        club = ClubCascade(1, "abc", alpha=0.25, beta=1.0, reg=1.0)
        club.theta["b"] = np.array([0.5])
        club.T["b"] = 1
        club.update("a", ONE, 1, (0,))  # 0.5 from c: cut; 0 from b: kept
        assert frozenset("ac") not in club.E
        assert club.clusters() == {frozenset("abc")}

    def test_given_edges(self):
        club = ClubCascade(1, "abcd", alpha=1.0, edges=[("a", "b"), ("b", "c")])
        assert club.clusters() == {frozenset("abc"), frozenset("d")}

    def test_a_late_user_merges_what_it_is_linked_to(self):
        club = ClubCascade(1, ["a", "b"], alpha=0.26, beta=1.0, reg=1.0)
        club.update("a", ONE, 1, (0,))
        assert len(club.clusters()) == 2
        # as if it had joined: sums of both, M = 2, theta = 0.5; but nothing changes
        assert club.component("c") == {"a", "b", "c"}
        assert club.bounds("c", ONE) == pytest.approx([0.5 + math.sqrt(0.5)])
        assert club.component("c", neighbours=["b"]) == {"b", "c"}
        assert club.bounds("c", ONE, neighbours=[]) == pytest.approx([1.0])
        assert club.users == ["a", "b"] and len(club.clusters()) == 2
        club.join("c")
        assert club.clusters() == {frozenset("abc")}

    def test_a_late_user_joins_and_is_tested_at_its_first_update(self):
        club = ClubCascade(1, [], alpha=0.26, beta=1.0, reg=1.0)
        club.update("a", ONE, 1, (0,))
        club.update("b", ONE, 1, (0,))  # the same estimate: linked, and stays so
        assert club.clusters() == {frozenset("ab")}
        club.update("c", ONE, 1, ())  # 0.5 away; threshold 0.26 * 2 * 0.92009 = 0.478: cut
        assert club.clusters() == {frozenset("ab"), frozenset("c")}

    def test_a_smaller_alpha_cuts_at_the_next_test(self):
        # as by hand above: 0.5 against 1.92 alpha; what b and c have between them is not tested
        club = ClubCascade(1, "abc", alpha=0.3, reg=1.0, schedule=[(1, 0.2)])
        club.update("a", ONE, examined=1, clicks=(0,))
        assert club.clusters() == {frozenset("abc")} and club.alpha == 0.2
        club.update("c", ONE, examined=1, clicks=())  # 0.5 against 0.2 * 1.84: a - c goes
        assert {frozenset(edge) for edge in club.E} == {frozenset("ab"), frozenset("bc")}
        club.relax(0.9)
        assert club.alpha == 0.2

    def test_discounts_by_hand(self):
        club = ClubCascade(1, ["a"], reg=1.0, discounts=(1.0, 0.5))
        club.update("a", np.array([[0.4], [0.8], [0.6]]), examined=3, clicks=(1,))
        # the second and the third weigh 1/4
        assert club.S["a"] == pytest.approx(np.array([[0.16 + 0.16 + 0.09]]))
        assert club.b["a"] == pytest.approx([0.2])
        assert club.T["a"] == 3

    def test_code_of_2017(self):
        club = ClubCascade(1, ["a", "b"], beta=2.0, reg=1.0, variant="code2017")
        assert club.alpha == 8.0
        assert club.radius(3) == pytest.approx(math.sqrt(1 + math.log(4)) / 4)
        # x = (1, 0.5): width sqrt(1.25); the bonus times the luck
        half = np.array([[0.5]])
        assert club.bounds("a", half, uniforms=[0.25]) == pytest.approx([0.5 * math.sqrt(1.25)])
        club.update("a", half, 1, (0,))
        assert np.array_equal(club.S["a"], [[1, 0.5], [0.5, 0.25]])
        assert np.array_equal(club.b["a"], [1, 0.5])


class TestOthers:
    def test_c3_ucb(self):
        policy = C3UCB(1, reg=1.0, delta=0.1)
        assert policy.beta() == pytest.approx(0.5 * math.sqrt(2 * math.log(10)) + 1)
        policy.update(ONE, 1, (0,))  # V = 2, theta = 0.5
        beta = 0.5 * math.sqrt(math.log(2 / 0.01)) + 1
        assert policy.bounds(ONE) == pytest.approx([0.5 + beta * math.sqrt(0.5)])
        constant = C3UCB(1, beta=1.0, reg=1.0)
        constant.update(ONE, 1, (0,))
        assert constant.bounds(ONE) == pytest.approx([0.5 + math.sqrt(0.5)])

    def test_c3_ucb_discounts(self):
        policy = C3UCB(1, beta=0.0, reg=1.0, discounts=(1.0, 0.5))
        policy.update(np.array([[0.4], [0.8]]), 2, (1,))
        assert policy.V() == pytest.approx(np.array([[1.32]]))
        assert policy.theta() == pytest.approx([0.2 / 1.32])

    def test_c3_ucb_radius_is_below_its_bound(self):
        # det(V) <= (lambda + t / d)^d: the radius of Lemma 1 of the 2018 paper is the larger one
        rng = np.random.default_rng(0)
        policy = C3UCB(3, reg=2.0, delta=0.1, noise=1.0)
        for t in range(1, 30):
            row = rng.standard_normal((1, 3))
            policy.update(row / np.linalg.norm(row), 1, ())
            lemma = math.sqrt(3 * math.log(1 + t / 6) + 2 * math.log(10)) + math.sqrt(2)
            assert policy.beta() <= lemma + 1e-12

    def test_cascade_lin_ucb(self):
        policy = CascadeLinUCB(1, sigma=0.5, c=2.0)
        policy.update(ONE, 1, (0,))  # M = 1 + 4 = 5, B = 1, theta = 4 / 5
        assert policy.bounds(ONE) == pytest.approx([0.8 + 2 * math.sqrt(0.2)])

    def test_cascade_lin_ucb_is_ridge_regression_with_reg_sigma_squared(self):
        rng = np.random.default_rng(1)
        rows = rng.random((4, 3)) / 2
        lin, ridge = CascadeLinUCB(3, sigma=0.7, c=1.0), MultipleLinUCB(3, beta=0.7, reg=0.49)
        lin.update(rows, 3, (1,))
        ridge.update("a", rows, 3, (1,))
        assert lin.theta() == pytest.approx(ridge.theta("a"))
        # M = sigma^-2 (sigma^2 I + S): its widths are sigma times those of the ridge model
        assert lin.bounds(rows) == pytest.approx(ridge.bounds("a", rows))

    def test_cascade_lin_ts(self):
        policy = CascadeLinTS(1, sigma=0.5)
        policy.update(ONE, 1, (0,))
        assert policy.draw(np.array([3.0])) == pytest.approx([0.8 + 3 / math.sqrt(5)])
        rng = np.random.default_rng(2)
        policy = CascadeLinTS(2)
        policy.update(rng.random((5, 2)) / 2, 5, (0, 3))
        draws = np.array([policy.draw(z) for z in rng.standard_normal((20_000, 2))])
        assert draws.mean(axis=0) == pytest.approx(policy.theta(), abs=0.03)
        assert np.cov(draws.T) == pytest.approx(np.linalg.inv(policy.M), abs=0.03)

    def test_multiple_lin_ucb_and_known_clusters(self):
        alone = MultipleLinUCB(1, beta=1.0, reg=1.0)
        told = KnownClusters(1, [{"a", "b"}, {"c"}], beta=1.0, reg=1.0)
        for policy in (alone, told):
            policy.update("a", ONE, 1, (0,))
            assert policy.bounds("c", ONE) == pytest.approx([1.0])
            assert policy.bounds("a", ONE) == pytest.approx([0.5 + math.sqrt(0.5)])
        assert alone.bounds("b", ONE) == pytest.approx([1.0])
        assert told.bounds("b", ONE) == pytest.approx([0.5 + math.sqrt(0.5)])

    def test_cascade_ucb1(self):
        policy = CascadeUCB1(3)
        for _ in range(4):
            policy.update([0, 1, 2], 2, (1,))
        # round 5 is next; items 0 and 1 were looked at 4 times, item 2 never
        radius = math.sqrt(1.5 * math.log(5) / 4)
        assert policy.bounds() == pytest.approx([radius, 1 + radius, math.inf])

    def test_cascade_kl_ucb(self):
        policy = CascadeKLUCB(4)
        for clicks in [(0,), (), (), (1,), ()]:
            policy.update([0, 1], 2, clicks)
        policy.update([0, 3], 1, ())
        first, second, never, unseen = policy.bounds()
        right = math.log(7) + 3 * math.log(math.log(7))
        assert policy.looks == [6, 5, 0, 0]
        assert 6 * divergence(1 / 6, first) == pytest.approx(right)
        assert 5 * divergence(1 / 5, second) == pytest.approx(right)
        assert never == unseen == math.inf

    def test_cascade_kl_ucb_at_the_edges(self):
        policy = CascadeKLUCB(2)
        policy.update([0, 1], 2, (1,))
        # KL(0, q) = -ln(1 - q): q = 1 - exp(-right / s); in round 2 the right side is ln 2
        assert policy.bounds() == pytest.approx([0.5, 1])
        policy.update([0, 1], 2, (1,))
        right = math.log(3) + 3 * math.log(math.log(3))
        assert policy.bounds() == pytest.approx([1 - math.exp(-right / 2), 1])

    def test_top_rank(self):
        policy = TopRank(delta=1.0)
        for n in range(1, 6):
            assert policy.blocks("abc") == [{"a", "b", "c"}]
            policy.update("abc", "b")
            # S = N = n against sqrt(2 n ln(3.43 sqrt(n))): 1.6, 2.5, 3.3, 3.9 for n = 1, 2, 3, 4
            if n == 4:
                break
        assert policy.G == {("a", "b"), ("c", "b")}
        assert policy.blocks("abc") == [{"b"}, {"a", "c"}] and policy.blocks("ca") == [{"a", "c"}]
        policy.update("abc", "c")  # counts against a, which is in its block, and not against b
        assert (policy.S["c", "a"], policy.S["a", "c"], policy.S["c", "b"]) == (1, -1, -4)
        assert policy.rank("abc", 3, [0.9, 0.5, 0.0]) == ["b", "c", "a"]
        assert policy.rank("abc", 2, [0.9, 0.4]) == ["b", "a"]

    def test_cascade_woful(self):
        policy = CascadeWOFUL(1, beta=0.5, reg=1.0)
        assert policy.bounds(ONE) == pytest.approx([0.5])
        policy.update(np.array([[1.0], [0.0], [0.0]]), 2, (0,))
        # the bounds on the variances are 0.5 and, for the zero item, 1/3
        assert policy.variances == pytest.approx([0.5, 1 / 3])
        # weighted: M = 1 + 2, b = 2
        assert policy.bounds(ONE) == pytest.approx([2 / 3 + 0.5 * math.sqrt(1 / 3)])
        # plain: M = 2, b = 1: 0.5 + 0.5 sqrt(0.5)
        assert policy.variance(ONE[0], 4) == pytest.approx(0.5 + 0.5 * math.sqrt(0.5))

    def test_cascade_woful_radii(self):
        policy = CascadeWOFUL(1, reg=1.0, delta=0.1)
        assert policy.bernstein_radius() == 1.0
        policy.update(np.ones((4, 1)), 1, ())
        assert policy.hoeffding_radius() == pytest.approx(0.5 * math.sqrt(math.log(200)) + 1)
        level = math.log(40)
        found = 8 * math.sqrt(math.log(5) * level) + 8 * level + 1
        assert policy.bernstein_radius() == pytest.approx(found)
