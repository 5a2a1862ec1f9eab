"""The log read again, while the service runs: export, replay, backup and restore."""

import hashlib
import json
import shutil
import threading

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import clubcascade as cc
from clubcascade.checks._rounds import learned, same
from clubcascade.cli.app import app
from clubcascade.errors import InvalidArgument
from clubcascade.service import decider, history
from clubcascade.service.arguments import offer
from clubcascade.service.history import COLUMNS, export
from tests.service.shops import ITEMS, NAMES, Clock, D, play, replayed, shop
from tests.service.test_formats import HOME


@pytest.fixture(params=["sqlite", "postgres"])
def where(request, tmp_path):
    found = tmp_path / "store" if request.param == "sqlite" else request.getfixturevalue("database")
    return str(found)


def run(*words):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_export_has_every_decision_with_its_answer(where, tmp_path):
    clock = Clock(1_700_000_000.0)
    with shop(where, clock=clock, wait=60) as s:
        s.create_model("news", "c3_ucb", n_features=D)
        play(s, 3, model="news")
        shown = s.recommend("alice", 3, ITEMS, ids=NAMES)
        clock.now += 5
        s.feedback(shown.id, cc.Feedback(3, (0, 2)))
        late = s.recommend(7, 2, ITEMS)
        clock.now += 61
        s.feedback(late.id, None)
        waiting = s.recommend("bob", 2, ITEMS)
        s.look_after()
        said = run("export", "--store", where, "--out", tmp_path / "out")  # while it runs
        position = s.position
    assert f"3 decisions up to position {position}" in said
    manifest = json.loads((tmp_path / "out" / "_manifest.json").read_text())
    (part,) = manifest["files"]
    path = tmp_path / "out" / part["file"]
    assert hashlib.sha256(path.read_bytes()).hexdigest() == part["sha256"]
    table = pq.read_table(path)
    assert table.column_names == [name for name, _ in COLUMNS]
    first, second, third = table.to_pylist()
    assert first["decision"] == shown.id and first["position"] == position - 1
    assert (first["user"], first["items"]) == ("alice", list(shown.items))
    rows = [NAMES.index(name) for name in shown.items]
    np.testing.assert_array_equal(first["features"], ITEMS[rows])
    assert first["scores"] == list(shown.scores)
    assert first["model_position"] == shown.model_version
    assert (first["outcome"], first["examined"], first["clicks"]) == ("applied", 3, [0, 2])
    assert (first["answered"] - first["time"]).total_seconds() == 5
    assert (second["user"], second["outcome"], second["clicks"]) == ("7", "late", [])
    assert (third["decision"], third["position"], third["outcome"]) == (waiting.id, None, None)


def test_export_wants_a_model_and_an_empty_folder(where, tmp_path):
    with shop(where) as s:
        play(s, 2)
        with pytest.raises(InvalidArgument, match="model must be one of default"):
            export(s._store, "news", tmp_path / "out")
        (tmp_path / "full").mkdir()
        (tmp_path / "full" / "x").write_text("")
        with pytest.raises(InvalidArgument, match="empty folder"):
            export(s._store, "default", tmp_path / "full")


def test_replay_gives_the_model_of_any_position(where, tmp_path):
    with shop(where) as s:
        s.register_items(NAMES, ITEMS)
        seen = []
        for number in range(12):
            play(s, 1, seed=number)
            seen.append(s.digest_at("default"))
        for position, digest in seen[::4]:
            told = run("replay", "--store", where, "--position", position)
            assert told.startswith(f"position {position}: ") and digest in told
        saved = tmp_path / "model.cc"
        run("replay", "--store", where, "--out", saved)
        assert same(learned(cc.load(saved)), learned(s.model().policy))
        with pytest.raises(InvalidArgument, match="position must be from 0 to"):
            history.replayed(s._store, 99)


def test_a_decision_can_be_drawn_from_the_model_that_made_it(where):
    """Its position names the model: a greedy policy gives the very list again."""
    with shop(where, policy="c3_ucb") as s:
        play(s, 10)
        decision = s.recommend("user 1", 3, ITEMS)
        play(s, 10)
        then = history.replayed(s._store, decision.model_version)["default"].policy
        assert tuple(then.recommend("user 1", ITEMS, 3).tolist()) == decision.items


def test_replay_with_another_policy(where, tmp_path):
    reference = cc.C3UCB(n_features=D, beta=0.5)
    with shop(where) as s:
        for number in range(20):
            decision = s.recommend(f"user {number % 3}", 3, ITEMS)
            s.feedback(decision.id, number % 3)
            shown = ITEMS[list(decision.items)]
            reference.update(f"user {number % 3}", shown, number % 3)
        saved = tmp_path / "other.cc"
        words = ("--policy", "c3_ucb", "--param", "beta=0.5", "--out", saved)
        assert "C3UCB" in run("replay", "--store", where, *words)
    assert same(learned(cc.load(saved)), learned(reference))


def test_a_backup_of_a_running_service_is_whole(where, tmp_path):
    stop, done = threading.Event(), []
    with shop(where, snapshot_every=10) as s:
        play(s, 20)

        def work():
            while not stop.is_set():
                done.extend(play(s, 1, seed=len(done)))

        thread = threading.Thread(target=work)
        thread.start()
        said = run("backup", "--store", where, "--out", tmp_path / "copy")
        stop.set()
        thread.join()
        position = int(said.split("position ")[1].split()[0])
        assert 21 <= position <= s.position
        wanted = history.replayed(s._store, position).digest()
        with shop(tmp_path / "copy") as copy:
            assert copy._models.digest() == wanted and copy.notes == []
            assert copy.server > s.server + 100  # its draws and numbers are its own
            outcomes = set(copy.feedback_many(done))  # what came later may be sent again
            assert outcomes <= {"duplicate", "applied", "unknown"}
        with pytest.raises(InvalidArgument, match="store must be new"):
            history.backup(s._store, tmp_path / "copy")


def test_restore_into_either_kind_of_store(where, tmp_path, request):
    with shop(where) as s:
        done = play(s, 15)
        s.snapshot()
        done += play(s, 5)
        pending = s.recommend("alice", 2, ITEMS)
        s.look_after()
        digest = s.digest()
        run("backup", "--store", where, "--out", tmp_path / "copy")
    targets = [str(tmp_path / "again"), request.getfixturevalue("cluster").database()]
    for target in targets:
        said = run("restore", "--from", tmp_path / "copy", "--store", target)
        assert said.strip() == "restored up to position 21"
        with shop(target) as again:
            assert again.digest() == digest and again.notes == []
            assert set(again.feedback_many(done)) == {"duplicate"}
            assert again.feedback(pending.id, 0) == "applied"
            assert again.position == 22
        assert replayed(target)


def test_stores_that_are_not_there(tmp_path):
    for command in (["export", "--out", "x"], ["replay"], ["backup", "--out", "x"]):
        done = CliRunner().invoke(app, [*command, "--store", str(tmp_path / "none")])
        assert done.exit_code == 2 and "store must be one that exists" in done.stderr
    assert not list(tmp_path.iterdir())


def test_an_export_of_an_earlier_format(tmp_path):
    """Its answers do not say how the decisions were made."""
    folder = shutil.copytree(HOME / "1", tmp_path / "store")
    with shop(folder, n_features=None) as s:
        export(s._store, "default", tmp_path / "out")
    rows = pq.read_table(tmp_path / "out").to_pylist()
    answered = [row for row in rows if row["position"] is not None]
    assert answered and all(row["time"] is None for row in answered)
    assert all(row["outcome"] == "applied" for row in answered)


DRAWING = ["cohort_cascade", "cascade_lin_ts", "c3_ucb", "random"]


@pytest.mark.parametrize("policy", DRAWING)
def test_every_list_can_be_drawn_again(tmp_path, policy):
    """From the log alone: the model's position, the draw, and what could have been shown."""
    made = []
    for run_number in range(2):  # another server has other draws
        with shop(tmp_path / "store", policy=policy) as s:
            if not run_number:
                s.register_items(NAMES, ITEMS)
            play(s, 5)
            made.append((s.recommend("user 1", 3), NAMES))
            s.register_items([f"new {run_number}"], ITEMS[:1])
            made.append((s.recommend("user 2", 2, candidates=NAMES[5:1:-1]), NAMES[5:1:-1]))
            made.append((s.recommend("user 2", 2, candidates=NAMES[5:1:-1]), NAMES[5:1:-1]))
            play(s, 3)
            s.look_after()
    run("export", "--store", tmp_path / "store", "--out", tmp_path / "out")
    rows = {row["decision"]: row for row in pq.read_table(tmp_path / "out").to_pylist()}
    store = history.existing(tmp_path / "store")
    named = [e for _, e in store.events(0) if e[:1] == b"C"]
    assert len(named) == 1  # kept once, though named four times
    for decision, offered in made:
        row = rows[decision.id]
        assert row["k"] == len(decision.items)
        if offered is NAMES:
            assert (row["candidate_set"], row["candidates"]) == ("catalogue", None)
        else:
            assert row["candidates"] == offered
        model = history.replayed(store, row["model_position"])["default"]
        catalog = model.catalog
        if row["candidates"] is not None:
            catalog = cc.Catalog(model.candidates(row["candidates"]), row["candidates"])
        if row["draw"] is not None:
            state = model.policy.state()
            model.policy.load_state(state | {"draws": np.array([row["draw"]])})
        assert (row["draw"] is None) == (policy == "c3_ucb")
        again = model.policy.recommend(row["user"], catalog, row["k"])
        assert [catalog.ids[at] for at in again] == list(decision.items)
    store.close()


def test_items_that_came_with_a_request_are_not_kept(tmp_path):
    with shop(tmp_path / "store") as s:
        play(s, 1)
    run("export", "--store", tmp_path / "store", "--out", tmp_path / "out")
    (row,) = pq.read_table(tmp_path / "out").to_pylist()
    assert (row["candidate_set"], row["candidates"], row["greedy"]) == ("items", None, False)
    assert (row["experiment"], row["arm"], row["teams"]) == (None, None, None)


def test_decisions_of_earlier_formats_say_less(tmp_path):
    shutil.copytree(HOME / "2", tmp_path / "store")
    run("export", "--store", tmp_path / "store", "--out", tmp_path / "out")
    rows = pq.read_table(tmp_path / "out").to_pylist()
    assert {(row["draw"], row["candidate_set"]) for row in rows} == {(None, None)}


def test_a_list_is_of_the_items_of_its_version(tmp_path, monkeypatch):
    """Items that come while a list is made: it is made again, of what its version knows."""
    seen = []

    def slow(target, ask):
        found = offer(target, ask)
        seen.append(len(found[1]))
        if len(seen) == 1:
            s.register_items(["new"], ITEMS[:1])
        return found

    with shop(tmp_path, policy="random") as s:
        s.register_items(NAMES, ITEMS)
        monkeypatch.setattr(decider, "offer", slow)
        decision = s.recommend("alice", 8)
        then = history.replayed(s._store, decision.model_version)["default"]
        assert seen == [8, 9] == [8, len(then.catalog)]
