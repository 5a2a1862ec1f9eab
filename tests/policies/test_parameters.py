"""Parameters as scikit-learn has them: read, set and cloned."""

from functools import cached_property

import numpy as np
import pytest
from sklearn.base import clone

import clubcascade as cc
from clubcascade.core.state import same
from clubcascade.errors import InvalidArgument
from clubcascade.policies import POLICIES

EXAMPLES = [
    pytest.param(policy, id=f"{name}-{number}")
    for name, kind in POLICIES.items()
    for number, policy in enumerate(kind.examples())
]


def taught(policy):
    policy = policy.fresh()
    catalog = cc.Catalog(np.eye(policy.n_features or 3))
    for user in range(3):
        policy.update(user, catalog[[0, 1]], click=0)
    return policy


@pytest.mark.parametrize("policy", EXAMPLES)
def test_a_clone_has_the_parameters_and_has_learned_nothing(policy):
    learned = taught(policy)
    other = clone(learned)
    assert type(other) is type(policy) and other is not learned
    assert same(other.get_params(), policy.get_params())
    assert same(other.state(), policy.state()) and not same(other.state(), learned.state())


@pytest.mark.parametrize("policy", EXAMPLES)
def test_parameters_that_are_set_are_those_of_the_constructor(policy):
    other = policy.fresh().set_params(**policy.get_params())
    assert same(taught(other).state(), taught(policy).state())


def test_set_params_is_the_constructor():
    policy = cc.ClubCascade(n_features=2, users=["a", "b"])
    assert policy.set_params(n_features=3, users=["c"], alpha=0.5) is policy
    assert same(policy.state(), cc.ClubCascade(n_features=3, users=["c"], alpha=0.5).state())
    assert policy.get_params(deep=False)["alpha"] == 0.5
    policy.recommend("c", np.eye(3), k=2)
    assert policy.set_params() is policy


def test_nothing_that_was_computed_from_old_parameters_is_left():
    class Halving(cc.C3UCB):
        @cached_property
        def half(self):
            return self.reg / 2

    policy = Halving(n_features=2, reg=4.0)
    assert policy.half == 2.0 and policy.set_params(reg=6.0).half == 3.0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"reg": -1}, "reg must be a number"),
        ({"reg": 1.0, "ridge": 2}, "params must be among n_features, .*, got 'ridge'"),
        ({"reg": 1.0, "n_features": 0}, "n_features must be"),
    ],
)
def test_wrong_parameters_change_nothing(wrong, message):
    policy = cc.C3UCB(n_features=2, reg=3.0)
    before = policy.get_params()
    with pytest.raises(InvalidArgument, match=message):
        policy.set_params(**wrong)
    assert policy.get_params() == before


def test_a_policy_that_has_learned_refuses_others_and_says_what_to_do():
    policy = taught(cc.C3UCB(n_features=2))
    before = policy.state()
    with pytest.raises(InvalidArgument, match=r"fresh\(\)\.set_params"):
        policy.set_params(reg=2.0)
    assert policy.reg != 2.0 and same(policy.state(), before)
    assert policy.fresh().set_params(reg=2.0).reg == 2.0


def test_a_policy_that_has_only_drawn_has_learned_nothing():
    policy = cc.Random(seed=1)
    policy.recommend("alice", np.eye(3), k=2)
    assert policy.set_params(seed=2).seed == 2
