"""What every store promises, on SQLite and on PostgreSQL."""

import pytest

from clubcascade.errors import StoreDamaged, StoreError, StoreLocked, StoreUnavailable
from clubcascade.storage import Answer, Batch, DecisionRow, checksum, open_store
from clubcascade.storage import snapshot_codec as snapshots


@pytest.fixture(params=["sqlite", "postgres"])
def where(request, tmp_path):
    return tmp_path / "store" if request.param == "sqlite" else request.getfixturevalue("database")


@pytest.fixture
def store(where):
    opened = open_store(where)
    yield opened
    opened.close()


def row(number, at=1_000, request=None, payload=b"shown"):
    return DecisionRow(number, at, request, payload)


def events(*numbers):
    return Batch(events=[(number, b"event %d" % number) for number in numbers])


def test_a_new_store_is_empty(store):
    assert store.last_event() == store.last_decision() == store.waiting() == 0
    assert store.decision(1) is None and store.by_request("x") is None
    assert list(store.events(0)) == [] and store.snapshots() == [] and store.notes == []


def test_what_was_committed_is_there_after_a_restart(store, where):
    store.commit(Batch(decisions=[row(1), row(2, request="news/7")]))
    base = checksum(1, b"shown")
    both = Batch(events=[(1, b"one"), (2, b"two")], answers=[Answer(1, "clicked", 2, base)])
    store.commit(both)
    store.close()
    again = open_store(where)
    try:
        assert list(again.events(0)) == [(1, b"one"), (2, b"two")]
        assert list(again.events(1)) == [(2, b"two")]
        assert again.decision(1) == row(1)._replace(outcome="clicked", event=2)
        assert again.by_request("news/7") == row(2, request="news/7")
        assert (again.last_event(), again.last_decision(), again.waiting()) == (2, 2, 1)
    finally:
        again.close()


def test_decisions_are_found_together(store):
    store.commit(Batch(decisions=[row(1), row(3), row(4, payload=b"other")]))
    found = store.decisions([4, 2, 1, 4, 2**60])
    assert sorted(found) == [row(1), row(4, payload=b"other")]
    assert store.decisions([]) == []


def test_a_batch_is_whole_or_not_at_all(store):
    store.commit(events(1))
    with pytest.raises(StoreError):
        store.commit(Batch(decisions=[row(1)], events=[(2, b"two"), (1, b"again")]))
    store.recover()
    assert store.decision(1) is None and store.last_event() == 1
    store.commit(events(2))
    assert store.last_event() == 2


def test_a_decision_that_is_there_stays(store):
    store.commit(Batch(decisions=[row(1)]))
    store.commit(Batch(decisions=[row(1, payload=b"other"), row(2)]))
    assert store.decision(1).payload == b"shown" and store.last_decision() == 2


def test_a_second_writer_is_refused_with_a_clear_message(store, where):
    with pytest.raises(StoreLocked, match="open in another process .process .* one writer"):
        open_store(where)
    store.commit(events(1))
    store.close()
    open_store(where).close()


def test_unanswered_decisions_are_found_by_age(store):
    store.commit(Batch(decisions=[row(n, at=n * 10) for n in range(1, 8)]))
    store.commit(Batch(answers=[Answer(2, "x", 1, checksum(2, b"shown"))]))
    assert [r.number for r in store.unanswered(0, 50, 10)] == [1, 3, 4]
    assert [r.number for r in store.unanswered(1, 50, 1)] == [3]


def test_old_decisions_and_events_go_but_never_the_last_event(store):
    store.commit(
        Batch(decisions=[row(n, at=n) for n in range(1, 6)], events=events(1, 2, 3).events)
    )
    assert store.forget_decisions(before=3, limit=1) == 1
    assert store.forget_decisions(before=3, limit=10) == 1
    assert [store.decision(n) is None for n in (1, 2, 3)] == [True, True, False]
    assert store.forget_events(upto=3, limit=10) == 2
    assert list(store.events(2)) == [(3, b"event 3")] and store.last_event() == 3


def test_a_gap_in_the_log_is_noticed(store):
    store.commit(events(1, 2, 3))
    store.forget_events(upto=1, limit=10)
    with pytest.raises(StoreDamaged, match="event 1 of the log is missing"):
        list(store.events(0))


def test_snapshots_are_kept_checked_and_dropped(store):
    for number in (5, 10, 15):
        store.save_snapshot(number, snapshots.write({"n": number}, {}))
    assert store.snapshots() == [15, 10, 5]
    store.drop_snapshots(2)
    assert store.snapshots() == [15, 10]
    assert snapshots.read(store.load_snapshot(10))[0] == {"n": 10}
    store.save_snapshot(20, [b"not a snapshot at all, but long enough to be looked at" * 2])
    with pytest.raises(StoreDamaged, match="snapshot 20"):
        store.load_snapshot(20)


def test_a_closed_store_says_so(store):
    store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        store.commit(events(1))
    with pytest.raises(StoreUnavailable, match="closed"):
        store.decision(1)
