"""A model file of every format is kept in ``model_formats/`` and can be reopened.

A new format gets files of its own: ``python -m tests.test_model_formats``.
"""

import json
from datetime import UTC, date, datetime
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest

import clubcascade as cc
from clubcascade import model_file
from clubcascade.checks._rounds import catalog_for, run_rounds, same

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
    yield cc.CohortCascade(n_features=3, memory=0), USERS[number], items
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
        kept, read = cc.load(path), model_file.read(path)[2]
        added = kept.state().keys() - read.keys()
        assert kept.state().keys() == learned(policy, users, items).state().keys()
        assert same({name: kept.state()[name] for name in read}, read)
        cohorts = isinstance(kept, cc.CohortCascade)
        assert added == ({"mixture_error", "calibration"} if cohorts else set())
        assert kept.params == policy.params
        assert set(kept.users) == set(policy.users)
        assert sorted(map(repr, kept.users)) == sorted(map(repr, policy.users))
        kept.update(users[0], items[[0, 1, 2]], 1)
        assert kept.recommend(users[0], items, 2).tolist() != []


EARLIER = json.loads((HOME / "earlier" / "facts.json").read_text())
KINDS = {
    "code2017": "ClubCascade2017",
    "code2017-alpha": "ClubCascade2017",
    "spanner": "SpannerExploration",
    "schedule": "AlphaSchedule",
    "ask": "UserSelection",
    "all": "AlphaSchedule",
}


@pytest.mark.parametrize("name", EARLIER)
def test_parameters_that_have_moved_since(name):
    """Models saved by a version whose ClubCascade had twenty parameters go on as they did."""
    facts, policy = EARLIER[name], cc.load(HOME / "earlier" / f"{name}.cc")
    assert type(policy).__name__ == KINDS.get(name, type(policy).__name__)
    catalog = catalog_for(policy)
    asks = [getattr(policy, "asks", False)]
    lists = [event.ranking.tolist() for event in run_rounds(policy, catalog, 20)]
    assert lists == facts["lists"]
    assert [*asks, getattr(policy, "asks", False)] == facts["asks"]
    assert [sorted(part) for part in policy.clusters()] == facts["clusters"]
    inside = getattr(policy, "base", policy)
    for constant in ("alpha", "beta", "edge_probability"):
        found = getattr(inside, constant, None)
        assert found == (facts[constant] and pytest.approx(facts[constant], rel=1e-12))


@pytest.mark.parametrize("name", ["all", "theorem", "glm-theorem"])
def test_an_earlier_model_is_saved_as_one_of_today(name, tmp_path):
    policy = cc.load(HOME / "earlier" / f"{name}.cc")
    policy.save(tmp_path / "model.cc")
    again = cc.load(tmp_path / "model.cc")
    assert same(again.state(), policy.state()) and same(again.params, policy.params)
    assert not model_file.read(tmp_path / "model.cc")[1].keys() & {"horizon", "variant", "ask"}


if __name__ == "__main__":
    HOME.mkdir(exist_ok=True)
    for policy, users, items in made(model_file.FORMAT):
        path = HOME / f"{model_file.FORMAT}-{policy.registry_name()}.cc"
        learned(policy, users, items).save(path)
