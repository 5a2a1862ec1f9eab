"""CascadeWOFUL against its literal version."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clubcascade as cc
from clubcascade.kernels import ridge, weighted_ridge
from tests.reference.cascade_woful import CascadeWOFUL
from tests.reference.problems import assert_near, examples, play, problems

REGS = st.sampled_from([0.1, 1.0, 4.0]) | st.floats(0.05, 8.0)


def run(problem, policy, reference):
    def after(step):
        gram, moment, count = policy.statistics(step.user)
        w = 1 / reference.variances
        assert_near(gram, (reference.X.T * w) @ reference.X, "gram")
        assert_near(moment, (reference.X.T * w) @ reference.Y, "moment")
        assert count == len(reference.Y)
        plain = policy.state()["model_gram"][weighted_ridge.PLAIN]
        assert_near(plain, reference.X.T @ reference.X, "gram of the plain model")
        for user in (step.user, "a new user"):
            assert_near(policy.cluster_weights(user), reference.regression(w)[0], "weights")

    play(
        problem,
        policy,
        bounds=lambda step: reference.bounds(step.items),
        update=lambda step, rows, ranking, examined, clicks: reference.update(
            rows, examined, clicks
        ),
        after=after,
    )


@examples(80)
@given(problems(), REGS, st.floats(0.001, 1.0))
def test_growing_radius(problem, reg, delta):
    policy = cc.CascadeWOFUL(n_features=problem.d, reg=reg, delta=delta)
    run(problem, policy, CascadeWOFUL(problem.d, reg=reg, delta=delta))


@examples(80)
@given(problems(), REGS, st.sampled_from([0.0, 0.1]) | st.floats(0.0, 2.0))
def test_constant_radius(problem, reg, beta):
    policy = cc.CascadeWOFUL(n_features=problem.d, beta=beta, reg=reg)
    run(problem, policy, CascadeWOFUL(problem.d, beta=beta, reg=reg))


@pytest.mark.parametrize("fresh", [False, True], ids=["catalogue", "fresh items"])
@pytest.mark.parametrize("k", [1, 4])
def test_long_run_agrees(k, fresh):
    """Long enough for many variances between 1/k and 1."""
    rng = np.random.default_rng(7)
    weights = np.array([0.3, 0.2, 0.05, 0.0])
    catalog = cc.Catalog(rng.dirichlet(np.ones(4), 20))
    policy, reference = cc.CascadeWOFUL(n_features=4, beta=0.3), CascadeWOFUL(4, beta=0.3)
    for turn in range(300):
        items = rng.dirichlet(np.ones(4), 20) if fresh else catalog
        rows = items if fresh else items.features
        bounds = reference.bounds(rows)
        ranking = policy.recommend(turn % 3, items, k)
        assert_near(bounds[ranking], np.sort(bounds)[::-1][:k], "bounds of the chosen items")
        liked = np.flatnonzero(rng.random(k) < rows[ranking] @ weights)
        click = int(liked[0]) if liked.size else None
        examined = k if click is None else click + 1
        policy.update(turn % 3, items[ranking], click)
        reference.update(rows[ranking], examined, () if click is None else (click,))
    assert_near(policy.scores(0, catalog), np.minimum(reference.bounds(catalog.features), 1), "end")
    if k == 4:
        assert len(np.unique(reference.variances.round(6))) > 50


def test_lists_of_one_item_are_oful_to_the_bit():
    rng = np.random.default_rng(3)
    catalog = cc.Catalog(rng.dirichlet(np.ones(3), 15))
    weighted = cc.CascadeWOFUL(n_features=3, beta=0.4, reg=2.0)
    plain = cc.C3UCB(n_features=3, beta=0.4, reg=2.0)
    for _ in range(200):
        ranking = plain.recommend("alice", catalog, 1)
        assert np.array_equal(weighted.recommend("alice", catalog, 1), ranking)
        click = 0 if rng.random() < catalog.features[ranking[0], 0] else None
        for policy in (plain, weighted):
            policy.update("alice", catalog[ranking], click)
    assert np.array_equal(weighted.scores("alice", catalog), plain.scores("alice", catalog))


def test_rare_clicks_are_learned_faster_than_by_the_plain_model():
    """With clicks of a few per cent and long lists, what is seen weighs up to k."""
    rng = np.random.default_rng(5)
    catalog = cc.Catalog(rng.dirichlet(np.ones(4), 30))
    policy = cc.CascadeWOFUL(n_features=4, beta=0.2)
    for _ in range(300):
        policy.update("alice", catalog[rng.permutation(30)[:10]], None)
    weighted, plain = policy.state()["model_gram"]
    assert np.trace(weighted) > 5 * np.trace(plain)
    assert (policy.state()["model_age"] < ridge.RENEW).all()  # both inverses were computed anew


@pytest.mark.parametrize("wrong", [{"beta": -1.0}, {"reg": 0.0}, {"delta": 0.0}, {"delta": 1.5}])
def test_bad_parameters_are_named(wrong):
    ((name, _),) = wrong.items()
    with pytest.raises(cc.errors.InvalidArgument, match=f"{name} must be a number"):
        cc.CascadeWOFUL(n_features=2, **wrong)
