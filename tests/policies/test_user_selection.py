"""Choosing whom to serve: whom least is known of, against a search of the users."""

from __future__ import annotations

import math

import pytest
from hypothesis import given

import clubcascade as cc
from tests.policies.test_club_cascade import PARAMETERS, Twin
from tests.reference.problems import examples, partition, play, problems


def test_asking_names_whom_least_is_known_of():
    """Fewest samples first, strangers before all, and users without neighbours last."""
    policy = cc.UserSelection(
        cc.ClubCascade(n_features=1, users="abcd", alpha=0.2, reg=0.1), rounds=0
    )
    for user, click in [("a", 0), ("a", 0), ("b", None), ("d", None), ("d", None), ("d", None)]:
        policy.update(user, [[1.0]], click)
    assert partition(policy.clusters()) == {frozenset("a"), frozenset("bcd")}
    assert policy.choose_user("abcd") == "c"
    assert policy.choose_user("abd") == "b"
    assert policy.choose_user("ad") == "d"
    assert policy.choose_user("a") == "a"
    assert policy.choose_user(["c", "new", "newer"]) == "c"
    assert policy.choose_user(["d", "new", "newer"]) == "new"
    assert policy.choose_user({"c"}) == policy.choose_user(iter("abcd")) == "c"
    for wrong in ([], None, 5):
        with pytest.raises(cc.errors.InvalidArgument, match="candidates"):
            policy.choose_user(wrong)
    with pytest.raises(cc.errors.InvalidArgument, match="hashable"):
        policy.choose_user([[]])


@pytest.mark.parametrize("candidates", ["xlyz", "zylx", "lx", "xl", "yxlz"])
def test_asking_never_prefers_a_user_without_neighbours(candidates):
    """Not even one of whom nothing is known, beside the one of whom most is known."""
    policy = cc.UserSelection(
        cc.ClubCascade(n_features=1, users="xyzlm", alpha=math.inf, reg=0.1), rounds=0
    )
    for lonely in "xyz":
        number = policy.number(lonely)
        graph = policy.base._learner.graph
        graph.cut(number, graph.neighbours(number))
    for _ in range(3):
        policy.update("l", [[1.0]], None)
    assert policy.choose_user(candidates) == "l"
    without = [user for user in candidates if user != "l"]
    assert policy.choose_user(without) == without[0]  # a tie: the earlier candidate
    policy.update(without[0], [[1.0]], None)
    assert policy.choose_user(without) == (without[1:] or without)[0]


@pytest.mark.parametrize("candidates", ["bcd", "dcb", "cdb"])
def test_asking_takes_the_earlier_of_two_candidates_of_whom_equally_much_is_known(candidates):
    policy = cc.UserSelection(cc.ClubCascade(n_features=1, users="abcde", alpha=math.inf), rounds=0)
    assert policy.choose_user(candidates) == candidates[0]  # nothing is known of anybody
    for user in "dcbcdb":
        policy.update(user, [[1.0]], None)
    assert policy.choose_user(candidates) == candidates[0]
    assert policy.choose_user([*candidates, "new", "newer"]) == "new"
    assert policy.choose_user([*candidates, "newer", "e", "new"]) == "newer"


@examples(60)
@given(problems(), PARAMETERS)
def test_asking_agrees_with_a_search_of_the_users(problem, parameters):
    twin = Twin(problem, **parameters)
    reference, policy = twin.reference, cc.UserSelection(twin.policy, rounds=0)

    def literal(candidates):
        def key(user):
            linked = user not in reference.S or any(user in edge for edge in reference.E)
            return (not linked, reference.T.get(user, 0), candidates.index(user))

        return min(candidates, key=key)

    def after(step):
        if twin.after(step) is False:
            return False
        users = problem.users
        assert policy.choose_user(users) == literal(users)
        assert policy.choose_user(users[::-1]) == literal(users[::-1])
        return True

    play(problem, twin.policy, twin.bounds, twin.update, after)


def test_it_asks_for_so_many_updates_and_goes_on_where_it_was_saved(tmp_path):
    policy = cc.UserSelection(cc.ClubCascade(n_features=1, users="ab"), rounds=3)
    for _ in range(2):
        policy.update("a", [[1.0]], 0)
    policy.save(tmp_path / "model.cc")
    loaded = cc.load(tmp_path / "model.cc")
    for one in (policy, loaded):
        assert one.asks and one.choose_user("ab") == "b"
        one.update("b", [[1.0]], 0)
        assert not one.asks


@pytest.mark.parametrize("rounds", [-1, 1.5, "many"])
def test_bad_rounds(rounds):
    with pytest.raises(cc.errors.InvalidArgument, match="rounds must be a whole number >= 0"):
        cc.UserSelection(cc.ClubCascade(n_features=1), rounds=rounds)
