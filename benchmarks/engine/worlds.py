"""The worlds and policies that are measured."""

from __future__ import annotations

import numpy as np

from clubcascade.environments.synthetic import Synthetic
from clubcascade.environments.tabular import TabularEnvironment
from clubcascade.policies.club_cascade import ClubCascade

FEATURES = 20
CLUSTERS = 5
ALPHA, BETA, REG = 2.0, 1.0, 4.0
DEGREE = 20
"""Mean degree of a sparse start."""
STRUCTURE = 1
"""Seed of weights, items and clusters."""


def paper_world(
    n_users: int,
    n_items: int,
    n_features: int = FEATURES,
    *,
    fresh: bool = False,
    truth: bool = False,
) -> Synthetic:
    """Return the paper's synthetic world: five orthogonal clusters (fewer below 5 features).

    Without ``truth`` a run does not compare clusters with the true ones a hundred times.
    """
    world = Synthetic(
        n_users=n_users,
        n_clusters=min(CLUSTERS, n_features, n_users),
        n_items=n_items,
        n_features=n_features,
        items="fresh" if fresh else "fixed",
        seed=STRUCTURE,
    )
    if not truth:
        world.partition = None
    return world


def crowd(n_users: int, n_items: int, n_features: int = FEATURES) -> TabularEnvironment:
    """Return the same world for a crowd; the true clusters are not compared with."""
    few = paper_world(CLUSTERS, n_items, n_features)
    kind = np.random.default_rng(STRUCTURE).integers(len(few.attraction), size=n_users)
    return TabularEnvironment(few.catalog.features, few.attraction, kind)


def paper_policy(n_users: int, n_features: int = FEATURES, alpha: float = ALPHA) -> ClubCascade:
    """Return CLUB-cascade with its complete start, all users known."""
    return ClubCascade(n_features=n_features, users=range(n_users), alpha=alpha, beta=BETA, reg=REG)


def sparse_policy(n_users: int, n_features: int = FEATURES, alpha: float = ALPHA) -> ClubCascade:
    """Return CLUB-cascade with a sparse start of mean degree ``DEGREE``, all users known."""
    return ClubCascade(
        n_features=n_features,
        users=range(n_users),
        alpha=alpha,
        beta=BETA,
        reg=REG,
        start="random",
        edge_probability=min(1.0, DEGREE / n_users),
    )
