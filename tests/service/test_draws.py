"""Policies that draw: what one run of a store draws, no other run draws; digests know no draws."""

import shutil
import sqlite3

import numpy as np
import pytest

import clubcascade as cc
from clubcascade.errors import StoreDamaged
from clubcascade.service.model import DRAWS_OF_A_SERVER
from clubcascade.storage import open_store
from clubcascade.storage.base import SERVERS
from clubcascade.storage.sqlite import write_count
from tests.service.shops import ITEMS, D, play, replayed, shop

DRAWING = [
    cc.CohortCascade(n_features=D),
    cc.CascadeLinTS(n_features=D),
    cc.Random(),
    cc.ClubCascade2017(n_features=D),
]


def place(s, model="default"):
    """The place of the next draw."""
    return int(np.ravel(s.model(model).policy.state()["draws"])[0])


def lists(s, count=40):
    return [s.recommend("alice", 3, ITEMS).items for _ in range(count)]


@pytest.mark.parametrize("policy", DRAWING, ids=lambda policy: type(policy).__name__)
@pytest.mark.parametrize("snapshot", [False, True])
def test_no_draw_is_made_again_after_a_crash(tmp_path, policy, snapshot):
    seen, ranges, digests = [], [], []
    for run in range(4):
        home, left = tmp_path / str(run), tmp_path / str(run + 1)
        with shop(home, policy=policy.fresh() if run == 0 else None, n_features=None) as s:
            digests.append(s.digest())
            first = place(s)
            seen.append(lists(s))
            ranges.append(range(first, place(s)))
            if snapshot:
                play(s, 1)
                s.snapshot()
                lists(s, 5)
                ranges.append(range(ranges[-1].stop, place(s)))
            shutil.copytree(home, left)  # what a crash leaves
            (left / "lock").unlink(missing_ok=True)
            digests.append(s.digest())
    assert len({str(each) for each in seen}) == len(seen)
    assert all(len(each) > 0 for each in ranges)
    ranges.sort(key=lambda each: each.start)
    assert all(a.stop <= b.start for a, b in zip(ranges, ranges[1:], strict=False))
    assert digests[1:-1:2] == digests[2::2]  # a restart is the same model to the bit
    assert replayed(left) == digests[-1]


def test_the_first_run_draws_what_the_policy_would(tmp_path):
    policy = cc.CohortCascade(n_features=D, seed=5)
    lists_of_policy = [tuple(policy.recommend("alice", ITEMS, 3)) for _ in range(40)]
    with shop(tmp_path, policy=policy.fresh(), n_features=None) as s:
        assert lists(s) == lists_of_policy
        s.create_model("news", policy)  # one that has drawn before goes on from there
        assert place(s, "news") == 40


def test_models_made_later_draw_anew_in_every_run_too(tmp_path):
    shop(tmp_path).close()
    with shop(tmp_path) as s:
        s.create_model("news", "cohort_cascade", n_features=D)
        assert place(s, "news") == DRAWS_OF_A_SERVER == place(s)
    with shop(tmp_path) as s:
        assert place(s, "news") == 2 * DRAWS_OF_A_SERVER


def test_snapshots_know_no_draws(tmp_path):
    with shop(tmp_path) as s:
        play(s, 3)
        before = b"".join(s._models.freeze().chunks())
        lists(s)
        assert b"".join(s._models.freeze().chunks()) == before


@pytest.mark.parametrize("value", ["", "7", "x 1", "2 123", "-1 0"])
def test_a_damaged_count_is_noticed_and_mended(tmp_path, value):
    with shop(tmp_path) as s:
        play(s, 3)
        digest = s.digest()
    with sqlite3.connect(tmp_path / "store.db") as raw:
        raw.execute("UPDATE about SET value=? WHERE name='starts'", (value,))
    raw.close()
    with pytest.raises(StoreDamaged, match="openings"):
        shop(tmp_path)
    with shop(tmp_path, repair=True) as s:
        assert s.digest() == digest
        assert s.server > SERVERS // 2


def test_mending_keeps_the_count(tmp_path):
    for _ in range(3):
        with shop(tmp_path) as s:
            play(s, 3)
    with sqlite3.connect(tmp_path / "store.db") as raw:
        raw.execute("UPDATE log SET sum=0 WHERE number=7")
    raw.close()
    with shop(tmp_path, repair=True) as s:
        assert s.server == 5  # the fourth opening found the damage


def test_counts_go_round_before_they_are_too_large(tmp_path):
    store = open_store(tmp_path)
    assert store.server == 1
    store.close()
    with sqlite3.connect(tmp_path / "store.db") as raw:
        last = write_count(SERVERS - 1)
        raw.execute("UPDATE about SET value=? WHERE name='starts'", (last,))
    raw.close()
    store = open_store(tmp_path)
    assert store.server == 1
    store.close()
