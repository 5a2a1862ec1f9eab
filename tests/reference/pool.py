"""Section 5's preparation of Yelp and MovieLens, step by step on a dense matrix.

Draws are made in the order of the text: the pool, the history users, then the users and the items
of a setting. Each draw has a stream of its own.
"""

from __future__ import annotations

import numpy as np


def prepare(clicks, *, n_users, n_items, d, rule, pool, history, scaling, seed):
    """Return H's users, the users and items that play, F restricted to them, and X."""
    clicks = np.asarray(clicks)
    streams = [np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(4)]

    def draw(candidates, size, stream):
        places = stream.permutation(len(candidates))[:size]
        return [candidates[place] for place in sorted(places)]

    all_users, all_items = list(range(clicks.shape[0])), list(range(clicks.shape[1]))
    if rule == "most":  # "10^3 restaurants with most reviews and 10^3 users who review most"
        reviews = {user: sum(clicks[user]) for user in all_users}
        reviewed = {item: sum(clicks[:, item]) for item in all_items}
        users = sorted(sorted(all_users, key=lambda user: (-reviews[user], user))[:pool])
        items = sorted(sorted(all_items, key=lambda item: (-reviewed[item], item))[:pool])
    elif rule == "random":  # "we randomly draw 10^3 movies and 10^3 users"
        users = draw(all_users, pool, streams[0])
        items = draw(all_items, pool, streams[0])
    else:
        users, items = all_users, all_items

    past = draw(users, history, streams[1])  # "we randomly choose 100 users": H
    future = [user for user in users if user not in past]  # "the remaining 900 users": F
    playing = draw(future, n_users, streams[2])  # "we randomly choose ... u = 40 (or 200) users"
    shown = draw(items, n_items, streams[3])  # "... L = 200 (or 10^3) restaurants"

    H = clicks[np.ix_(past, items)].astype(float)
    F = clicks[np.ix_(playing, shown)].astype(float)
    _, sigma, Vt = np.linalg.svd(H)  # "we perform SVD on H to get a d = 20 feature vectors"
    X = np.zeros((len(items), d))
    for j in range(min(d, len(sigma))):
        if sigma[j] > 1e-7:
            X[:, j] = Vt[j]
    norms = [np.linalg.norm(row) for row in X]
    largest = max(norms)
    for i, norm in enumerate(norms):
        divisor = largest if scaling == "largest" else norm
        X[i] = X[i] / divisor if norm > 1e-9 else 0.0
    kept = [items.index(item) for item in shown]
    return past, playing, shown, F, X[kept], sigma
