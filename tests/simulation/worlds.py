"""Small worlds, and a policy that simulate cannot compile."""

import clubcascade as cc

SIZES = {"n_users": 7, "n_clusters": 2, "n_items": 40, "n_features": 3, "seed": 5}
WORLDS = {
    "fixed": {},
    "fresh": {"items": "fresh"},
    "dcm": {"click": cc.click.DCM([0.8, 0.3])},
    "weighted": {"arrivals": [5, 1, 1, 1, 0, 1, 1]},
    "discounted": {"click": cc.click.DCM([0.9, 0.6], discounts=[1.0, 0.8, 0.5])},
    "changing": {
        "changes": cc.environments.Changes(
            at=[50, 170], users="new", switch=0.5, drift=0.5, appeal=0.5
        )
    },
}


class Foreign(cc.Policy):
    """A policy of somebody else's: only the public methods, so simulate cannot compile it."""

    def __init__(self, inner):
        self.inner = inner
        self.n_features = inner.n_features
        self.clusters = inner.clusters

    def recommend(self, user, items, k):
        return self.inner.recommend(user, items, k)

    def update(self, user, shown, click):
        self.inner.update(user, shown, click)

    def state(self):
        return self.inner.state()

    def load_state(self, state):
        self.inner.load_state(state)

    @classmethod
    def examples(cls):
        yield from ()
