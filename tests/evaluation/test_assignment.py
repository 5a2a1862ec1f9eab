"""Users are assigned by a salted hash, in shares, and stay."""

import uuid

import pytest

from clubcascade.errors import InvalidArgument
from clubcascade.evaluation import assign


def count(shares, salt="s", n=4000):
    arms = [assign(user, shares, salt) for user in range(n)]
    return {name: arms.count(name) / n for name in shares}


def test_shares_are_kept_and_relative():
    for shares in ({"a": 0.9, "b": 0.1}, {"a": 9, "b": 1}):
        assert count(shares)["b"] == pytest.approx(0.1, abs=0.02)
    assert count({"a": 0, "b": 1, "c": 0})["b"] == 1.0


def test_salts_are_independent():
    half = {"a": 1, "b": 1}
    both = [assign(u, half, "x") == assign(u, half, "y") for u in range(4000)]
    assert sum(both) / 4000 == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize("n", range(20))
def test_equal_ids_have_one_arm(n):
    for first, second in [(n, float(n)), ((n, "x"), (float(n), "x")), (n % 2, bool(n % 2))]:
        assert first == second
        assert assign(first, {"a": 1, "b": 1}, "s") == assign(second, {"a": 1, "b": 1}, "s")


def test_all_kinds_of_ids():
    for user in (None, b"x", "\ud800", 10**30, 0.5, uuid.UUID(int=3), frozenset({1, 2})):
        assert assign(user, {"a": 1}, "s") == "a"


@pytest.mark.parametrize(
    ("shares", "said"),
    [({}, "at least one arm"), ({"a": 0}, "sum above 0"), ({"a": -1}, r"shares\['a'\] must be")],
)
def test_wrong_shares_are_named(shares, said):
    with pytest.raises(InvalidArgument, match=said):
        assign("alice", shares, "s")


def test_shares_of_any_size_assign_everybody():
    for shares in ({"a": 5e-324, "b": 5e-324}, {"a": 1e100, "b": 1e100}, {"a": 1e-300, "b": 1e90}):
        arms = {assign(user, shares, salt="s") for user in range(500)}
        assert arms <= {"a", "b"}
    with pytest.raises(InvalidArgument, match="shares"):
        assign(1, {"a": 1e308, "b": 1e308}, salt="s")
