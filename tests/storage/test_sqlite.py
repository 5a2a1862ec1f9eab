import fcntl
import os
import sqlite3

import pytest

from clubcascade.errors import StoreDamaged, StoreLocked, StoreUnavailable
from clubcascade.storage import Entry, Group, Row, SqliteStore, checksum, open_store
from clubcascade.storage.sqlite import repaired
from tests.storage.faulty_disk import FULL, SYNC_ERROR, WRITE_ERROR, FaultyDisk


def events(*numbers):
    return Group(events=[Entry(b"event %d" % number) for number in numbers])


def test_commits_are_synchronised(tmp_path):
    """Every commit reaches the disk before it returns: one sync at least."""
    disk = FaultyDisk()
    store = SqliteStore(tmp_path, vfs=disk.name)
    for number in range(1, 6):
        before = disk.calls["sync"]
        store.append(events(number))
        assert disk.calls["sync"] > before
    mode = store._write.execute("PRAGMA synchronous").fetchone()[0]
    assert mode == 2  # FULL
    store.close()


@pytest.mark.parametrize("code", [FULL, WRITE_ERROR, SYNC_ERROR])
@pytest.mark.parametrize("after", range(4))
def test_a_failing_disk_fails_the_commit_and_reads_go_on(tmp_path, code, after):
    disk = FaultyDisk()
    store = SqliteStore(tmp_path, vfs=disk.name)
    store.append(events(1))
    (disk.fail_syncs if code == SYNC_ERROR else disk.fail_writes)(code, after)
    big = Group(events=[Entry(os.urandom(40_000))])
    failed = False
    number = 1
    try:
        store.append(big)
        number = 2
        store.append(events(3))
        number = 3
    except StoreUnavailable as error:
        failed = True
        assert "could not write" in str(error)
    assert failed or after > 0
    assert [n for n, _ in store.events(0)] == list(range(1, number + 1))
    disk.heal()
    store.recover()
    last = store.head()
    assert last >= number
    store.append(events(last + 1))
    store.close()
    again = SqliteStore(tmp_path)
    assert [n for n, _ in again.events(0)] == list(range(1, last + 2))
    again.close()


def test_a_file_where_the_folder_should_be(tmp_path):
    (tmp_path / "store").write_text("")
    with pytest.raises(StoreUnavailable, match="must be a folder"):
        open_store(tmp_path / "store")


def test_a_newer_format_is_refused(tmp_path):
    open_store(tmp_path).close()
    database = sqlite3.connect(tmp_path / "store.db")
    database.execute("UPDATE about SET value='99' WHERE name='format'")
    database.commit()
    database.close()
    with pytest.raises(StoreDamaged, match="format 1 to 3, got format '99'"):
        open_store(tmp_path)


def test_an_older_database_in_the_place_of_the_newer_is_noticed(tmp_path):
    store = open_store(tmp_path)
    store.append(events(1, 2))
    store.close()
    old = (tmp_path / "store.db").read_bytes()
    store = open_store(tmp_path)
    store.append(events(3))
    store.close()
    (tmp_path / "store.db").write_bytes(old)
    with pytest.raises(StoreDamaged, match="lost events 3 to 3"):
        open_store(tmp_path)
    assert "goes on from event 2" in repaired(tmp_path)[0]
    store = open_store(tmp_path)
    assert store.head() == 2
    store.close()


@pytest.mark.parametrize("damage", [b"", b"\0" * 12, b"x" * 12, b"x" * 40])
def test_a_damaged_mark_is_said_and_made_anew(tmp_path, damage):
    store = open_store(tmp_path)
    store.append(events(1))
    store.close()
    (tmp_path / "head").write_bytes(damage)
    store = open_store(tmp_path)
    assert "mark" in store.notes[0]
    store.close()
    store = open_store(tmp_path)
    assert store.notes == [] and store.head() == 1
    store.close()


def test_an_answer_that_was_wiped_out_of_a_row_is_noticed(tmp_path):
    """A decision whose answer is gone would be learned twice."""
    store = open_store(tmp_path)
    store.append(Group(decisions=[Row(1, 5, None, b"shown")]))
    store.append(Group(events=[Entry(b"e", 1, "x", checksum(1, b"shown"))]))
    store._write.execute("UPDATE decisions SET outcome=NULL, event=NULL")
    with pytest.raises(StoreDamaged, match="decision 1 is damaged"):
        store.decisions([1])
    store.close()


def test_only_the_owner_can_read(tmp_path):
    store = SqliteStore(tmp_path / "new" / "store")
    store.append(events(1))
    store.save_snapshot(1, [b"x"])
    for path in (tmp_path / "new").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path
    store.close()


def test_a_process_that_shares_with_nobody_is_respected(tmp_path):
    """As those of earlier versions, which held the lock alone."""
    open_store(tmp_path).close()
    with (tmp_path / "lock").open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(StoreLocked, match="open in another process .process .* shares it"):
            open_store(tmp_path)
    open_store(tmp_path).close()


def test_a_writer_that_hangs_is_not_waited_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr("clubcascade.storage.sqlite.PATIENCE", 0.2)
    one, other = open_store(tmp_path), open_store(tmp_path)
    with one._turn.turn(1.0), pytest.raises(StoreUnavailable, match="another server has been"):
        other.append(events(1))
    assert other.append(events(1)) == 1
    one.close()
    other.close()
