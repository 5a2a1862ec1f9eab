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
    s = shop(folder, clock=clock)
    s.create_model("news", "c3_ucb", n_features=3)
    s.register_items(NAMES, ITEMS)
    done = play(s, 12)
    play(s, 4, model="news")
    s.snapshot()
    s.register_items(["late item"], ITEMS[:1], model="news")
    pending = s.recommend("alice", 3)
    asked = s.recommend("bob", 2, request_id="r1")
    s.look_after()
    facts = {
        "digest": s.digest(),
        "answered": done[-1],
        "pending": [pending.id, list(pending.items)],
        "asked": asked.id,
        "now": clock.now,
    }
    s.close()
    (folder / "lock").unlink()
    (folder / "facts.json").write_text(json.dumps(facts, indent=1))


@pytest.mark.parametrize("number", range(1, FORMAT + 1))
def test_reopen(number, tmp_path):
    folder = shutil.copytree(HOME / str(number), tmp_path / "store")
    facts = json.loads((folder / "facts.json").read_text())
    s = shop(folder, n_features=None, clock=Clock(facts["now"]))
    assert s.notes == []
    assert s.digest() == facts["digest"]
    assert set(s.models) == {"default", "news"}
    assert "late item" in s.model("news").catalog.ids
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
