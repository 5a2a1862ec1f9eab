"""Warm starts from sums: what policies know afterwards is the ridge estimate from these sums."""

import numpy as np
import pytest
from scipy import sparse

import clubcascade as cc
from clubcascade.errors import InvalidArgument
from clubcascade.kernels.cohort_constants import CALIBRATION_CLICKS, PRECISIONS
from clubcascade.model_file import split_state
from clubcascade.policies._warm_start import start_from_sums
from clubcascade.training.fitting import _losses
from clubcascade.training.sums import everyone, sums

USERS, ITEMS, D, W = 30, 24, 4, 0.3


@pytest.fixture(scope="module")
def world():
    """Users of three kinds, each with items of its own."""
    rng = np.random.default_rng(1)
    vectors = np.zeros((ITEMS, D))
    vectors[np.arange(ITEMS), np.arange(ITEMS) % 3] = 0.9
    vectors[:, 3] = 0.3 * rng.random(ITEMS)
    same = np.arange(USERS)[:, None] % 3 == np.arange(ITEMS)[None, :] % 3
    clicks = sparse.csr_array((same & (rng.random((USERS, ITEMS)) < 0.8)).astype(np.float32))
    return clicks, vectors


def literal(clicks, vectors, user):
    """The sums of one user, item by item."""
    gram, moment = np.zeros((D, D)), np.zeros(D)
    for item, x in enumerate(vectors):
        clicked = clicks[[user], [item]].item() > 0
        gram += (1.0 if clicked else W) * np.outer(x, x)
        moment += clicked * x
    return gram, moment


def test_what_was_not_clicked_counts_a_little(world):
    parts = list(sums(*world, W))
    gram, moment, count = (np.concatenate(each) for each in zip(*parts, strict=True))
    for user in range(USERS):
        np.testing.assert_allclose(gram[user], literal(*world, user)[0])
        np.testing.assert_allclose(moment[user], literal(*world, user)[1])
    clicked = np.diff(world[0].indptr)
    np.testing.assert_array_equal(count, np.rint(clicked + W * (ITEMS - clicked)))
    whole = everyone(*world, W)
    np.testing.assert_allclose(whole[0], gram.sum(axis=0))
    np.testing.assert_allclose(whole[1], moment.sum(axis=0))


def started(policy, world, **more):
    clicks = float(world[0].nnz)
    start_from_sums(policy, list(range(USERS)), sums(*world, W), clicks=clicks, **more)
    return policy


def test_cohort_cascade_knows_the_sums_and_finds_the_kinds(world):
    losses = {place: 0.5 for place in range(14)} | {5: 0.0}  # everyone, precision 1/4
    policy = started(cc.CohortCascade(n_features=D), world, losses=losses)
    total = np.zeros((D, D)), np.zeros(D)
    for user in range(USERS):
        gram, moment, _ = policy.statistics(user)
        np.testing.assert_allclose(gram, literal(*world, user)[0])
        total[0][:] += gram
        total[1][:] += moment
    mean = np.linalg.solve(total[0] + np.eye(D), total[1])
    np.testing.assert_allclose(policy.cluster_weights("new"), mean)
    gram, moment = literal(*world, 7)
    own = np.linalg.solve(gram + PRECISIONS[5] * np.eye(D), moment + PRECISIONS[5] * mean)
    np.testing.assert_allclose(policy.user_weights(7), own)
    assert {frozenset(each) for each in policy.clusters()} == {
        frozenset(range(kind, USERS, 3)) for kind in range(3)
    }


def test_a_started_cohort_cascade_is_a_whole_policy(world, tmp_path):
    policy = started(cc.CohortCascade(n_features=D), world, losses={0: 0.1, 5: 0.0})
    policy.save(tmp_path / "model.cc")
    again = cc.load(tmp_path / "model.cc")
    catalog = cc.Catalog(world[1])
    for one in (policy, again):
        for step in range(30):
            rows = one.recommend(step % 40, catalog, k=4)
            one.update(step % 40, catalog[rows], click=step % 4)
    assert policy.state()["calibration"][0] == -1.0
    for name in ("gram", "moment"):
        np.testing.assert_array_equal(policy.state()[name], again.state()[name])
    assert policy.clusters() == again.clusters()


def shown_to(policy, catalog, rng, rounds, chance):
    """Show lists of four; yield the user, the list, and the first click, by these chances."""
    for step in range(rounds):
        user = step % USERS
        rows = policy.recommend(user, catalog, k=4)
        clicks = np.flatnonzero(rng.random(4) < chance[user, rows])
        yield user, rows, int(clicks[0]) if len(clicks) else None


def test_outcomes_are_scaled_once_lists_say_how_often_users_click(world):
    """Every outcome so far counts by the share of what was promised that came."""
    policy = started(cc.CohortCascade(n_features=D, memory=0), world)
    catalog, rng = cc.Catalog(world[1]), np.random.default_rng(2)
    chance = np.full((USERS, ITEMS), 0.2)
    promised = answered = 0.0
    moments = np.array([policy.statistics(user)[1] for user in range(USERS)])
    for user, rows, click in shown_to(policy, catalog, rng, 400, chance):
        seen = rows if click is None else rows[: click + 1]
        promised += np.clip(world[1][seen] @ policy.user_weights(user), 0.0, 1.0).sum()
        answered += click is not None
        gram = sum(policy.statistics(user)[0] for user in range(USERS))
        policy.update(user, catalog[rows], click)
        if answered == CALIBRATION_CLICKS:
            moments *= answered / promised
            whole = np.linalg.solve(gram + np.eye(D), moments.sum(axis=0))
        if click is not None:
            moments[user] += world[1][rows[click]]
        found = np.array([policy.statistics(user)[1] for user in range(USERS)])
        np.testing.assert_allclose(found, moments)
        if answered == CALIBRATION_CLICKS:
            break
    assert answered / promised < 0.5 and policy.state()["calibration"][0] == -1.0
    np.testing.assert_allclose(policy.cluster_weights("new"), whole)


def test_no_promise_is_raised(world):
    policy = started(cc.CohortCascade(n_features=D, memory=0), world)
    catalog, rng = cc.Catalog(world[1]), np.random.default_rng(2)
    before = policy.cluster_weights("new")
    for user, rows, click in shown_to(policy, catalog, rng, 20, np.ones((USERS, ITEMS))):
        policy.update(user, catalog[rows], click)
    assert policy.state()["calibration"].tolist() == [-1.0, 16.0]
    assert np.abs(policy.cluster_weights("new") - before).max() < 0.3


@pytest.mark.compiled
@pytest.mark.parametrize("rate", [0.2, 0.03])
def test_a_warm_start_is_not_overtaken(world, rate):
    """Clicks say which items a user likes, and nothing of how often it clicks what it sees."""
    same = np.arange(USERS)[:, None] % 3 == np.arange(ITEMS)[None, :] % 3
    appeal = np.random.default_rng(3).uniform(0.4, 1.6, ITEMS)
    chance = rate * np.where(same, 1.0, 0.1) * appeal
    env = cc.environments.Matrix(chance, world[1])
    regret = {"warm": [], "cold": []}
    for seed in range(500, 504):
        policies = {
            "warm": started(cc.CohortCascade(n_features=D, seed=seed), world),
            "cold": cc.CohortCascade(n_features=D, seed=seed),
        }
        for name, policy in policies.items():
            regret[name].append(cc.simulate(policy, env, rounds=6_000, k=4, seed=seed).regret)
    warm, cold = (np.mean(each, axis=0) for each in regret.values())
    assert warm[149] < 0.8 * cold[149]
    assert (warm[[599, 1_999, 5_999]] < 1.05 * cold[[599, 1_999, 5_999]]).all()


def test_few_clicks_do_not_make_a_daring_choice():
    """Precision 1/4 is best by less than two standard errors: the strongest one is taken."""
    values = [np.full(50, 0.1) for _ in range(14)]
    noise = np.tile([0.5, -0.5], 25)
    values[5] = values[5] + 0.01 + noise
    losses = _losses(values)
    assert min(losses, key=losses.get) == 0
    values[5] = values[5] - noise + 0.3  # a clear case
    losses = _losses(values)
    assert min(losses, key=losses.get) == 5
    assert losses[0] == pytest.approx(0.31 / 0.41)


@pytest.mark.parametrize("kind", [cc.MultipleLinUCB, cc.C3UCB])
def test_linear_policies_have_the_ridge_estimate(kind, world, tmp_path):
    policy = started(kind(n_features=D, beta=0.5, reg=2.0), world)
    parts = [literal(*world, user) for user in range(USERS)]
    if kind is cc.C3UCB:
        gram, moment = (sum(each) for each in zip(*parts, strict=True))
    else:
        gram, moment = parts[5]
    np.testing.assert_allclose(
        policy.user_weights(5), np.linalg.solve(gram + 2 * np.eye(D), moment)
    )
    policy.save(tmp_path / "model.cc")
    rows = cc.load(tmp_path / "model.cc").recommend(5, cc.Catalog(world[1]), k=3)
    np.testing.assert_array_equal(rows, policy.recommend(5, cc.Catalog(world[1]), k=3))


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        (cc.ClubCascade(n_features=D), "CohortCascade, MultipleLinUCB, C3UCB; got ClubCascade"),
        (cc.CohortCascade(n_features=D, link="logistic"), "must have the identity link"),
        (cc.CohortCascade(n_features=D, users=["ann"]), "must have learned nothing, got 1 users"),
    ],
)
def test_refused(policy, sentence, world):
    with pytest.raises(InvalidArgument, match=sentence):
        started(policy, world)


@pytest.mark.parametrize("cls", [cc.CohortCascade, cc.MultipleLinUCB])
def test_users_who_join_together_are_those_who_join_one_by_one(cls):
    together, alone = cls(n_features=2), cls(n_features=2)
    for first in (0, 100):
        names = [f"u{n}" for n in range(first, first + 100)]
        together._join_many(names)
        for name in names:
            alone._join(name)
    for policy in (together, alone):
        policy.update("u150", np.eye(2), 1)
        policy.update("new", np.eye(2), 0)
    a, b = (split_state(policy.state()) for policy in (together, alone))
    assert a[0] == b[0]
    assert all(np.array_equal(a[1][name], b[1][name]) for name in b[1])
