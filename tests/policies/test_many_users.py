"""ClubCascade against Algorithm 1 with more users than fit 16 bits: from there on other kernels.

Up to 65,536 users each keeps an inverse of its own; from the next one on weights are solved anew.
A sparse graph keeps the literal algorithm quick: it walks through all edges for every user.
"""

from __future__ import annotations

import numpy as np
import pytest

import clubcascade as cc
from clubcascade.learners.models import OWN_INVERSES
from tests.policies.test_club_cascade import edges_of
from tests.reference.club_cascade import ClubCascade
from tests.reference.problems import assert_best, assert_near, vectors

EDGES = 12_000
D = 3


def busiest(policy, n):
    """The users of the largest components: there is something to split."""
    labels = policy._learner.graph.labels()
    sizes = np.bincount(labels)
    return np.flatnonzero(sizes[labels] >= np.sort(sizes)[-4])[:n].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("known", [OWN_INVERSES - 2, OWN_INVERSES + 3000])
def test_agrees_with_the_algorithm(known):
    """Also while users join across the border, and what they had learned before counts."""
    p = 2 * EDGES / known**2
    parameters = {"alpha": 0.7, "beta": 0.5, "reg": 0.5}
    policy = cc.ClubCascade(
        n_features=D, users=range(known), start="random", edge_probability=p, seed=3, **parameters
    )
    reference = ClubCascade(D, range(known), edges=edges_of(policy), **parameters)
    rng = np.random.default_rng(6)
    catalog = cc.Catalog(vectors(rng, 30, D))
    tastes = rng.standard_normal((2, D))
    present = busiest(policy, 40)
    start = len({frozenset(reference.component(user)) for user in present})
    for t in range(240):
        if t % 40 == 39:
            present.append(known + t // 40)  # a newcomer: over the border at the third
        user = present[-1] if t % 40 == 39 else present[int(rng.integers(len(present)))]
        links = None if user in reference.S else policy.graph.links_of_newcomer()
        bounds = reference.bounds(user, catalog.features, links)
        ranking = policy.recommend(user, catalog, 4)
        assert_best(ranking, bounds, 4)
        clicks = np.flatnonzero(catalog.features[ranking] @ tastes[user % 2] > 0.1)[:1].tolist()
        examined = clicks[0] + 1 if clicks else 4
        policy.update(user, catalog[ranking], clicks[0] if clicks else None)
        reference.update(user, catalog.features[ranking], examined, clicks, links)
        assert reference.margin > 1e-9, "rounding might decide: choose another seed"
        assert_near(policy.user_weights(user), reference.theta[user], "user weights")
        expected = reference.cluster_weights(user)
        assert_near(policy.cluster_weights(user), expected, "cluster weights")
    labels = policy._learner.graph.labels()
    parts = {frozenset(reference.component(user)) for user in present}
    assert {frozenset(np.flatnonzero(labels == labels[user]).tolist()) for user in present} == parts
    assert len(parts) > start + 3, "hardly anything was cut"
    assert edges_of(policy) == reference.E
    for user in present:
        gram, moment, count = policy.statistics(user)
        assert_near(gram, reference.S[user], "gram")
        assert_near(moment, reference.b[user], "moment")
        assert count == reference.T[user]
    assert len(policy._learner.users.arrays["inverse"]) == 0


def test_inverses_go_when_the_last_user_joins_for_whom_there_are_any(monkeypatch):
    """Room is made for eight users at first: only the border takes the inverses away."""
    weights = {}
    items = np.random.default_rng(8).standard_normal((20, D)) / 5
    for room in (4, 100):
        monkeypatch.setattr("clubcascade.learners.user_statistics.OWN_INVERSES", room)
        monkeypatch.setattr("clubcascade.learners.club.OWN_INVERSES", room)
        policy = cc.ClubCascade(n_features=D, alpha=1.0, reg=0.5)
        for t in range(90):
            user = t % (1 + t // 15)
            shown = items[[t % 20, (7 * t) % 20]]
            policy.update(user, shown, 0 if (user + t) % 3 else None)
        assert (len(policy._learner.users.arrays["inverse"]) == 0) == (room == 4)
        weights[room] = np.array([policy.user_weights(user) for user in range(6)])
    assert_near(weights[4], weights[100], "weights")
