"""The recommender on PostgreSQL: restarts, lost connections, a server that hangs or is down."""

import threading
import time
from functools import partial

import httpx
import psycopg
import pytest

from clubcascade.errors import StoreFenced, StoreLocked, StoreUnavailable
from clubcascade.service.app import Service
from clubcascade.service.http import Limits
from tests.service.shops import ITEMS, NAMES, play, replayed, shop
from tests.service.web import listening


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
    s.look_after()
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
    s.look_after()
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


def test_a_server_that_hangs_is_told_within_seconds(cluster, database):
    """SIGSTOP sends no error: no statement waits for ever, and all is well after SIGCONT."""
    with shop(database) as s:
        decisions = [s.recommend("alice", 2, ITEMS) for _ in range(2)]
        assert s.feedback(decisions[0].id, 0) == "applied"
        with cluster.stopped():
            begun = time.monotonic()
            with pytest.raises(StoreUnavailable, match="could not"):
                s.feedback(decisions[1].id, 0)
            assert time.monotonic() - begun < 15
            assert s.problem is not None
            assert s.recommend("bob", 2, ITEMS, request_id="r").items  # lists go on
        until = time.monotonic() + 60
        while s.problem is not None:
            assert time.monotonic() < until
            time.sleep(0.1)
        assert s.feedback(decisions[1].id, 0) in ("applied", "duplicate")
        assert s.model().counters["learned"] == 2
        digest = s.digest()
    assert replayed(database) == digest


def test_a_server_that_hangs_is_told_by_readyz_and_stops_no_end(cluster, database):
    """Neither a snapshot that is being written nor the end of the service waits for ever."""
    service = Service(partial(shop, database), None, Limits(rate=0))
    with listening(service) as url, httpx.Client(base_url=url, timeout=60) as client:
        until = time.monotonic() + 60
        while client.get("/readyz").status_code != 200:
            assert service.failure is None and time.monotonic() < until
            time.sleep(0.1)
        play(service.shop, 5)
        with cluster.stopped():
            begun = time.monotonic()
            while (answer := client.get("/readyz")).status_code != 503:
                assert time.monotonic() - begun < 20
                time.sleep(0.1)
            assert "could not" in answer.json()["error"]["reason"]
            frozen = service.shop._models.freeze()
            begun = time.monotonic()
            with pytest.raises(StoreUnavailable, match="could not write the snapshot"):
                service.shop._chores.save(frozen)
            assert time.monotonic() - begun < 15
        while client.get("/readyz").status_code != 200:
            assert time.monotonic() < until + 60
            time.sleep(0.1)
        s = service.shop
        s.snapshot()
        play(s, 5)
        with cluster.stopped():
            frozen = s._models.freeze()
            s._chores._thread = threading.Thread(target=s._chores._save_quietly, args=[frozen])
            s._chores._thread.start()
            begun = time.monotonic()
            s.close()
            assert time.monotonic() - begun < 30


def test_a_store_that_is_down_at_the_start_is_waited_for(cluster, database):
    cluster.stop()
    service = Service(partial(shop, database), None, Limits(rate=0))
    try:
        with listening(service) as url, httpx.Client(base_url=url, timeout=60) as client:
            until = time.monotonic() + 60
            while "could not open" not in (answer := client.get("/readyz")).text:
                assert time.monotonic() < until
                time.sleep(0.1)
            assert answer.status_code == 503
            cluster.start()
            while client.get("/readyz").status_code != 200:
                assert service.failure is None and time.monotonic() < until + 60
                time.sleep(0.1)
            assert service.failure is None
    finally:
        if not cluster.runs:
            cluster.start()


def test_a_store_of_an_earlier_version_is_taken_over_when_that_one_has_ended(database):
    with shop(database) as s:
        done = play(s, 5)
        digest = s.digest()
    with psycopg.connect(database, autocommit=True) as raw:  # as format 1 left it
        raw.execute("UPDATE clubcascade_about SET format = 1")
        raw.execute("DROP TABLE clubcascade_head")
        raw.execute("DROP INDEX clubcascade_by_time, clubcascade_unanswered")
        raw.execute("SELECT pg_advisory_lock(%s)", (0x636C7562,))
        with pytest.raises(StoreLocked, match="earlier version"):
            shop(database)
    with shop(database) as s:
        assert s.digest() == digest and s.position == 6
        assert s.feedback(*done[0]) == "duplicate"
        play(s, 3)
        assert s.position == 9


def test_an_older_store_in_the_place_of_the_newer_ends_the_server(database):
    """It has learned what the store does not know: it may neither learn nor serve on."""
    with shop(database) as s:
        decision = s.recommend("alice", 2, ITEMS)
        play(s, 3)
        with psycopg.connect(database, autocommit=True) as raw:
            raw.execute("UPDATE clubcascade_head SET position = 2")
            raw.execute("DELETE FROM clubcascade_log WHERE number > 2")
        with pytest.raises((StoreFenced, StoreUnavailable)):
            s.follow()
            s.feedback(decision.id, 0)
        until = time.monotonic() + 60
        while s.failure is None:
            assert time.monotonic() < until
            time.sleep(0.05)
        with pytest.raises(StoreUnavailable, match="the writer has stopped"):
            s.recommend("alice", 2, ITEMS)
