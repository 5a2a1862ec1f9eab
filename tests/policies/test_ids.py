"""Ids of users and items: what a file can keep works and comes back; all else is refused."""

import enum
import threading
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from types import MappingProxyType
from uuid import UUID

import numpy as np
import pandas as pd
import pytest

import clubcascade as cc
from clubcascade.checks._rounds import same
from clubcascade.errors import InvalidArgument
from clubcascade.policies import POLICIES

ITEMS = cc.Catalog(np.eye(3))


class Level(enum.Enum):
    LOW = 1


class Rank(enum.IntEnum):
    LOW = 1


@dataclass(frozen=True)
class Name:
    text: str


def deep(levels):
    value = 0
    for _ in range(levels):
        value = (value,)
    return value


GOOD = [
    "alice",
    "",
    "a\0b",
    "\ud800",
    "\ud83d\ude00",  # two lone surrogates, not the one letter that JSON makes of them
    "\U0001f600",
    "x" * 100_000,
    7,
    -(2**70),
    -(2**4095),
    True,
    1.5,
    -0.0,
    float("inf"),
    None,
    b"raw",
    b"",
    UUID(int=5),
    date(2024, 2, 29),
    datetime(2024, 2, 29, 12, 30, 1, 5),
    datetime(2024, 2, 29, 12, 30, tzinfo=UTC),
    datetime(2024, 2, 29, 12, 30, tzinfo=timezone(timedelta(hours=5, minutes=45))),
    ("de", (3, UUID(int=5)), date(2024, 1, 1)),
    (),
    frozenset(),
    frozenset({"a", frozenset({1, (b"x", None)})}),
    range(2, 8, 3),
    deep(32),
    np.int64(3),
    np.uint8(200),
    np.str_("name"),
    np.bytes_(b"name"),
    np.bool_(False),
    np.float32(0.1),
    np.float64(0.1),
    Rank.LOW,
    pd.Timestamp(2024, 1, 2),
]
BAD = [
    float("nan"),
    np.nan,
    np.float32("nan"),
    Decimal("nan"),
    Decimal("snan"),
    Decimal("1.5"),
    ("de", float("nan")),
    frozenset({float("nan")}),
    object(),
    Level.LOW,
    Name("alice"),
    ("de", Name("alice")),
    1j,
    time(12),
    timedelta(1),
    np.datetime64("2024-01-01"),
    pd.NaT,
    pd.NA,
    pd.Timestamp("2024-01-01T00:00:00.000000001"),
    len,
    int,
    threading.Lock(),
    [],
    {},
    {1},
    ("de", []),
    np.zeros(2),
    deep(33),
    10**5000,
    (1, -(10**5000)),
    deep(5000),
]


def names(values):
    """The same in every process: how a set is shown depends on its hashes."""
    return [f"{place} {type(value).__name__}" for place, value in enumerate(values)]


@pytest.mark.parametrize("user", GOOD, ids=names(GOOD))
def test_what_a_file_keeps_comes_back(user, tmp_path):
    for policy in (
        cc.CascadeLinUCB(n_features=3),
        cc.ClubCascade(n_features=3, users=[user]),
        cc.KnownClusters(n_features=3, partition={user: user}),
        cc.CascadeUCB1(),
    ):
        policy.update(user, cc.Catalog(np.eye(3), ids=[user, "b", "c"])[[1, 0]], 1)
        policy.save(tmp_path / "model")
        kept = cc.load(tmp_path / "model")
        assert kept.users == [user]
        assert hash(kept.users[0]) == hash(user)
        assert same(kept.state(), policy.state())
        kept.update(user, cc.Catalog(np.eye(3), ids=[user, "b", "c"])[[1, 0]], 1)
        assert len(kept.users) == 1


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_what_no_file_keeps_is_refused_at_once(name):
    policy = next(iter(POLICIES[name].examples()))
    policy.update(0, ITEMS[[0, 1]], 1)
    before = policy.state()
    many = ITEMS[[[0, 1], [1, 0]]]
    for user in BAD:
        with pytest.raises(InvalidArgument, match="^user must be"):
            policy.recommend(user, ITEMS, 1)
        with pytest.raises(InvalidArgument, match="^user must be"):
            policy.update(user, ITEMS[[0, 1]], 1)
        if hasattr(policy, "recommend_many"):  # not of a policy around another one
            with pytest.raises(InvalidArgument, match="^users must be"):
                policy.recommend_many([0, user], ITEMS, 1)
            with pytest.raises(InvalidArgument, match="^users must be"):
                policy.update_many([0, user], many, [1, 1])
        assert same(policy.state(), before)


@pytest.mark.parametrize("user", BAD, ids=names(BAD))
def test_what_no_file_keeps_is_no_argument(user):
    for policy in (cc.ClubCascade, cc.ClubCascadeGLM, cc.CohortCascade):
        with pytest.raises(InvalidArgument, match="^users must be"):
            policy(n_features=3, users=[0, user])
    for policy in (cc.KnownClusters, cc.KnownClustersGLM):
        with pytest.raises(InvalidArgument, match="^partition must"):
            policy(n_features=3, partition=[[0, user], [1]])
        with pytest.raises(InvalidArgument, match="^partition must"):
            policy(n_features=3, partition={0: user})
    with pytest.raises(InvalidArgument, match="^ids must be"):
        cc.Catalog(np.eye(2), ids=[0, user])
    with pytest.raises(InvalidArgument, match="^ids must be"):
        ITEMS.add(np.eye(3)[:1], ids=[user])
    with pytest.raises(InvalidArgument, match="id"):
        ITEMS.index(user)
    policy = cc.UserSelection(cc.ClubCascade(n_features=3), rounds=1)
    with pytest.raises(InvalidArgument, match="^candidates must be"):
        policy.choose_user([0, user])


def test_ids_are_compared_as_keys_are():
    policy = cc.CascadeLinUCB(n_features=3)
    for user in (1, True, 1.0, np.int64(1), np.float32(1), Rank.LOW):
        policy.update(user, ITEMS[[0, 1]], 1)
    for user in (0.0, -0.0, 0, False, np.bool_(False)):
        policy.update(user, ITEMS[[0, 1]], 1)
    for user in ("1", b"1"):
        policy.update(user, ITEMS[[0, 1]], 1)
    assert policy.users == [1, 0, "1", b"1"]


def test_long_values_are_cut_in_messages():
    with pytest.raises(InvalidArgument) as caught:
        cc.CascadeLinUCB(n_features=3).recommend(("x" * 10_000, object()), ITEMS, 1)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "partition",
    [
        MappingProxyType({"a": 0, "b": 1}),
        {"a": 0, "b": 1}.keys(),
        pd.Series([0, 1, 0]),
        [pd.Index(["a", "b"]), {"c": 1}.keys()],
        lambda: (iter(part) for part in (["a", "b"], ["c"])),
    ],
    ids=["proxy", "keys", "series", "parts", "iterators"],
)
@pytest.mark.parametrize("kind", [cc.KnownClusters, cc.KnownClustersGLM])
def test_any_partition_that_is_accepted_is_saved(kind, partition, tmp_path):
    policy = kind(n_features=3, partition=partition() if callable(partition) else partition)
    policy.save(tmp_path / "model")
    assert cc.load(tmp_path / "model").users == policy.users
