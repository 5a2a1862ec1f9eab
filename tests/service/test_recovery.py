"""Snapshots, the log behind them, and what happens when either is damaged."""

import shutil
import sqlite3
import tempfile
from pathlib import Path

import numpy as np
import pytest

import clubcascade as cc
from clubcascade.errors import ClubCascadeError, InvalidArgument, StoreDamaged
from clubcascade.service.history import opened
from clubcascade.storage import open_store
from tests.service.shops import ITEMS, NAMES, play, replayed, shop


def snapshot_and_tail(folder):
    store, models, notes = opened(folder, repair=False)
    store.close()
    position, digest = models.digest()
    return digest, position, notes


def test_snapshot_and_tail_equal_the_whole_log(tmp_path):
    s = shop(tmp_path, snapshot_every=7)
    s.register_items(NAMES, ITEMS)
    play(s, 40)
    digest = s.digest()
    s.close()
    assert len(list((tmp_path / "snapshots").iterdir())) >= 2
    assert snapshot_and_tail(tmp_path) == (digest, 42, [])
    assert replayed(tmp_path) == digest


def cut(folder, upto):
    """Leave the log as versions that compacted it left it."""
    with sqlite3.connect(folder / "store.db") as raw:
        raw.execute("DELETE FROM log WHERE number <= ?", (upto,))
        raw.execute("UPDATE about SET value='1' WHERE name='format'")
    raw.close()


def test_no_event_leaves_the_log(tmp_path):
    s = shop(tmp_path, snapshot_every=5)
    for _ in range(4):
        play(s, 10)
        s.snapshot()
        s.look_after()
    assert len(s._store.snapshots()) == 2
    assert [position for position, _ in s._store.events(0)] == list(range(1, 42))
    s.close()


def test_a_log_that_an_earlier_version_compacted_goes_on(tmp_path):
    s = shop(tmp_path)
    for _ in range(2):
        play(s, 10)
        s.snapshot()
    done = play(s, 5)
    digest = s.digest()
    s.close()
    cut(tmp_path, 11)
    with shop(tmp_path) as s:
        assert s.digest() == digest and s.notes == []
        for _ in range(3):  # the snapshot before the first event stays: nothing replaces it
            play(s, 3)
            s.snapshot()
            s.look_after()
        assert s._store.snapshots()[-1] == 11 and len(s._store.snapshots()) == 3
        with pytest.raises(InvalidArgument, match="log begins at event 12"):
            s.forget_user("user 1")
        digest = s.digest()
    for path in sorted((tmp_path / "snapshots").iterdir())[1:]:
        path.write_bytes(b"gone")
    found, number, notes = snapshot_and_tail(tmp_path)
    assert (found, number) == (digest, 35)
    assert "cannot be used" in notes[0]
    s = shop(tmp_path)
    assert s.feedback(done[0][0], done[0][1]) == "duplicate"
    assert s.notes and s.digest() == digest
    s.close()


def test_a_store_without_any_good_snapshot_and_a_short_log_is_refused(tmp_path):
    s = shop(tmp_path)
    for _ in range(2):
        play(s, 10)
        s.snapshot()
    s.close()
    cut(tmp_path, 11)
    for path in (tmp_path / "snapshots").iterdir():
        path.write_bytes(b"gone")
    with pytest.raises(StoreDamaged, match="event 1 of the log is missing"):
        shop(tmp_path)


def test_a_damaged_log_is_refused_and_can_be_repaired(tmp_path):
    s = shop(tmp_path)
    done = play(s, 10)
    at_seven = None
    s.close()
    store = open_store(tmp_path)
    store._write.execute("UPDATE log SET payload = zeroblob(50) WHERE number = 8")
    store.close()
    with pytest.raises(StoreDamaged, match="event 8 of the log is damaged; the last is 11"):
        shop(tmp_path)
    s = shop(tmp_path, repair=True)
    assert "goes on from event 7" in s.notes[-1]
    assert s.model().counters["learned"] == 6
    at_seven = s.digest()
    outcomes = [str(s.feedback(*each)) for each in done]  # clients send again what was lost
    assert outcomes == ["duplicate"] * 6 + ["applied"] * 4
    assert s.digest() != at_seven
    s.close()
    assert list(tmp_path.glob("damaged-1/evidence-store.db"))
    s = shop(tmp_path)
    assert s.notes == [] and s.model().counters["learned"] == 10
    s.close()


def test_a_database_that_is_no_database_falls_back_to_the_snapshot(tmp_path):
    s = shop(tmp_path)
    play(s, 10)
    s.snapshot()
    digest = s.digest()
    s.close()
    (tmp_path / "store.db").write_bytes(b"nothing" * 1000)
    with pytest.raises(StoreDamaged):
        shop(tmp_path)
    s = shop(tmp_path, repair=True)
    assert s.digest() == digest and s.notes
    done = play(s, 3)
    s.close()
    s = shop(tmp_path)
    assert s.model().counters["learned"] == 13
    assert s.feedback(*done[0]) == "duplicate"
    s.close()


# -- bits and bytes -------------------------------------------------------------------------------

ONE = 800  # bit flips in the database and its log, each
SEEDS = range(4)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A store as a crash leaves it: a database, a write-ahead log, two snapshots, a mark."""
    live = tmp_path_factory.mktemp("live")
    s = shop(live, policy=cc.C3UCB(n_features=3), n_features=None)
    s.register_items(NAMES, ITEMS)
    done = play(s, 6)
    s.snapshot()
    s._store._write.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    done += play(s, 6)
    s.snapshot()
    done += play(s, 6)
    folder = tmp_path_factory.mktemp("kept") / "store"
    shutil.copytree(live, folder)
    digest = s.digest()
    s.close()
    assert (folder / "store.db-wal").stat().st_size > 0
    assert snapshot_and_tail(shutil.copytree(folder, folder.with_name("copy")))[0] == digest
    return folder, digest, done


@pytest.fixture
def tmp_path(tmp_path):
    """A folder in memory where there is one: thousands of stores are opened."""
    if not Path("/dev/shm").is_dir():
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


def opened_after(kept, tmp_path, name, damage):
    """Damage one file of a copy; return what opening it gives: a digest, or None if refused."""
    folder, _, _ = kept
    copy = tmp_path / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    path = next(copy.rglob(name))
    path.write_bytes(damage(bytearray(path.read_bytes())))
    try:
        return snapshot_and_tail(copy)
    except StoreDamaged as error:
        assert str(error)
    except ClubCascadeError as error:  # a schema that SQLite no longer understands
        assert "could not" in str(error)
    return None


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["store.db", "store.db-wal"])
def test_flipped_bits_of_the_database_never_give_another_model(kept, tmp_path, name, seed):
    rng = np.random.default_rng(seed)
    refused = 0
    size = (kept[0] / name).stat().st_size
    for bit in rng.integers(8 * size, size=ONE // len(SEEDS)).tolist():

        def flip(data, bit=bit):
            data[bit // 8] ^= 1 << bit % 8
            return data

        found = opened_after(kept, tmp_path, name, flip)
        refused += found is None
        assert found is None or found[:2] == (kept[1], 20), f"bit {bit}"
    assert refused or name == "store.db"  # most of its pages are behind the snapshots


@pytest.mark.parametrize("name", ["store.db", "store.db-wal"])
def test_a_cut_database_never_gives_another_model(kept, tmp_path, name):
    size = (kept[0] / name).stat().st_size
    for length in [*range(0, size, 509), size - 1]:
        found = opened_after(kept, tmp_path, name, lambda data, n=length: data[:n])
        assert found is None or found[:2] == (kept[1], 20), f"cut to {length}"


def test_flips_and_cuts_of_a_snapshot_fall_back_and_say_so(kept, tmp_path):
    name = f"{14:020d}.snapshot"
    size = (kept[0] / "snapshots" / name).stat().st_size
    rng = np.random.default_rng(1)
    for bit in rng.integers(8 * size, size=300).tolist():

        def flip(data, bit=bit):
            data[bit // 8] ^= 1 << bit % 8
            return data

        digest, number, notes = opened_after(kept, tmp_path, name, flip)
        assert (digest, number) == (kept[1], 20) and "snapshot 14 cannot be used" in notes[0]
    for length in range(0, size, 97):
        digest, _, notes = opened_after(kept, tmp_path, name, lambda data, n=length: data[:n])
        assert digest == kept[1] and notes


def test_every_flip_of_the_mark_is_harmless(kept, tmp_path):
    for bit in range(96):

        def flip(data, bit=bit):
            data[bit // 8] ^= 1 << bit % 8
            return data

        digest, _, notes = opened_after(kept, tmp_path, "head", flip)
        assert digest == kept[1] and "mark" in notes[0]


def test_no_flip_makes_an_answer_count_twice(kept, tmp_path):
    """Whatever a flip does to the decisions, an answered one is never learned again."""
    rng = np.random.default_rng(9)
    folder, _, done = kept
    size = (folder / "store.db").stat().st_size
    again = 0
    for bit in rng.integers(8 * size, size=150).tolist():
        copy = tmp_path / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(folder, copy)
        data = bytearray((copy / "store.db").read_bytes())
        data[bit // 8] ^= 1 << bit % 8
        (copy / "store.db").write_bytes(data)
        try:
            s = shop(copy, n_features=None)
        except ClubCascadeError:
            continue
        for answer in s.feedback_many(done):
            assert str(answer) != "applied"
            again += str(answer) == "duplicate"
        s.close()
    assert again
