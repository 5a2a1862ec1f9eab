"""A wrapper around any policy: what is passed on, saved, simulated and served; what is refused."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import clubcascade as cc
from clubcascade.checks import check_policy
from clubcascade.checks._rounds import same, trained
from clubcascade.core import array_of
from clubcascade.errors import InvalidArgument
from clubcascade.policies import POLICIES
from clubcascade.policies._wrapper import Wrapper
from tests.outside import GREEDY


class Plain(Wrapper):
    """Changes nothing."""

    def __init__(self, policy):
        super().__init__(policy)

    @classmethod
    def examples(cls):
        yield cls(cc.C3UCB(n_features=3))


class LastClick(Wrapper):
    """Learns something itself: the click of the last update."""

    def __init__(self, policy):
        super().__init__(policy)
        self.seen = np.zeros(2)

    def _updated(self):
        self.seen = self.seen + [1.0, 0.5]

    def _own_state(self):
        return super()._own_state() | {"seen": self.seen.copy()}

    def _read_own(self, own):
        return super()._read_own(own) | {"seen": array_of(own, "seen", (2,)).copy()}

    @classmethod
    def examples(cls):
        yield cls(cc.C3UCB(n_features=3))


def outside():
    scope = {"__name__": "notebook"}
    exec(GREEDY, scope)
    return scope["GreedyRidge"]


Greedy = outside()


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    """Let files name the policies above, for one test."""
    monkeypatch.setattr(POLICIES, "_known", dict(POLICIES._known))
    for kind in (Plain, LastClick, Greedy):
        cc.register(kind)


@pytest.mark.parametrize(
    "inner",
    [
        lambda: cc.C3UCB(n_features=3),
        lambda: cc.CohortCascade(n_features=3, seed=3),
        lambda: cc.CascadeUCB1(),
        lambda: cc.Random(n_features=3, seed=2),
        lambda: cc.ClubCascade2017(n_features=3, alpha=0.2),
        lambda: Greedy(n_features=3),
        lambda: Plain(cc.KnownClusters(n_features=3, partition=np.arange(12) % 2)),
        lambda: cc.AlphaSchedule(cc.ClubCascade(n_features=3, alpha=0.5), steps=[(9, 0.3)]),
    ],
)
@pytest.mark.parametrize("kind", [Plain, LastClick])
def test_any_policy_can_be_wrapped(kind, inner):
    """All that policies promise holds, and the lists are those of the policy inside."""
    check_policy(kind(inner()))
    wrapped, alone = kind(inner()), inner()
    lists = [[event.ranking.tolist() for event in trained(each)[1]] for each in (wrapped, alone)]
    assert lists[0] == lists[1]
    assert same(wrapped.policy.state(), alone.state())


def test_what_is_told_is_that_of_the_policy_inside():
    club = cc.ClubCascade(n_features=2, users="ab", alpha=0.3)
    policy = cc.AlphaSchedule(cc.SpannerExploration(club), steps=[])
    policy.update("a", np.eye(2), 0)
    assert policy.base is club and policy.n_features == 2
    assert policy.users == ["a", "b"] and policy.clusters() == club.clusters()
    assert np.array_equal(policy.scores("a", np.eye(2)), club.scores("a", np.eye(2)))
    assert policy.statistics("a")[2] == 1 and policy.graph.edges() == club.graph.edges()
    for name in ("recommend_many", "update_many", "recommend_scored", "learn_many", "nonsense"):
        assert not hasattr(policy, name)  # these would pass the wrapper by
    assert not hasattr(Plain(cc.Random()), "scores")


def test_parameters_name_the_policy_inside():
    policy = cc.SpannerExploration(cc.ClubCascade(n_features=2, alpha=0.7), share=0.5)
    inside = policy.params["policy"]
    assert inside["name"] == "club_cascade" and inside["alpha"] == 0.7
    again = cc.SpannerExploration(inside, share=0.5)
    assert again.params == policy.params and again.policy is not policy.policy
    assert policy.set_params(policy={"name": "club_cascade", "n_features": 4}).n_features == 4


@pytest.mark.parametrize(
    ("inner", "words"),
    [
        (5, "policy must be a policy, or a table of its name and parameters, got 5"),
        ({"alpha": 2.0}, "policy must be a policy, or a table of its name"),
        ({"name": 5}, "policy must be the name of one, got 5"),
        ({"name": "club_cascade", "horizon": 5}, "horizon is no parameter of ClubCascade any more"),
        (
            {"name": "club_cascade", "n_feature": 5},
            "policy must have the parameters of ClubCascade",
        ),
        (cc.C3UCB(n_features=2), "policy must be a ClubCascade or another policy over a graph"),
    ],
)
def test_what_cannot_be_wrapped(inner, words):
    with pytest.raises(cc.errors.InvalidArgument, match=words):
        cc.AlphaSchedule(inner)
    with pytest.raises(cc.errors.UnknownName, match="unknown policy 'nobody'"):
        cc.AlphaSchedule({"name": "nobody"})


def test_a_rejected_update_is_not_counted():
    policy = cc.UserSelection(cc.ClubCascade(n_features=2), rounds=1)
    with pytest.raises(cc.errors.InvalidArgument):
        policy.update("a", np.eye(2), 7)
    assert policy.asks


def test_updates_of_many_threads_are_counted():
    policy = cc.AlphaSchedule(cc.ClubCascade(n_features=2, alpha=2.0), steps=[(400, 1.0)])

    def work():
        for _ in range(100):
            policy.update("a", np.eye(2), 0)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert policy.alpha == 1.0 and policy.statistics("a")[2] == 400


def test_a_service_serves_it(tmp_path):
    policy = cc.SpannerExploration(cc.ClubCascade(n_features=2, users="ab"), share=0.5)
    with cc.Recommender(tmp_path, policy=policy) as service:
        service.register_items(["tea", "milk"], np.eye(2))
        for _ in range(5):
            shown = service.recommend("a", 1)
            service.feedback(shown.id, 0)
        digest, lists = service.digest(), service.recommend("a", 2).items
    with cc.Recommender(tmp_path, policy=policy.fresh()) as service:
        assert service.digest() == digest and service.recommend("a", 2).items == lists


def test_no_policy_is_inside_itself():
    policy = cc.AlphaSchedule(cc.ClubCascade(n_features=2))
    with pytest.raises(InvalidArgument, match="params must not hold the policy itself"):
        policy.set_params(policy=policy)
    assert policy.recommend("alice", np.eye(2), k=1).shape == (1,)
