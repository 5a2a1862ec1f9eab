"""KnownClusters against one ridge model per true cluster."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clubcascade as cc
from tests.reference.known_clusters import KnownClusters
from tests.reference.problems import assert_near, examples, partition, play, problems


@examples(80)
@given(
    problems(),
    st.lists(st.integers(0, 2), min_size=8, max_size=8),
    st.booleans(),
    st.sampled_from([0.0, 1.0]) | st.floats(0.0, 4.0),
    st.sampled_from([0.1, 1.0, 4.0]) | st.floats(0.05, 8.0),
)
def test_agrees_with_one_model_per_cluster(problem, labels, as_dict, beta, reg):
    label = dict(zip(problem.users, labels, strict=False))
    parts = [{user for user in label if label[user] == each} for each in set(label.values())]
    told = label if as_dict else parts
    policy = cc.KnownClusters(n_features=problem.d, partition=told, beta=beta, reg=reg)
    reference = KnownClusters(problem.d, parts, beta=beta, reg=reg)
    assert partition(policy.clusters()) == {frozenset(part) for part in parts}

    def after(step):
        for user in problem.users:
            assert_near(policy.cluster_weights(user), reference.cluster_weights(user), "weights")
            expected = reference.scores(user, step.items)
            assert_near(policy.scores(user, step.offered), expected, "scores")

    play(
        problem,
        policy,
        bounds=lambda step: reference.bounds(step.user, step.items),
        update=lambda step, rows, ranking, examined, clicks: reference.update(
            step.user, rows, examined, clicks
        ),
        after=after,
    )


@examples(80)
@given(
    problems(),
    st.lists(st.integers(0, 2), min_size=8, max_size=8),
    st.floats(0.0, 2.0),
    st.sampled_from([None, [1.0, 0.6, 0.1]]),
)
def test_m_known_clusters_are_m_independent_bandits(problem, labels, beta, discounts):
    """One C3-UCB per cluster, which meets only the rounds of its users, is the same to the bit."""
    label = dict(zip(problem.users, labels, strict=False))
    setting = {"n_features": problem.d, "beta": beta, "reg": 1.0, "discounts": discounts}
    together = cc.KnownClusters(partition=label, **setting)
    apart = {each: cc.C3UCB(**setting) for each in labels}
    for step in problem.rounds:
        alone = apart[label[step.user]]
        chosen = together.recommend(step.user, step.offered, step.k)
        assert np.array_equal(alone.recommend(step.user, step.offered, step.k), chosen)
        click = step.click(*step.look(chosen))
        together.update(step.user, step.shown(chosen), click)
        alone.update(step.user, step.shown(chosen), click)
        for user in problem.users:
            bandit = apart[label[user]]
            weights = together.cluster_weights(user)
            assert np.array_equal(weights, bandit.cluster_weights(user))
            scores = together.scores(user, step.offered)
            assert np.array_equal(scores, bandit.scores(user, step.offered))


@pytest.mark.compiled  # long
def test_a_run_of_m_known_clusters_is_m_independent_runs():
    """In a compiled run too: every model has the very arrays of its cluster's own bandit."""
    env = cc.environments.Synthetic(n_users=9, n_clusters=3, n_items=40, n_features=5, seed=2)
    together = cc.KnownClusters(n_features=5, partition=env.partition)
    cc.simulate(together, env, rounds=3000, k=4, seed=6)
    apart = [cc.C3UCB(n_features=5, beta=1.0) for _ in range(3)]
    env.reset(6)
    for _ in range(3000):
        user, catalog = env.next_user()
        bandit = apart[env.partition[user]]
        ranking = bandit.recommend(user, catalog, 4)
        bandit.update(user, catalog[ranking], env.respond(user, ranking))
    for user in range(9):
        bandit = apart[env.partition[user]]
        assert np.array_equal(together.cluster_weights(user), bandit.cluster_weights("anybody"))
        for ours, theirs in zip(together.statistics(user), bandit.statistics(user), strict=True):
            assert np.array_equal(ours, theirs)


@pytest.mark.parametrize(
    "wrong", [5, None, "ab", [["a"], 3], [[["a"]]], {"a": [1]}, np.zeros((2, 2))]
)
def test_what_is_no_partition(wrong):
    for policy in (cc.KnownClusters, cc.KnownClustersGLM):
        with pytest.raises(cc.errors.InvalidArgument, match="partition must be a list of sets"):
            policy(n_features=2, partition=wrong)


def test_a_partition_that_can_be_read_only_once(tmp_path):
    for kind in (cc.KnownClusters, cc.KnownClustersGLM):
        policy = kind(n_features=2, partition=(set(part) for part in ("ab", "cd")))
        assert partition(policy.clusters()) == {frozenset("ab"), frozenset("cd")}
        assert policy.fresh().clusters() == policy.clusters()


def test_a_user_outside_the_partition():
    policy = cc.KnownClusters(n_features=2, partition=[{"alice"}, {"bob"}])
    with pytest.raises(cc.errors.UnknownUser, match="carol"):
        policy.recommend("carol", np.eye(2), 1)
    with pytest.raises(cc.errors.UnknownUser, match="carol"):
        policy.update("carol", np.eye(2), 0)
    assert partition(policy.clusters()) == {frozenset(["alice"]), frozenset(["bob"])}
