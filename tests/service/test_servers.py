"""Several servers on one store: each takes feedback for all, and all become the same model."""

import threading
import time

import numpy as np
import pytest

from clubcascade.errors import InvalidArgument, StoreUnavailable
from tests.service.shops import ITEMS, NAMES, D, play, replayed, shop


@pytest.fixture(params=["sqlite", "postgres"])
def where(request, tmp_path):
    return tmp_path / "store" if request.param == "sqlite" else request.getfixturevalue("database")


@pytest.fixture
def servers(where):
    opened = [shop(where) for _ in range(3)]
    yield opened
    for each in opened:
        each.close()


def settle(servers, position=None):
    """Wait until all have learned what one has; return the digests there."""
    until = time.monotonic() + 60
    wanted = max(s.position for s in servers) if position is None else position
    while min(s.position for s in servers) < wanted:
        assert time.monotonic() < until, [s.position for s in servers]
        time.sleep(0.005)
    return {s.digest_at() for s in servers}


def test_all_become_the_same_model(servers, where):
    for number, each in enumerate(servers):
        play(each, 20, seed=number)
    assert len(settle(servers)) == 1
    assert servers[0].model().counters["learned"] == 60
    digest = servers[0].digest()
    late = shop(where)  # one that joins
    assert late.digest() == digest
    late.close()
    assert replayed(where) == digest


def test_feedback_goes_to_any_of_them_and_counts_once(servers):
    a, b, c = servers
    decision = a.recommend("alice", 3, ITEMS)
    assert b.feedback(decision.id, 1) == "applied"  # at once: it waits for the decision
    assert b.model().counters["learned"] == 1  # one reads one's own writes
    assert a.feedback(decision.id, 1) == "duplicate"
    assert c.feedback(decision.id, 0) == "conflict"
    settle(servers)
    assert [s.model().counters["learned"] for s in servers] == [1, 1, 1]


def test_many_callers_send_everything_twice_everywhere(servers, where):
    per_caller, outcomes, seen = 25, [], []

    def call(number):
        rng = np.random.default_rng(number)
        for _ in range(per_caller):
            made, first, second = rng.integers(3, size=3)
            decision = servers[made].recommend(f"user {rng.integers(9)}", 3, ITEMS)
            threads = [
                threading.Thread(
                    target=lambda s=s, d=decision: outcomes.append(servers[s].feedback(d.id, 1))
                )
                for s in (first, second)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

    def watch():
        while not done.is_set():
            seen.extend(s.digest_at() for s in servers)
            time.sleep(0.02)

    done = threading.Event()
    watcher = threading.Thread(target=watch)
    watcher.start()
    callers = [threading.Thread(target=call, args=(n,)) for n in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    done.set()
    watcher.join()
    assert outcomes.count("applied") == outcomes.count("duplicate") == 4 * per_caller
    assert len(settle(servers)) == 1
    digests = {}
    for position, digest in seen:  # at one position there is one digest, also under load
        assert digests.setdefault(position, digest) == digest
    assert len(digests) > 5
    assert servers[0].model().counters["learned"] == 4 * per_caller
    assert replayed(where) == servers[0].digest()


def test_no_two_servers_draw_the_same(servers):
    lists = [[s.recommend("alice", 3, ITEMS).items for _ in range(40)] for s in servers]
    assert len({str(each) for each in lists}) == 3
    places = [int(np.ravel(s.model().policy.state()["draws"])[0]) for s in servers]
    assert len({place >> 40 for place in places}) == 3


def test_a_decision_on_its_way_is_waited_for(where, monkeypatch):
    """Never unknown while its server lives; in the end the client is asked to come again."""
    with shop(where) as a, shop(where, patience=0.3) as b:
        monkeypatch.setattr(a._queue, "put_quietly", lambda decision: None)
        decision = a.recommend("alice", 3, ITEMS)
        with pytest.raises(StoreUnavailable, match="is not durable yet"):
            b.feedback(decision.id, 0)
        monkeypatch.undo()
        a._queue.put_quietly(decision)
        assert b.feedback(decision.id, 0) == "applied"
        lost = a.recommend("alice", 3, ITEMS)
        number = int(lost.id.split("-")[0], 16)
        never = f"{number - 1:x}-{'0' * 16}"
        assert b.feedback(lost.id, 0) == "applied"
        assert b.feedback(never, 0) == "unknown"  # before one that is durable


def test_a_later_decision_is_never_durable_before(where, monkeypatch):
    """Whoever knows a later one takes those before that are not there for lost."""
    with shop(where) as a, shop(where, patience=10.0) as b:
        first, go, put = [], threading.Event(), a._queue.put_quietly

        def slow(decision):
            if not first:
                first.append(decision)
                go.wait(60)
            put(decision)

        monkeypatch.setattr(a._queue, "put_quietly", slow)
        threads = [threading.Thread(target=a.recommend, args=("al", 3, ITEMS)) for _ in range(2)]
        threads[0].start()
        while not first:
            time.sleep(0.001)
        threads[1].start()
        time.sleep(0.2)
        a.look_after()  # what was handed over is durable
        threading.Timer(0.2, go.set).start()
        assert b.feedback(first[0].id, 0) == "applied"
        for thread in threads:
            thread.join()


def test_models_and_items_are_known_to_all(servers):
    a, b, c = servers
    a.create_model("news", "c3_ucb", n_features=D)
    settle(servers)
    with pytest.raises(InvalidArgument, match="new model"):
        b.create_model("news", "c3_ucb", n_features=D)
    assert b.register_items(NAMES, ITEMS, model="news") == 8
    settle(servers)
    assert set(c.recommend("alice", 8, model="news").items) == set(NAMES)
    c.delete_model("news")
    settle(servers)
    assert a.models == b.models == ("default",)
    a.create_model("news", "random")
    assert len(settle(servers)) == 1


def test_who_makes_a_model_at_the_same_time(servers):
    outcomes = []

    def make(server, d):
        try:
            server.create_model("news", "c3_ucb", n_features=d)
            outcomes.append(d)
        except InvalidArgument:
            pass

    threads = [threading.Thread(target=make, args=(s, d)) for d, s in enumerate(servers, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    settle(servers)
    assert len(outcomes) == 1
    assert {s.model("news").policy.n_features for s in servers} == set(outcomes)


def test_a_request_has_one_decision(where):
    with shop(where, durable_decisions=True) as a, shop(where, durable_decisions=True) as b:
        first = a.recommend("alice", 3, ITEMS, request_id="r1")
        assert b.recommend("alice", 3, ITEMS, request_id="r1") == first
        found = []
        threads = [
            threading.Thread(
                target=lambda s=s: found.append(s.recommend("al", 3, ITEMS, request_id="r2").id)
            )
            for s in (a, b) * 4
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(found)) == 1


def test_one_server_makes_the_snapshots_and_another_after_it(where):
    with shop(where, snapshot_every=5) as b:
        with shop(where, snapshot_every=5) as a:
            play(a, 20)
            settle([a, b])
            assert not a._chores.leads and a._chores._good == set()
        play(b, 10)
        b.look_after()
        digest = b.digest()
        assert b._chores._good
    with shop(where) as again:
        assert again.digest() == digest and again._models.loaded > 0


# -- forgetting ------------------------------------------------------------------------------------


def test_a_user_is_forgotten_everywhere(servers, where):
    for number, each in enumerate(servers):
        play(each, 20, seed=number)
    settle(servers)
    servers[2].snapshot()
    pending = servers[0].recommend("user 1", 3, ITEMS)
    other = servers[0].recommend("user 2", 3, ITEMS)
    servers[0].look_after()
    counts = {}
    for s in servers[:1]:
        for _, payload in s._store.events(0):
            if b"user 1" in payload:
                counts["before"] = counts.get("before", 0) + 1
    assert counts["before"] > 3
    learned = servers[0].model().counters["learned"]
    position = servers[1].forget_user("user 1")
    assert len(settle(servers)) == 1
    for s in servers:
        assert "user 1" not in s.model().policy.users and "user 2" in s.model().policy.users
        assert s.model().counters["learned"] == learned - counts["before"]
    assert not any(b"user 1" in payload for _, payload in servers[0]._store.events(0))
    assert all(b"user 1" not in r.payload for r in servers[0]._store.every_decision(0, 999))
    assert min(servers[0]._store.snapshots()) >= position
    assert servers[2].feedback(pending.id, 0) == "unknown"
    assert servers[2].feedback(other.id, 0) == "applied"
    play(servers[0], 5)
    digests = settle(servers)
    assert len(digests) == 1
    assert replayed(where) == servers[0].digest()
    joined = shop(where)
    assert joined.digest() == servers[0].digest()
    joined.close()


def test_draws_go_on_after_someone_is_forgotten(where):
    with shop(where) as s:
        play(s, 10)
        before = [s.recommend("user 2", 3, ITEMS).items for _ in range(40)]
        place = int(np.ravel(s.model().policy.state()["draws"])[0])
        s.forget_user("user 1")
        assert int(np.ravel(s.model().policy.state()["draws"])[0]) == place
        assert before
