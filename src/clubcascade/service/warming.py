"""What the first request would wait for, done before it comes."""

from __future__ import annotations

from clubcascade.core import Catalog
from clubcascade.errors import ClubCascadeError
from clubcascade.service.model import Model
from clubcascade.service.recommender import Recommender
from clubcascade.service.records import Learned


def warm(shop: Recommender) -> None:
    """Load what the first request would wait for."""
    for name in shop.models:
        policy = shop.model(name).policy
        d = policy.n_features
        if d is None:
            continue
        fresh = policy.fresh()
        rows = [[0.0] * d, [0.0] * d]
        user = next(iter(getattr(fresh, "users", None) or ["warm"]))
        shown = Learned(name, "applied", 1, user, 0, (1, (0,)), (0, 1), bytes(2 * 8 * d))
        try:
            Model(name, fresh).learn(1, [shown])
            fresh.recommend(user, rows, 1)
            fresh.recommend(user, Catalog(rows), 1)
        except ClubCascadeError:
            continue
