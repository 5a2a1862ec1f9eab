"""Decisions in memory and behind it."""

import pytest

from clubcascade.errors import StoreDamaged
from tests.service.shops import ITEMS, Clock, shop


def decided(folder, n=4):
    with shop(folder) as s:
        return [s.recommend("alice", 2, ITEMS).id for _ in range(n)]


def test_many_are_found_with_one_look(tmp_path, monkeypatch):
    ids = decided(tmp_path)
    with shop(tmp_path) as s:
        looks = []
        real = s._store.decisions
        monkeypatch.setattr(s._store, "decisions", lambda n: looks.append(n) or real(n))
        new = s.recommend("alice", 2, ITEMS).id
        found = s.feedback_many([(one, 0) for one in (*ids, "ffff-0123456789abcdef", new, ids[0])])
        assert found == ["applied"] * 4 + ["unknown", "applied", "duplicate"]
        assert [len(numbers) for numbers in looks] == [5]


def test_a_damaged_decision_is_told_to_who_asks_for_it_alone(tmp_path):
    ids = decided(tmp_path)
    with shop(tmp_path) as s:
        s._store._write.execute(
            "UPDATE decisions SET payload = zeroblob(9) "
            "WHERE number = (SELECT min(number) + 1 FROM decisions)"
        )
        first, second, third, _ = s.feedback_many([(one, 0) for one in ids])
        assert first == third == "applied"
        assert isinstance(second, StoreDamaged) and "is damaged" in str(second)
        with pytest.raises(StoreDamaged):
            s.feedback(ids[1], 0)
        digest = s.digest()
    with shop(tmp_path) as s:
        assert s.digest() == digest


def test_a_damaged_decision_does_not_stop_the_chores(tmp_path):
    clock = Clock()
    with shop(tmp_path, clock=clock, wait=60, absent="no_click") as s:
        for _ in range(4):
            s.recommend("alice", 2, ITEMS)
        s.look_after()
        s._store._write.execute(
            "UPDATE decisions SET payload = zeroblob(9) "
            "WHERE number = (SELECT min(number) + 1 FROM decisions)"
        )
        clock.now += 61
        s.look_after()
        assert s.model().counters["absent"] == 3 and s.problem is None
