"""What a simulated round offers, and whom it meets."""

import numpy as np
import pytest

from clubcascade.environments import Matrix, TabularEnvironment
from clubcascade.kernels import world as kernels


def test_no_item_is_offered_twice_in_a_round():
    """Not even when as many are offered as there are: any walk meets all of the table."""
    one = np.zeros(1, np.int64)
    env = TabularEnvironment(np.eye(32), np.full((1, 32), 0.5), one, offered=20)
    whole = np.empty(32, np.int64)
    for t in range(40):
        kernels.offer(env.world, t, whole)
        np.testing.assert_array_equal(np.sort(whole), np.arange(32))


def test_users_without_weight_never_come():
    """Also the first and the last one; everybody else comes about as often as its weight says."""
    weights = np.array([0.0, 3.0, 0.0, 1.0, 0.0])
    env = Matrix(np.eye(5), np.eye(5), arrivals=weights)
    users = np.array([kernels.visitor(env.world, t) for t in range(4000)])
    shares = np.bincount(users, minlength=5) / 4000
    assert shares[[0, 2, 4]].tolist() == [0.0, 0.0, 0.0]
    assert shares[1] == pytest.approx(0.75, abs=0.03)
