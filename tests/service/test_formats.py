"""A store of every earlier format is kept in ``formats/`` and can be reopened.

Only snapshots hold learned numbers there (the log behind them has items alone), so the digest is
the same on every machine. A new format gets a folder of its own: ``python -m
tests.service.test_formats``.
"""

import json
import shutil
from pathlib import Path

import pytest

from clubcascade.storage.base import FORMAT
from tests.service.shops import ITEMS, NAMES, Clock, play, shop

HOME = Path(__file__).parent / "formats"


def make(folder):
    """Write a store of the present format, with what must be found in it."""
    clock = Clock()
    s = shop(folder, clock=clock, wait=60)
    s.create_model("news", "c3_ucb", n_features=3)
    s.register_items(NAMES, ITEMS, metadata=[{"price": n} for n in range(len(NAMES))])
    s.feedback(s.recommend("carol", 1, candidates=NAMES[2:3]).id, 0)
    play(s, 12)
    play(s, 4, model="news")
    s.register_items(NAMES, ITEMS, model="news")
    s.create_experiment("spring", {"now": ("default", 1), "new": ("news", 1)})
    s.feedback(s.recommend("dora", 3, model="spring").id, 0)
    s.recommend("dora", 3, model="spring")
    clock.now += 121
    s.look_after()  # the last list has expired
    done = play(s, 1)
    s.snapshot()
    told = [{"title": "late", "price": 2.5, "tags": ["new"]}]
    s.register_items(["late item"], ITEMS[:1], metadata=told, model="news")
    pending = s.recommend("alice", 3, candidates=NAMES[:6])
    asked = s.recommend("bob", 2, request_id="r1")
    s.look_after()
    facts = {
        "digest": s.digest(),
        "answered": done[-1],
        "pending": [pending.id, list(pending.items)],
        "asked": asked.id,
        "now": clock.now,
        "spring": s.experiment("spring"),
        "late item": told[0],
        "seen": ["carol", NAMES[2]],
    }
    s.close()
    for name in ("lock", "turn", "chores"):
        (folder / name).unlink()
    shutil.rmtree(folder / "servers")
    (folder / "facts.json").write_text(json.dumps(facts, indent=1))


@pytest.mark.parametrize("number", range(1, FORMAT + 1))
def test_reopen(number, tmp_path):
    folder = shutil.copytree(HOME / str(number), tmp_path / "store")
    facts = json.loads((folder / "facts.json").read_text())
    s = shop(folder, n_features=None, clock=Clock(facts["now"]))
    assert s.notes == []
    assert s.digest() == facts["digest"]
    assert set(s.models) == {"default", "news"}
    if "spring" in facts:
        assert s.experiment("spring") == facts["spring"]
        assert (facts["spring"]["lists"], facts["spring"]["clicks"]) == (2, 1)
    assert "late item" in s.model("news").catalog.ids
    if "seen" in facts:  # from format 3 on
        assert s.model("news").metadata["late item"] == facts["late item"]
        assert s.model().metadata[NAMES[4]] == {"price": 4}
        user, item = facts["seen"]
        assert item not in s.recommend(user, 8, exclude_seen=True).items
    assert s.feedback(*facts["answered"]) == "duplicate"
    assert s.recommend("bob", 2, request_id="r1").id == facts["asked"]
    decision, items = facts["pending"]
    assert set(items) <= set(NAMES)
    assert s.feedback(decision, 1) == "applied"
    s.close()
    s = shop(folder, n_features=None, clock=Clock(facts["now"]))
    assert s.feedback(decision, 1) == "duplicate"
    s.close()


if __name__ == "__main__":
    make(HOME / str(FORMAT))
