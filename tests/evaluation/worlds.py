"""Small logs for the tests of off-policy evaluation."""

import numpy as np

import clubcascade as cc

ITEMS = 5


def logged(logger, n=1500, users=60, k=2, seed=0, lag=0):
    """A log of a policy that learns, in a world of two kinds of users; answers may come late."""
    rng = np.random.default_rng(seed)
    items = np.abs(np.random.default_rng(0).normal(size=(ITEMS, 3)))
    items /= np.linalg.norm(items, axis=1)[:, None]
    catalog = cc.Catalog(items)
    attraction = 0.7 * items @ np.array([[0.9, 0.1, 0.1], [0.1, 0.2, 0.9]]).T
    rows, waiting, learned = [], [], 0
    for _ in range(n):
        user = int(rng.integers(users))
        shown = logger.recommend(user, catalog, k)
        hits = rng.random(k) < attraction[shown, user % 2]
        click = int(np.argmax(hits)) if hits.any() else None
        rows.append([user, shown, click, learned, -1])
        waiting.append(len(rows) - 1)
        if len(waiting) > lag:
            at = waiting.pop(0)
            learned += 1
            logger.update(rows[at][0], catalog[rows[at][1]], rows[at][2])
            rows[at][4] = learned
    names = ("users", "shown", "clicks", "made", "answered")
    return catalog, attraction, dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def value(policy, catalog, attraction, users):
    """The true clicks per list of a policy that does not draw."""
    found = []
    for user in users:
        passed = 1 - attraction[policy.recommend(user, catalog, 2), user % 2]
        found.append(1 - passed.prod())
    return float(np.mean(found))
