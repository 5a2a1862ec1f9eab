"""Exploration of a spanner: the printed rule, word by word; and where it does nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clubcascade as cc
from clubcascade.policies.spanner_exploration import FACTOR
from clubcascade.spanner import barycentric_spanner
from tests.policies.test_club_cascade import edges_of
from tests.reference.club_cascade import ClubCascade
from tests.reference.problems import assert_best, busy_problem, examples, problems


def due(reference, user, items, share):
    """How much each spanner item is due for a user: above 1 it is; {} if lone or new."""
    rows = barycentric_spanner(items, factor=FACTOR)
    linked = any(user in edge for edge in reference.E)
    if not linked or reference.T.get(user, 0) == 0:
        return {}
    M_inv = np.linalg.inv(reference.lam * np.eye(reference.d) + reference.S[user])
    if_spread = reference.lam + share * reference.T[user] / max(len(rows), 1)
    return {
        row: items[row] @ M_inv @ items[row] * if_spread / (items[row] @ items[row]) for row in rows
    }


def compare(problem, share, alpha, seen):
    """Play a problem and compare each list: the item that is due most, then the best others."""
    setting = {"alpha": alpha, "beta": 0.5, "reg": 0.3}
    club = cc.ClubCascade(n_features=problem.d, users=problem.early, **setting)
    policy = cc.SpannerExploration(club, share=share)
    reference = ClubCascade(problem.d, problem.early, **setting)
    for step in problem.rounds:
        lack = due(reference, step.user, step.items, share)
        bounds = reference.bounds(step.user, step.items)
        ranking = policy.recommend(step.user, step.offered, step.k)
        most = max(lack.values(), default=0.0)
        if abs(most - 1.0) < 1e-9:
            return  # rounding may decide
        if most > 1.0:
            assert lack[ranking[0]] == pytest.approx(most)
            others = np.delete(bounds, ranking[0])
            if step.k > 1:
                places = ranking[1:] - (ranking[1:] > ranking[0])
                assert_best(places, others, step.k - 1)
        else:
            assert_best(ranking, bounds, step.k)
        seen[bool(most > 1.0)] += 1
        chosen = ranking if step.override is None else step.override
        examined, clicks = step.look(chosen)
        policy.update(step.user, step.shown(chosen), step.click(examined, clicks))
        reference.update(step.user, step.items[chosen], examined, clicks)
        if reference.margin < 1e-9:
            return
        assert edges_of(policy) == reference.E


@examples(120)
@given(problems(), st.sampled_from([0.05, 0.3, 1.0]), st.floats(0.2, 2.0))
def test_lists_begin_with_what_is_due(problem, share, alpha):
    compare(problem, share, alpha, {True: 0, False: 0})


@pytest.mark.compiled  # long
def test_lists_begin_with_what_is_due_in_busy_stories():
    seen = {True: 0, False: 0}
    for seed in range(25):
        compare(busy_problem(seed), 0.3, 0.8, seen)
    assert min(seen.values()) > 100, seen


def test_each_user_explores_for_itself():
    env = cc.environments.Synthetic(n_users=6, n_clusters=2, n_items=30, n_features=4, seed=5)
    club = cc.ClubCascade(n_features=4, users=range(6))
    policy = cc.SpannerExploration(club, share=0.5)
    cc.simulate(policy, env, rounds=300, k=3, seed=2)
    assert len(policy.clusters()) == 1
    assert len({tuple(policy.recommend(user, env.catalog, 3)) for user in range(6)}) > 1


@pytest.mark.compiled  # long
def test_every_direction_is_seen_by_everyone():
    """Two directions that printed CLUB-cascade hardly looks at."""
    items = np.vstack([np.eye(6)[:4], 0.9 * np.eye(6)[4:5]])  # five of six directions
    chance = np.array([[0.9, 0.8, 0.7, 0.1, 0.05]] * 8)
    env = cc.environments.Matrix(chance, items)

    def least(share=None):
        policy = cc.ClubCascade(n_features=6, users=range(8), beta=0.1)
        if share is not None:
            policy = cc.SpannerExploration(policy, share=share)
        cc.simulate(policy, env, rounds=4000, k=3, seed=1)
        grams = [policy.statistics(user)[0] for user in range(8)]
        return min(np.linalg.eigvalsh(gram)[1] for gram in grams)  # [0]: no item shows it

    assert least() < 5
    assert least(share=0.2) > 20


@pytest.mark.parametrize("share", [0.0, 1.5, "much"])
def test_bad_shares(share):
    with pytest.raises(cc.errors.InvalidArgument, match=r"share must be a number in \(0, 1\]"):
        cc.SpannerExploration(cc.ClubCascade(n_features=2), share=share)


def test_items_with_a_bias_have_no_spanner():
    with pytest.raises(cc.errors.InvalidArgument, match="policy must see items as they are"):
        cc.SpannerExploration(cc.ClubCascade2017(n_features=2))
