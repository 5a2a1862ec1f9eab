"""The literal version in NumPy against the line-by-line reference."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.engine.literal import LiteralClub
from tests.reference.club_cascade import ClubCascade

D, USERS, K = 4, 6, 3


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("alpha", [0.0, 0.4, 1.0, np.inf])
def test_it_is_algorithm_1(alpha, seed):
    rng = np.random.default_rng(seed)
    tastes = np.abs(rng.standard_normal((2, D)))
    ours = LiteralClub(USERS, D, alpha=alpha, beta=0.7, reg=2.0)
    reference = ClubCascade(D, range(USERS), alpha=alpha, beta=0.7, reg=2.0)
    for _ in range(60):
        user = int(rng.integers(USERS))
        items = rng.standard_normal((12, D))
        items /= np.linalg.norm(items, axis=1, keepdims=True)
        ranking = ours.recommend(user, items, K)
        bounds = reference.bounds(user, items)
        best = np.sort(bounds)[::-1][:K]
        np.testing.assert_allclose(bounds[ranking], best, atol=1e-9)
        liked = np.flatnonzero(items[ranking] @ tastes[user % 2] > 0.5)
        click = int(liked[0]) if len(liked) else None
        ours.update(user, items[ranking], click)
        examined, clicks = (K, ()) if click is None else (click + 1, (click,))
        reference.update(user, items[ranking], examined, clicks)
        assert reference.margin > 1e-9
        edges = {frozenset(pair) for pair in np.argwhere(ours.edges).tolist()}
        assert edges == reference.E
        labels = ours.labels()
        parts = {frozenset(np.flatnonzero(labels == label).tolist()) for label in labels}
        assert parts == reference.clusters()
    for user in range(USERS):
        np.testing.assert_allclose(ours.weights[user], reference.theta[user], atol=1e-9)
        assert ours.count[user] == reference.T[user]
