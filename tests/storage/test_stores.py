"""What every store promises, on SQLite and on PostgreSQL."""

import pytest

from clubcascade.checks.stores import StoreChecks
from clubcascade.errors import InvalidArgument, StoreDamaged
from clubcascade.storage import Entry, Group, open_store


class TestSqlite(StoreChecks):
    @pytest.fixture
    def opener(self, tmp_path):
        return lambda: open_store(tmp_path / "store")


class TestPostgres(StoreChecks):
    @pytest.fixture
    def opener(self, database):
        return lambda: open_store(database)

    def test_a_damaged_event_is_noticed(self, opener, database):
        store = opener()
        store.append(Group(events=[Entry(b"one"), Entry(b"two")]))
        with store._write.use("damage") as raw:
            raw.execute("UPDATE clubcascade_log SET payload = 'x' WHERE number = 2")
        with pytest.raises(StoreDamaged, match="event 2 of the log is damaged"):
            list(store.events(0))
        with store._write.use("damage") as raw:
            raw.execute("DELETE FROM clubcascade_log WHERE number = 1")
        with pytest.raises(StoreDamaged, match="event 1 of the log is missing"):
            list(store.events(0))
        store.close()


@pytest.mark.parametrize("where", ["mysql://x", "redis://localhost/1"])
def test_other_databases_are_refused(where, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidArgument, match="store must be a folder or a URL postgresql"):
        open_store(where)
    assert not list(tmp_path.iterdir())
