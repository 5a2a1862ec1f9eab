"""Old events in Parquet files: moved behind a verified snapshot, read by all, damaged by nobody."""

import sqlite3
import threading

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from clubcascade.cli.app import app
from clubcascade.errors import InvalidArgument, StoreDamaged, StoreUnavailable, UnknownName
from clubcascade.service import history
from clubcascade.service.events import Answered, read_event
from clubcascade.service.history import export
from clubcascade.storage import checksum, open_store
from clubcascade.storage import folder as archives
from tests.service.shops import ITEMS, D, play, shop
from tests.service.web import serving


@pytest.fixture(autouse=True)
def short_segments(monkeypatch):
    monkeypatch.setattr(archives, "SEGMENT_EVENTS", 10)


@pytest.fixture(params=["sqlite", "postgres"])
def place(request, tmp_path):
    """A store and the folder of its archive, as options of a recommender."""
    if request.param == "sqlite":
        return {"store": tmp_path / "store", "archive": tmp_path / "store" / "archive"}
    return {"store": request.getfixturevalue("database"), "archive": tmp_path / "shared"}


def open_shop(place, **options):
    return shop(place["store"], archive=place["archive"], **options)


def archive(s):
    """Let the chores move all that can be moved."""
    for _ in range(50):
        s._chores.leads = True
        s.look_after()
        s._chores.finish()


def files(place):
    return sorted(place["archive"].glob("*.parquet"))


def test_old_events_move_and_everything_reads_both(place, tmp_path):
    with open_shop(place) as s:
        play(s, 34)
        archive(s)
        assert not files(place)  # not behind a verified snapshot
        s.snapshot()
        done = play(s, 3)
        before = list(s._store.events(0))
        archive(s)
        assert [path.name[:41].split("-") for path in files(place)] == [
            [f"{first:020d}", f"{first + 9:020d}"] for first in (1, 11, 21)
        ]
        assert s._store._first_row() == 31 and s._store.first() == 1
        assert list(s._store.events(0)) == before and list(s._store.events(8, 32)) == before[8:32]
        rows = pq.read_table(files(place)[0]).to_pylist()
        assert [(r["position"], r["payload"]) for r in rows] == before[:10]
        assert all(r["crc"] == checksum(r["position"], r["payload"]) for r in rows)
        digest = s.digest()
        assert history.replayed(s._store).digest()[1] == digest
        assert export(s._store, "default", tmp_path / "out")["rows"] == 37
        history.backup(s._store, tmp_path / "copy")
        with shop(tmp_path / "copy") as copy:
            assert copy.digest() == digest and list(copy._store.events(0)) == before
    with open_shop(place) as again, open_shop(place) as joined:
        assert again.digest() == joined.digest() == digest
        assert again.feedback(*done[0]) == "duplicate"
        again._store.drop_snapshots(again._store.snapshots())
    with open_shop(place) as scratch:
        assert scratch.digest() == digest


def test_a_flipped_bit_is_named_and_not_learned(place):
    with open_shop(place) as s:
        play(s, 15)
        s.snapshot()
        archive(s)
        digest = s.digest()
        (path,) = files(place)
        whole = path.read_bytes()
        for at in range(0, len(whole), 97):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :])
            with pytest.raises(StoreDamaged, match=f"1 to 10 .* {path.name}, which is damaged"):
                list(s._store.events(0))
        with pytest.raises(StoreDamaged, match="is damaged"):
            history.replayed(s._store)
        path.unlink()
        with pytest.raises(StoreDamaged, match="is not in .*: No such file"):
            history.replayed(s._store)
    with open_shop(place) as s:  # what is behind the snapshot is enough to go on
        assert s.digest() == digest
        play(s, 3)


def test_an_archive_whose_folder_is_not_given(place, request, tmp_path):
    with open_shop(place) as s:
        play(s, 15)
        s.snapshot()
        archive(s)
    other = None if isinstance(place["store"], str) else tmp_path / "elsewhere"
    store = open_store(place["store"], archive=other)
    with pytest.raises(StoreDamaged, match=r"name its folder|is not in .*elsewhere"):
        list(store.events(0))
    store.close()
    words = ["replay", "--store", str(place["store"]), "--archive", str(place["archive"])]
    assert CliRunner().invoke(app, words).exit_code == 0


def test_nothing_moves_without_a_folder_on_postgres(database, tmp_path):
    with shop(database) as s:
        play(s, 15)
        s.snapshot()
        archive(s)
        assert s._store._first_row() == 1
    with pytest.raises(InvalidArgument, match="keep must be given with an archive"):
        shop(database, keep=30)


def test_events_are_kept_as_long_as_an_operator_says(place):
    with open_shop(place) as s:
        play(s, 25)
        s.snapshot()
        archive(s)
        assert len(files(place)) == 2
    with open_shop(place, keep=1e-9) as s:  # days
        digest = s.digest()
        archive(s)
        assert not files(place) and s._store.first() == 21
        play(s, 1)
        assert s.digest() != digest
        digest = s.digest()
        assert history.replayed(s._store).digest()[1] == digest
        with pytest.raises(InvalidArgument, match="log begins at event 21"):
            history.replayed(s._store, 20)
        with pytest.raises(InvalidArgument, match="whole log is there"):
            s.forget_user("user 1")
    with open_shop(place) as s:
        assert s.digest() == digest


def test_a_segment_that_nobody_lists_teaches_nothing_and_goes(place, monkeypatch):
    """A server that ends between the file and the commit leaves a file, and no gap."""
    with open_shop(place) as s:
        play(s, 25)
        s.snapshot()
        assert s._store.segment(25) is not None
        digest = s.digest()
    with open_shop(place) as s:
        assert s._store._first_row() == 1 and s.digest() == digest
        monkeypatch.setattr(archives, "STRAY", -1.0)
        strays = [place["archive"] / f"{1:020d}-{5:020d}-x.{end}" for end in ("parquet", "1.aside")]
        for stray in strays:
            stray.write_bytes(b"")
        archive(s)
        assert sorted(place["archive"].iterdir()) == files(place) and len(files(place)) == 2
        assert history.replayed(s._store).digest()[1] == digest


def test_a_repaired_store_finds_its_archive(tmp_path):
    where = tmp_path / "store"
    with shop(where) as s:
        play(s, 25)
        s.snapshot()
        archive(s)
        play(s, 2)
        before = list(s._store.events(0))
    raw = sqlite3.connect(where / "store.db")
    raw.execute("UPDATE log SET payload = x'00' WHERE number = 28")
    raw.commit()
    raw.close()
    with shop(where, repair=True) as s:
        assert "goes on from event 27" in s.notes[0]
        assert list(s._store.events(0)) == before[:27]


# -- forgetting ----------------------------------------------------------------------------------


def bytes_of(place):
    """All that lies on the disk, by name."""
    folders = [place["archive"]] + ([] if isinstance(place["store"], str) else [place["store"]])
    return {p: p.read_bytes() for f in folders for p in f.rglob("*") if p.is_file()}


def test_a_user_is_forgotten_in_the_archive_too(place):
    with open_shop(place) as s, open_shop(place) as other:
        play(s, 34)
        s.snapshot()
        archive(s)
        old = files(place)
        position = s.forget_user("user 1")
        other.follow()
        assert other.digest() == s.digest() and "user 1" not in s.model().policy.users
        assert len(files(place)) == 3 and set(files(place)).isdisjoint(old)
        for path in files(place):
            assert all(b"user 1" not in r["payload"] for r in pq.read_table(path).to_pylist())
        assert not any(b"user 1" in payload for _, payload in s._store.events(0))
        assert min(s._store.snapshots()) >= position
        assert history.replayed(s._store).digest()[1] == s.digest()
        s.follow()
        archive(s)
        digest = s.digest()
    found = [path for path, data in bytes_of(place).items() if b"user 1" in data]
    assert not found
    with open_shop(place) as s:
        assert s.digest() == digest


def test_a_forgetting_that_was_stopped_half_way_can_be_done_again(place, monkeypatch):
    """The event that says so comes first: all servers agree, whatever is erased by then."""
    with open_shop(place) as s, open_shop(place) as other:
        play(s, 34)
        s.snapshot()
        archive(s)
        play(s, 6)
        calls = []

        def fail(positions, numbers):
            if positions:
                calls.append(positions)
                raise StoreUnavailable("stopped")

        monkeypatch.setattr(s._store, "erase", fail)
        with pytest.raises(StoreUnavailable, match="stopped"):
            s.forget_user("user 1")
        monkeypatch.undo()
        other.follow()
        assert calls and other.digest() == s.digest()
        assert "user 1" not in other.model().policy.users
        assert history.replayed(s._store).digest()[1] == s.digest()
        with open_shop(place) as joined:
            assert joined.digest() == s.digest()
        s.forget_user("user 1")
        other.follow()
        assert other.digest() == s.digest() == history.replayed(s._store).digest()[1]
        assert not any(b"user 1" in payload for _, payload in s._store.events(0))


def test_users_of_a_deleted_model_are_forgotten(place):
    with open_shop(place) as s:
        s.create_model("news", "c3_ucb", n_features=D)
        play(s, 20, model="news")
        s.delete_model("news")
        s.snapshot()
        archive(s)
        assert any(b"user 1" in payload for _, payload in s._store.events(0))
        s.forget_user("user 1", model="news")
        assert not any(b"user 1" in payload for _, payload in s._store.events(0))
        with pytest.raises(UnknownName, match="'never'"):
            s.forget_user("user 1", model="never")


def test_users_of_a_deleted_model_are_forgotten_over_http(tmp_path):
    with serving(tmp_path) as (client, service):
        service.shop.create_model("news", "c3_ucb", n_features=D)
        play(service.shop, 5, model="news")
        for user in (7, "7"):
            decision = service.shop.recommend(user, 3, ITEMS, model="news")
            service.shop.feedback(decision.id, 0)
        assert client.delete("/v1/models/news").status_code == 200
        assert client.delete("/v1/models/news/users/user%201").status_code == 200
        assert client.delete("/v1/models/news/users/7").status_code == 200
        left = [read_event(payload) for _, payload in service.shop._store.events(0)]
        users = {event.decision.user for event in left if isinstance(event, Answered)}
        assert users and users.isdisjoint({7, "7", "user 1"})
        answer = client.delete("/v1/models/never/users/7")
        assert answer.status_code == 404 and "default" not in answer.text


def test_events_erased_while_their_file_was_written_stay_erased(place):
    """A file from before does not stand for them."""
    with open_shop(place) as s:
        play(s, 25)
        s.snapshot()
        prepared = s._store.segment(25)
        s.forget_user("user 1")
        assert s._call(lambda: s._store.move(prepared)) is False
        assert not files(place) and s._store._first_row() == 1


def test_an_older_snapshot_does_not_bring_the_user_back(place, monkeypatch):
    """One that was being written meanwhile goes; with it alone, the log says what is forgotten."""
    with open_shop(place) as s:
        play(s, 20)
        frozen = s._models.freeze()
        position = s.forget_user("user 1")
        digest = s.digest()
        s._store.save_snapshot(frozen.position, frozen.chunks())
        assert min(s._store.snapshots()) < position
        s._chores.leads = True
        s.look_after()
        assert min(s._store.snapshots()) >= position
        s._store.save_snapshot(frozen.position, frozen.chunks())
        s._store.drop_snapshots([p for p in s._store.snapshots() if p >= position])
    with open_shop(place) as s:
        assert s.digest() == digest and "user 1" not in s.model().policy.users


def test_feedback_goes_on_while_a_long_log_is_searched(place, monkeypatch):
    """The search is not the writer's work."""
    with open_shop(place) as s:
        play(s, 10)
        begun, go = threading.Event(), threading.Event()
        events = s._store.events

        def slow(after, until=None):
            begun.set()
            assert go.wait(60)
            return events(after, until)

        monkeypatch.setattr(s._store, "events", slow)
        thread = threading.Thread(target=s.forget_user, args=["user 1"])
        thread.start()
        assert begun.wait(60)
        decision = s.recommend("user 1", 3, ITEMS)
        assert s.feedback(decision.id, 0) == "applied"
        go.set()
        thread.join()
        monkeypatch.undo()
        assert not any(b"user 1" in payload for _, payload in s._store.events(0))
        assert history.replayed(s._store).digest()[1] == s.digest()
