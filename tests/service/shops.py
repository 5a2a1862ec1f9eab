"""Small shops for the tests: items, users, and a clock that stands still until it is moved."""

from __future__ import annotations

import numpy as np

from clubcascade.service import Recommender, history
from clubcascade.storage import open_store

D = 3
ITEMS = np.random.default_rng(4).uniform(-0.5, 0.5, (8, D))
NAMES = [f"item {row}" for row in range(len(ITEMS))]


class Clock:
    def __init__(self, now=1_000_000.0):
        self.now = now

    def __call__(self):
        return self.now


def shop(where, **options):
    return Recommender(where, **{"n_features": D, **options})


def play(recommender, rounds, seed=1, model="default", users=5):
    """Let an audience click; return the acknowledged (id, click)."""
    rng = np.random.default_rng(seed)
    done = []
    for _ in range(rounds):
        decision = recommender.recommend(f"user {rng.integers(users)}", 3, ITEMS, model=model)
        click = [None, 0, 1, 2][rng.integers(4)]
        assert recommender.feedback(decision.id, click) == "applied"
        done.append((decision.id, click))
    return done


def replayed(where):
    """The digest of the whole log, without snapshots."""
    store = open_store(where)
    try:
        return history.replayed(store).digest()[1]
    finally:
        store.close()
