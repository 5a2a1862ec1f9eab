from __future__ import annotations

import math

import numpy as np
import pytest

from clubcascade import theory
from clubcascade.environments import Matrix, Synthetic
from clubcascade.errors import InvalidArgument
from clubcascade.experiment.bounds import KnownClustersBound, TheoremBound

WORLD = {"n_users": 8, "n_clusters": 2, "n_items": 60, "n_features": 4, "seed": 1}
ROUNDS = np.array([10, 1000])


def test_the_theorems_bound_is_that_of_the_theory():
    env = Synthetic(**WORLD)
    wanted = [
        theory.regret_bound(
            n_users=8,
            n_clusters=2,
            n_features=4,
            k=3,
            horizon=t,
            gap=math.sqrt(2),
            item_eigenvalue=theory.item_eigenvalue(env.catalog.features),
            reg=5.0,
        )
        for t in (10, 1000)
    ]
    whole = TheoremBound(reg=5.0).regret(env, 3, ROUNDS)
    np.testing.assert_allclose(whole, [bound.total for bound in wanted])
    learning = TheoremBound(reg=5.0, part="learning").regret(env, 3, ROUNDS)
    np.testing.assert_allclose(learning, [bound.learning for bound in wanted])


def test_known_clusters_have_a_smaller_bound():
    env = Synthetic(**WORLD)
    known = KnownClustersBound(reg=5.0).regret(env, 3, ROUNDS)
    assert (known <= TheoremBound(reg=5.0, part="learning").regret(env, 3, ROUNDS)).all()


def test_a_bound_needs_the_truth():
    env = Matrix(np.full((3, 4), 0.5), items=np.eye(4))
    for bound in (TheoremBound(), KnownClustersBound()):
        with pytest.raises(InvalidArgument, match="true clusters are known"):
            bound.regret(env, 2, ROUNDS)
    with pytest.raises(InvalidArgument, match="two clusters or more"):
        TheoremBound().regret(Synthetic(**WORLD | {"n_clusters": 1}), 2, ROUNDS)
    with pytest.raises(InvalidArgument, match="part must be one of"):
        TheoremBound(part="half")
