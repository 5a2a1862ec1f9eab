"""The recommender on PostgreSQL: restarts, lost connections, and a writer that was paused."""

import os
import signal
import subprocess
import sys
import time

import psycopg
import pytest

from clubcascade.errors import StoreFenced, StoreLocked, StoreUnavailable
from clubcascade.storage.postgres_session import Session
from tests.docs.pages import ROOT
from tests.service.shops import ITEMS, NAMES, play, replayed, shop


def test_a_restart_is_the_same_model_to_the_bit(database):
    s = shop(database, snapshot_every=10)
    s.register_items(NAMES, ITEMS)
    done = play(s, 25)
    asked = s.recommend("alice", 2, request_id="r1")
    digest = s.digest()
    s.close()
    assert replayed(database) == digest
    s = shop(database)
    assert s.digest() == digest
    assert s._store.snapshots()
    assert s.feedback(*done[3]) == "duplicate"
    assert s.recommend("alice", 2, request_id="r1") == asked
    assert s.feedback(asked.id, 0) == "applied"
    s.close()


def test_a_lost_connection_is_made_anew(database):
    s = shop(database)
    decision = s.recommend("alice", 2, ITEMS)
    s.digest()
    with psycopg.connect(database, autocommit=True) as other:  # ends ours, as a restart would
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        others = (
            "SELECT count(*) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        until = time.monotonic() + 60
        while other.execute(others).fetchone()[0]:
            assert time.monotonic() < until
            time.sleep(0.02)
    outcomes = []
    for _ in range(3):
        try:
            outcomes.append(str(s.feedback(decision.id, 0)))
        except StoreUnavailable as error:
            outcomes.append("unavailable")
            assert "could not" in str(error)
    assert outcomes[-1] in ("applied", "duplicate")
    assert outcomes.count("applied") == 1
    s.close()


def test_a_server_that_stops_and_comes_back(cluster, database):
    s = shop(database)
    decision = s.recommend("alice", 2, ITEMS)
    s.digest()
    cluster.stop()
    try:
        with pytest.raises(StoreUnavailable):
            s.feedback(decision.id, 0)
        assert s.recommend("bob", 2, ITEMS).items
    finally:
        cluster.start()
    assert s.feedback(decision.id, 0) == "applied"
    assert s.model().counters["learned"] == 1
    s.close()


def test_a_writer_whose_store_was_taken_over_can_write_nothing(database, monkeypatch):
    """The epoch alone fences: the old session is left alive here."""
    monkeypatch.setattr(Session, "_end_old_writers", lambda *_: None)
    old = shop(database)
    decisions = [old.recommend("alice", 2, ITEMS) for _ in range(3)]
    assert old.feedback(decisions[0].id, 0) == "applied"
    with pytest.raises(StoreLocked, match="takeover=True"):
        shop(database)
    new = shop(database, takeover=True)
    assert "taken over from process" in new.notes[0]
    digest = new.digest()
    for decision in decisions[1:]:
        with pytest.raises((StoreFenced, StoreUnavailable), match="taken the store over"):
            old.feedback(decision.id, 0)
    with pytest.raises((StoreFenced, StoreUnavailable), match="taken the store over"):
        old.register_items(["a"], ITEMS[:1])
    with pytest.raises(StoreFenced):
        old.snapshot()
    old.recommend("alice", 2, ITEMS)
    assert new.digest() == digest
    assert new.feedback(decisions[0].id, 0) == "duplicate"
    assert new.feedback(decisions[1].id, 0) == "applied"
    old.close()
    assert new.feedback(decisions[2].id, 1) == "applied"
    assert new.model().counters["learned"] == 3
    digest = new.digest()
    new.close()
    assert replayed(database) == digest


CHILD = """
import sys
from tests.service.shops import ITEMS, shop
s = shop(sys.argv[1])
decisions = [s.recommend("alice", 2, ITEMS) for _ in range(3)]
s.feedback(decisions[0].id, 0)
print(*(d.id for d in decisions), flush=True)
sys.stdin.readline()
for decision in decisions[1:]:
    try:
        print(s.feedback(decision.id, 1), flush=True)
    except Exception as error:
        print(type(error).__name__, flush=True)
s.close()
"""


def test_a_stopped_writer_that_wakes_up_is_fenced(database):
    """SIGSTOP, takeover by another process, SIGCONT."""
    old = subprocess.Popen(
        [sys.executable, "-c", CHILD, database],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        ids = old.stdout.readline().split()
        assert len(ids) == 3
        os.kill(old.pid, signal.SIGSTOP)
        with pytest.raises(StoreLocked):
            shop(database)
        new = shop(database, takeover=True)
        assert new.feedback(ids[1], 0) == "applied"
        os.kill(old.pid, signal.SIGCONT)
        said, _ = old.communicate("go on\n", timeout=300)
        assert [word for word in said.split() if "applied" in word or "duplicate" in word] == []
        assert len(said.split()) == 2
        assert new.feedback(ids[1], 0) == "duplicate"
        assert new.feedback(ids[2], 0) == "applied"
        assert new.model().counters["learned"] == 3
        digest = new.digest()
        new.close()
        assert replayed(database) == digest
    finally:
        os.kill(old.pid, signal.SIGCONT) if old.poll() is None else None
        old.kill()
        old.wait()
        old.stdin.close()
        old.stdout.close()
