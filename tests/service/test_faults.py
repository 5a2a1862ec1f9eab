"""Disks that are full or fail: nothing is acknowledged, reads go on, each answer counts once."""

import os
import shutil
import threading
import time
from functools import partial

import pytest

from clubcascade import storage
from clubcascade.errors import StoreError, StoreUnavailable
from clubcascade.storage import SqliteStore
from tests.service.shops import ITEMS, play, replayed, shop
from tests.storage.faulty_disk import FULL, SYNC_ERROR, WRITE_ERROR, FaultyDisk


@pytest.fixture
def disk(monkeypatch):
    faulty = FaultyDisk()
    monkeypatch.setattr(storage, "SqliteStore", partial(SqliteStore, vfs=faulty.name))
    return faulty


def fail(disk, code, after=0):
    (disk.fail_syncs if code == SYNC_ERROR else disk.fail_writes)(code, after)


@pytest.mark.parametrize("code", [FULL, WRITE_ERROR, SYNC_ERROR])
def test_nothing_is_acknowledged_and_reads_go_on(disk, tmp_path, code):
    s = shop(tmp_path)
    play(s, 5)
    pending = [s.recommend("alice", 2, ITEMS) for _ in range(4)]
    digest = s.digest()
    fail(disk, code)
    for decision in pending[:3]:
        with pytest.raises(StoreUnavailable, match="could not"):
            s.feedback(decision.id, 0)
    with pytest.raises(StoreUnavailable):
        s.register_items(["a"], ITEMS[:1])
    with pytest.raises(StoreUnavailable):
        s.create_model("other", n_features=2)
    during = s.recommend("bob", 3, ITEMS)  # lists are still made
    assert "could not" in s.problem
    assert s.digest() == digest
    disk.heal()
    first, *rest = [str(s.feedback(d.id, 0)) for d in pending]
    # a write whose sync failed may stand in the log after all, and is then known
    assert first == "applied" or (first == "duplicate" and code == SYNC_ERROR)
    assert rest == ["applied"] * 3
    assert s.feedback(during.id, 1) == "applied"  # made while the disk was full
    assert s.problem is None
    assert s.register_items(["a"], ITEMS[:1]) == 1
    digest = s.digest()
    assert s.model().counters["learned"] == 10
    s.close()
    assert replayed(tmp_path) == digest


@pytest.mark.parametrize("code", [FULL, WRITE_ERROR, SYNC_ERROR])
@pytest.mark.parametrize("after", range(0, 12, 2))
def test_a_disk_that_fails_at_any_moment(disk, tmp_path, code, after):
    """Acknowledged or not, sent again until it is taken: each is learned once."""
    s = shop(tmp_path)
    play(s, 2)
    fail(disk, code, after)
    wanted = []
    for number in range(8):
        decision = s.recommend(f"user {number % 3}", 3, ITEMS)
        wanted.append((decision.id, number % 3))
        try:
            s.feedback(*wanted[-1])
        except StoreError:
            disk.heal()
    disk.heal()
    for decision_id, click in wanted:
        assert s.feedback(decision_id, click) in ("applied", "duplicate")
        assert s.feedback(decision_id, click) == "duplicate"
    assert s.model().counters["learned"] == 10
    digest = s.digest()
    s.close()
    assert replayed(tmp_path) == digest


class Liar(SqliteStore):
    """A store whose commit becomes durable and then reports an error."""

    lies = 0

    def append(self, group):
        done = super().append(group)
        if self.lies and group.events:
            self.lies -= 1
            raise StoreUnavailable("could not write: the connection was lost")
        return done


def test_a_commit_that_became_durable_after_all_is_learned_once(monkeypatch, tmp_path):
    monkeypatch.setattr(storage, "SqliteStore", Liar)
    s = shop(tmp_path)
    first, second = s.recommend("alice", 2, ITEMS), s.recommend("bob", 2, ITEMS)
    s._store.lies = 1
    with pytest.raises(StoreUnavailable, match="connection was lost"):
        s.feedback(first.id, 0)
    assert s.feedback(first.id, 0) == "duplicate"
    assert s.feedback(second.id, 1) == "applied"
    s._store.lies = 1
    with pytest.raises(StoreUnavailable):
        s.register_items(["a"], ITEMS[:1])
    assert s.register_items(["b"], ITEMS[:1]) == 2
    assert s.model().counters["learned"] == 2
    digest = s.digest()
    s.close()
    assert replayed(tmp_path) == digest


def test_decisions_beyond_the_room_are_lost_when_the_disk_stays_full(disk, tmp_path, monkeypatch):
    s = shop(tmp_path)
    size = s.recommend("alice", 2, ITEMS).size
    s.look_after()
    monkeypatch.setattr("clubcascade.service.writer.UNSAVED", int(3.5 * size))
    fail(disk, FULL)
    decisions = []
    for _ in range(6):
        decisions.append(s.recommend("alice", 2, ITEMS))
        with pytest.raises(StoreUnavailable):
            s.feedback("1-0123456789abcdef", 0)
    disk.heal()
    found = [str(s.feedback(d.id, 0)) for d in decisions]
    assert found == ["unknown"] * 3 + ["applied"] * 3
    s.close()


def test_a_snapshot_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    s = shop(tmp_path)
    play(s, 3)
    kept = s.snapshot()
    play(s, 3)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left")))
        with pytest.raises(StoreUnavailable, match="No space left"):
            s.snapshot()
    assert s._store.snapshots() == [kept]
    assert [p.name for p in (tmp_path / "snapshots").iterdir()] == [f"{kept:020d}.snapshot"]
    assert s.feedback(s.recommend("alice", 1, ITEMS).id, 0) == "applied"
    assert s.snapshot() == kept + 4
    s.close()


@pytest.mark.parametrize("after", range(4))
@pytest.mark.parametrize("code", [FULL, WRITE_ERROR])
def test_a_crash_after_a_refused_answer_leaves_a_whole_store(disk, tmp_path, code, after):
    """Nothing says that an event is durable before it is."""
    s = shop(tmp_path / "store")
    play(s, 3)
    fail(disk, code, after)
    sent = []
    for _ in range(6):
        decision = s.recommend("alice", 3, ITEMS)
        try:
            assert s.feedback(decision.id, 1) == "applied"
            sent.append(decision.id)
        except StoreUnavailable:
            break
    else:
        raise AssertionError("nothing was refused")
    shutil.copytree(tmp_path / "store", tmp_path / "crashed")  # as the power cut found it
    disk.heal()
    s.close()
    with shop(tmp_path / "crashed") as again:
        assert not again.notes
        assert {again.feedback(one, 1) for one in sent} <= {"duplicate"}


def test_errors_of_the_system_pass(tmp_path, monkeypatch):
    """A process without a file to spare: chores wait, answers are taken as soon as it has one."""
    s = shop(tmp_path)
    play(s, 3)
    s.snapshot()
    found = []

    def refuse(*_):
        found.append(1)
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.iterdir", refuse)
        for _ in range(3):
            with pytest.raises(StoreUnavailable, match="Too many open files"):
                s.look_after()
    assert len(found) == 3
    assert play(s, 3)
    s.look_after()
    assert s.problem is None and s.failure is None
    digest = s.digest()
    s.close()
    assert replayed(tmp_path) == digest


def test_decisions_outlast_an_error_of_the_system(tmp_path, monkeypatch):
    s = shop(tmp_path)
    decision = s.recommend("alice", 1, ITEMS)
    find_many = s._recent.find_many
    errors = [OSError(24, "Too many open files"), OSError(12, "no memory")]

    def find(numbers):
        if errors:
            raise errors.pop()
        return find_many(numbers)

    monkeypatch.setattr(s._recent, "find_many", find)
    while errors:
        s.recommend("bob", 1, ITEMS)
        with pytest.raises(StoreUnavailable, match="the system refused"):
            s.feedback(decision.id, 0)
    assert s.feedback(decision.id, 0) == "applied"
    assert s.waiting == 2
    s.close()


def test_a_writer_that_meets_a_bug_refuses_everything(tmp_path, monkeypatch):
    s = shop(tmp_path)
    decision = s.recommend("alice", 1, ITEMS)
    monkeypatch.setattr(s._models, "apply", lambda *_: 1 / 0)
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="the writer has stopped: ZeroDivisionError"):
            s.feedback(decision.id, 0)
    with pytest.raises(StoreUnavailable, match="the writer has stopped"):  # it would be forgotten
        s.recommend("alice", 1, ITEMS)
    assert isinstance(s.failure, ZeroDivisionError)
    s.close()
    s = shop(tmp_path)  # it was durable, though never acknowledged
    assert s.feedback(decision.id, 0) == "duplicate"
    s.close()


def test_many_threads_share_commits_and_lose_nothing(tmp_path):
    s = shop(tmp_path)
    decisions = [s.recommend(f"user {n % 7}", 3, ITEMS) for n in range(400)]
    outcomes = []

    def send(part):
        for decision in part:
            outcomes.append(s.feedback(decision.id, 1))
            outcomes.append(s.feedback(decision.id, 1))

    # every decision is sent by two threads, twice each
    threads = [threading.Thread(target=send, args=(decisions[n % 8 :: 8],)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count("applied") == 400 and outcomes.count("duplicate") == 1200
    assert s.model().counters["learned"] == 400
    digest = s.digest()
    s.close()
    assert replayed(tmp_path) == digest


class Gated(SqliteStore):
    """A store whose commits of events wait at a gate."""

    def __init__(self, folder, **options):
        super().__init__(folder, **options)
        self.gate = threading.Event()
        self.gate.set()
        self.arrived = threading.Event()

    def append(self, group):
        if group.events:
            self.arrived.set()
            assert self.gate.wait(30)
        return super().append(group)


def test_who_comes_during_a_commit_shares_the_next(monkeypatch, tmp_path):
    monkeypatch.setattr(storage, "SqliteStore", Gated)
    s = shop(tmp_path)
    decisions = [s.recommend(f"user {n}", 3, ITEMS) for n in range(17)]
    s.digest()
    s._store.gate.clear()
    s._store.arrived.clear()
    before = s.commits
    threads = [threading.Thread(target=s.feedback, args=(d.id, 1)) for d in decisions]
    threads[0].start()
    assert s._store.arrived.wait(60)
    for thread in threads[1:]:
        thread.start()
    until = time.monotonic() + 60
    while s.backlog < 16:
        assert time.monotonic() < until
        time.sleep(0.01)
    s._store.gate.set()
    for thread in threads:
        thread.join()
    assert s.commits - before == 2
    assert s.model().counters["learned"] == 17
    s.close()


def test_nothing_is_learned_or_acknowledged_before_it_is_durable(monkeypatch, tmp_path):
    monkeypatch.setattr(storage, "SqliteStore", Gated)
    s = shop(tmp_path)
    decision = s.recommend("alice", 2, ITEMS)
    s._store.gate.clear()
    s._store.arrived.clear()
    outcomes = []
    thread = threading.Thread(target=lambda: outcomes.append(s.feedback(decision.id, 0)))
    thread.start()
    assert s._store.arrived.wait(30)
    assert outcomes == [] and s.model().counters["learned"] == 0
    assert s.recommend("bob", 2, ITEMS).items  # lists do not wait for the disk
    s._store.gate.set()
    thread.join(30)
    assert outcomes == ["applied"] and s.model().counters["learned"] == 1
    s.close()
