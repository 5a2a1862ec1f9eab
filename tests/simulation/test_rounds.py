"""The call itself: what it refuses, what it takes by default, and that it tells how far it is."""

import numpy as np
import pytest

import clubcascade as cc
from clubcascade.core.state import same
from tests.simulation.worlds import SIZES


def test_progress_is_told():
    env = cc.environments.Synthetic(**SIZES)
    told = []
    cc.simulate(cc.Random(), env, rounds=250, k=2, seed=1, progress=told.append)
    assert told[-1] == 250
    assert told == sorted(told)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rounds": 0}, "rounds"),
        ({"k": 0}, "k must"),
        ({"k": 41}, "k must be at most"),
        ({"seed": -1}, "seed"),
        ({"every": 0}, "every"),
        ({"every": 1000}, "every"),
    ],
)
def test_bad_calls_say_what_is_wrong(changes, words):
    env = cc.environments.Synthetic(**SIZES)
    call = {"rounds": 10, "k": 2, "seed": 1} | changes
    with pytest.raises(cc.errors.InvalidArgument, match=words):
        cc.simulate(cc.Random(), env, **call)


@pytest.mark.parametrize(
    ("env", "got"),
    [
        (None, "got None, which lacks n_users"),
        (cc.Random(), r"got Random\(.*\), which lacks n_users, reset, next_user"),
        (cc.environments.Synthetic, "got <class '.*Synthetic'>"),
        (cc.Catalog([[1.0]]), r"got Catalog\(1 items, 1 features\), which lacks n_users, reset"),
    ],
    ids=["nothing", "a policy", "a class", "a catalogue"],
)
@pytest.mark.parametrize("policy", [cc.Random(), None], ids=["policy", "default"])
def test_what_is_no_environment_is_named(policy, env, got):
    asked = "n_users, n_features, reset, next_user, respond, regret"
    with pytest.raises(
        cc.errors.InvalidArgument, match=f"env must be an environment, .* with {asked}; {got}"
    ):
        cc.simulate(policy, env, rounds=10, k=2, seed=1)


def test_only_what_is_asked_of_an_environment_makes_one():
    class Plain:
        """A world of somebody else's: nothing but what the protocol names."""

        def __init__(self, inner):
            self.n_users, self.n_features = inner.n_users, inner.n_features
            self.reset, self.next_user = inner.reset, inner.next_user
            self.respond, self.regret = inner.respond, inner.regret

    env = cc.environments.Synthetic(**SIZES)
    assert len(cc.simulate(cc.Random(), Plain(env), rounds=10, k=2, seed=1).round) == 10


def test_wrong_number_of_features_is_an_error_before_anything_runs():
    env = cc.environments.Synthetic(**SIZES)
    with pytest.raises(cc.errors.InvalidItems, match="features"):
        cc.simulate(cc.C3UCB(n_features=5), env, rounds=10, k=2, seed=1)


def test_counting_policies_refuse_fresh_items():
    env = cc.environments.Synthetic(**SIZES, items="fresh")
    with pytest.raises(cc.errors.InvalidItems, match="Catalog"):
        cc.simulate(cc.CascadeUCB1(), env, rounds=10, k=2, seed=1)


@pytest.mark.parametrize("policy", [cc.CascadeUCB1(), cc.TopRank()], ids=["UCB1", "TopRank"])
def test_users_known_from_a_smaller_catalogue(policy):
    """The arrays grow for the new items before the compiled run takes them."""
    small = cc.Catalog(np.eye(2), ids=["a", "b"])
    for user in range(4):
        policy.update(user, small[[0, 1]], None)
    other = policy.fresh()
    other.load_state(policy.state())
    env = cc.environments.Synthetic(n_users=4, n_clusters=2, n_items=300, n_features=4, seed=1)
    cc.simulate(policy, env, rounds=200, k=4, seed=1)
    env.reset(1)
    for _ in range(200):
        user, items = env.next_user()
        ranking = other.recommend(user, items, 4)
        other.update(user, items[ranking], env.respond(user, ranking))
    assert same(policy.state(), other.state())


def test_without_a_policy_it_is_cohort_cascade():
    env = cc.environments.Synthetic(n_users=4, n_clusters=2, n_items=30, n_features=6, seed=1)
    default = cc.simulate(None, env, rounds=50, k=3, seed=5)
    named = cc.simulate(cc.CohortCascade(n_features=6, seed=5), env, rounds=50, k=3, seed=5)
    assert default.regret.tolist() == named.regret.tolist()


@pytest.mark.parametrize("policy", [object(), "c3_ucb", cc.Random, lambda user: 0])
def test_what_is_no_policy_is_named(policy):
    env = cc.environments.Synthetic(n_users=2, n_clusters=1, n_items=9, n_features=2, seed=0)
    words = r"policy must be None or a policy, .* with recommend, update; got "
    with pytest.raises(cc.errors.InvalidArgument, match=words):
        cc.simulate(policy, env, rounds=3, k=2, seed=1)


@pytest.mark.parametrize("ranking", [[0, 0], [0], [0, 6], [-1, 0]])
def test_a_list_of_other_than_k_distinct_items_is_refused(ranking):
    class Cheats(cc.Random):
        ranks_by_model = False

        def recommend(self, user, items, k):
            return np.array(ranking)

    env = cc.environments.Synthetic(n_users=2, n_clusters=1, n_items=6, n_features=3, seed=1)
    with pytest.raises(cc.errors.InvalidArgument, match="2 distinct rows of the 6 items, got"):
        cc.simulate(Cheats(), env, rounds=5, k=2, seed=1)
