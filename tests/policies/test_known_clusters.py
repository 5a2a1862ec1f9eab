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


def test_a_user_outside_the_partition():
    policy = cc.KnownClusters(n_features=2, partition=[{"alice"}, {"bob"}])
    with pytest.raises(cc.errors.UnknownUser, match="carol"):
        policy.recommend("carol", np.eye(2), 1)
    with pytest.raises(cc.errors.UnknownUser, match="carol"):
        policy.update("carol", np.eye(2), 0)
    assert partition(policy.clusters()) == {frozenset(["alice"]), frozenset(["bob"])}
