"""A model file of every format is kept in ``model_formats/`` and can be reopened.

A new format gets files of its own: ``python -m tests.test_model_formats``.
"""

from datetime import UTC, date, datetime
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest

import clubcascade as cc
from clubcascade import model_file
from clubcascade.checks._rounds import same

HOME = Path(__file__).parent / "model_formats"
FIRST = ["alice", 7, -(2**70), ("de", (3, b"raw")), None, 0.5, True, "\ud800 \0"]
USERS = {
    1: FIRST,
    2: [UUID(int=7), date(2024, 2, 29), datetime(2024, 2, 29, 12, 30, 1, 5), *FIRST]
    + [datetime(2024, 2, 29, 12, 30, tzinfo=UTC), frozenset({"a", (frozenset({1}), 2)})],
}
PARTITIONS = {
    1: [{"alice", 7}, {("de", 3)}, range(20, 23)],
    2: [{"alice", UUID(int=7)}, {frozenset({"de", 3})}, range(20, 23)],
}


def made(number):
    """Yield small policies that have learned a little, with the ids of a format."""
    items = cc.Catalog(np.eye(3), ids=USERS[number][:3])
    partition = PARTITIONS[number]
    yield cc.ClubCascade(n_features=3, users=USERS[number], alpha=0.4), USERS[number], items
    yield cc.CohortCascade(n_features=3), USERS[number], items
    members = [user for part in partition for user in part]
    yield cc.KnownClusters(n_features=3, partition=partition), members, items
    yield cc.CascadeUCB1(), USERS[number], items


def learned(policy, users, items):
    for place, user in enumerate(users):
        policy.update(user, items[[0, 1, 2]], place % 3)
    return policy


@pytest.mark.parametrize("number", range(1, model_file.FORMAT + 1))
def test_reopen(number):
    for policy, users, items in made(number):
        path = HOME / f"{number}-{policy.registry_name()}.cc"
        assert model_file.read(path)[2].keys() == learned(policy, users, items).state().keys()
        kept = cc.load(path)
        assert same(kept.state(), model_file.read(path)[2])
        assert kept.params == policy.params
        assert set(kept.users) == set(policy.users)
        assert sorted(map(repr, kept.users)) == sorted(map(repr, policy.users))
        kept.update(users[0], items[[0, 1, 2]], 1)
        assert kept.recommend(users[0], items, 2).tolist() != []


if __name__ == "__main__":
    HOME.mkdir(exist_ok=True)
    for policy, users, items in made(model_file.FORMAT):
        path = HOME / f"{model_file.FORMAT}-{policy.registry_name()}.cc"
        learned(policy, users, items).save(path)
