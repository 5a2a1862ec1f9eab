"""A store is a log of lists: evaluation from what a service has written, and from nothing else."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv
from typer.testing import CliRunner

import clubcascade as cc
from clubcascade.checks._rounds import learned, same
from clubcascade.cli.app import app
from clubcascade.errors import InvalidArgument, InvalidData
from clubcascade.evaluation import Log
from clubcascade.evaluation.redraw import replayed
from clubcascade.service.lists import log_of
from tests.service.shops import Clock, shop

D, USERS = 3, 60
ITEMS = np.abs(np.random.default_rng(0).normal(size=(5, D)))
ITEMS /= np.linalg.norm(ITEMS, axis=1)[:, None]
ATTRACTION = 0.7 * ITEMS @ np.array([[0.9, 0.1, 0.1], [0.1, 0.2, 0.9]]).T
POLICY = cc.CohortCascade(n_features=D, seed=4, memory=0)


def serve(folder, rounds, ids=range(1, 6), policy=POLICY):
    """A shop whose users are of two kinds; some answer late, some never; items come and go."""
    clock, rng = Clock(), np.random.default_rng(2)
    row = {name: at for at, name in enumerate(ids)} | {"new": 0}
    with shop(folder, policy=policy.fresh(), n_features=None, clock=clock, wait=60) as s:
        s.register_items(ids, ITEMS)
        for number in range(rounds):
            user, k = int(rng.integers(USERS)), 2 + number % 2
            offered = list(ids)[1:] if number % 5 == 0 else None
            shown = s.recommend(user, k, candidates=offered)
            hits = rng.random(k) < ATTRACTION[[row[name] for name in shown.items], user % 2]
            click = int(np.argmax(hits)) if hits.any() else None
            if number % 10 == 3:
                clock.now += 61
                assert s.feedback(shown.id, click) == "late"
            elif number % 10 != 7:
                s.feedback(shown.id, click)
            if number == rounds // 2:
                s.register_items(["new"], ITEMS[:1])
            if number == 3 * rounds // 4:
                s.remove_items(["new"])
        clock.now += 121
        s.look_after()
        last = learned(s.model().policy)
    return last


def run(*words):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("shop")
    last = serve(home / "store", 600)
    run("export", "--store", home / "store", "--out", home / "out")
    return home, last


def test_a_store_knows_all_that_evaluation_needs(folder):
    home, last = folder
    log = log_of(home / "store", "default")
    assert len(log) == 600 and sorted(set(log.lengths.tolist())) == [2, 3]
    assert {len(log.items(at)) for at in range(600)} == {4, 5, 6}
    for at in range(0, 600, 50):
        assert max(log.rows(at)) < len(log.items(at))
    told = cc.evaluate(log, cc.Random(n_features=D), draws=16)
    assert not any("missing" in reason or "does not draw" in reason for reason in told.reasons)
    assert told.logged == pytest.approx((log.first >= 0).mean())
    (model,) = log.models([max(log.made.tolist())])
    assert len(learned(model)) == len(last)


def test_the_command_evaluates_a_store_from_end_to_end(folder, tmp_path):
    home, _ = folder
    words = ("evaluate", "--store", home / "store", "--draws", 8, "--against")
    said = run(*words, "popular")
    assert "clicks a list" in said and "missing" not in said and "does not draw" not in said
    greedy = cc.CohortCascade(n_features=D, seed=1, memory=0, explore=0.0)
    greedy.update("someone", ITEMS[:2], 0)
    greedy.save(tmp_path / "new.cc")
    assert "the policy keeps learning" in run(*words, tmp_path / "new.cc")
    assert "clicks a list" in run(*words, tmp_path / "new.cc", "--learned-until", 0, "--workers", 2)
    wrong = CliRunner().invoke(app, ["evaluate", "--against", "popular"])
    assert wrong.exit_code == 2 and "either the lists or --store" in wrong.output
    with pytest.raises(InvalidArgument, match="model must be one of the store's, got 'news'"):
        log_of(home / "store", "news")


# -- exports, read as a log ------------------------------------------------------------------------


def test_a_rebuilt_model_learns_what_the_service_learned_and_nothing_else(folder):
    """Late and expired lists are in an export; they taught nothing."""
    home, last = folder
    rows = pq.read_table(home / "out").to_pylist()
    assert {row["outcome"] for row in rows} == {"applied", "late", "expired"}
    whole = cc.Catalog(np.vstack([ITEMS, ITEMS[:1]]), ids=[1, 2, 3, 4, 5, "new"])
    log = Log.read(home / "out", whole, user=int)
    taught = {row["position"] for row in rows if row["outcome"] == "applied"}
    assert set(log.answered.tolist()) == taught | {-1}
    log.made[-1] = 10**6  # behind everything
    ((_, model),) = replayed(log, POLICY.fresh(), np.array([len(log) - 1]))
    got = learned(model)
    del got["users"]
    assert same(got, {name: value for name, value in last.items() if name != "users"})


def test_ids_that_are_numbers_are_found(folder):
    home, _ = folder
    whole = cc.Catalog(np.vstack([ITEMS, ITEMS[:1]]), ids=[1, 2, 3, 4, 5, "new"])
    log, rows = Log.read(home / "out", whole, user=int), pq.read_table(home / "out").to_pylist()
    for at in range(0, 600, 7):
        names = [str(log.items(at).ids[row]) for row in log.rows(at)]
        assert names == rows[at]["items"]
        assert len(log.items(at)) == (6 if rows[at]["candidates"] is None else 4)
    with pytest.raises(InvalidArgument, match="no item of the catalogue has id '[1-5]'"):
        Log.read(home / "out", cc.Catalog(ITEMS, ids=list("abcde")))


def test_lists_in_csv_are_json(folder, tmp_path):
    home, _ = folder
    table = pq.read_table(home / "out").select(["user", "items", "clicks", "candidates"])
    whole = cc.Catalog(np.vstack([ITEMS, ITEMS[:1]]), ids=[1, 2, 3, 4, 5, "new"])
    text = {
        name: [
            "" if value is None else str(value).replace("'", '"')
            for value in table[name].to_pylist()
        ]
        for name in table.column_names
    }
    csv.write_csv(type(table).from_pydict(text), tmp_path / "lists.csv")
    read, wanted = Log.read(tmp_path / "lists.csv", whole), Log.read(home / "out", whole)
    np.testing.assert_array_equal(read.shown, wanted.shown)
    np.testing.assert_array_equal(read.first, wanted.first)
    (tmp_path / "bad.csv").write_text("user,items,clicks\na,tea milk,[0]\n")
    with pytest.raises(InvalidData, match="items must be lists, in CSV as JSON .* got 'tea milk'"):
        Log.read(tmp_path / "bad.csv", whole)


def test_lists_whose_items_came_with_the_request_are_counted(tmp_path):
    with shop(tmp_path / "store") as s:
        s.register_items(range(5), ITEMS)
        s.feedback(s.recommend("a", 2, ITEMS).id)
        s.feedback(s.recommend("a", 2).id)
    told = cc.evaluate(log_of(tmp_path / "store", "default"), cc.Random(n_features=D))
    assert told.reasons == ("the candidates of 1 of 2 lists are missing",)


# -- nonsense --------------------------------------------------------------------------------------


def test_broken_exports_are_refused_with_a_sentence(folder, tmp_path):
    home, _ = folder
    whole, path = pq.read_table(home / "out"), tmp_path / "log.parquet"
    catalog = cc.Catalog(np.vstack([ITEMS, ITEMS[:1]]), ids=[1, 2, 3, 4, 5, "new"])

    def said(changed=None, left_out=(), rows=600):
        columns = whole.slice(0, rows).to_pydict() | (changed or {})
        columns = {name: each for name, each in columns.items() if name not in left_out}
        pq.write_table(pa.table(columns), path)
        try:
            log = Log.read(path, catalog, user=int)
        except InvalidData as error:
            return str(error)
        told = cc.evaluate(log, cc.Random(n_features=D), logging=POLICY.fresh(), draws=4)
        assert not told.can_tell
        return "; ".join(told.reasons)

    assert said(left_out=["items"]).startswith("a log must have a column 'items'")
    assert "positions of the models" in said(left_out=["model_position"])
    assert "does not draw" not in said()
    assert said(rows=0) == "the log is empty"
    assert said({"user": ["7"] * 600}) == "1 users in the window are below 30"
    assert "user must be an id of the kind asked for, got 'bob'" in said({"user": ["bob"] * 600})
    assert "user must be an id" in said({"user": [None] * 600})
    assert "items must be a list in every row, got none in 0" in said({"items": [None] * 600})
    assert "made must be a column of numbers" in said({"model_position": [1e300] * 600})


def test_a_file_of_training_is_refused_with_the_reason(folder, tmp_path):
    rng = np.random.default_rng(1)
    items = [{"item_id": n, "price": n / 2} for n in range(12)]
    clicks = [
        {"user": int(user), "item": int(2 * rng.integers(6) + user % 2), "time": at}
        for at, user in enumerate(rng.integers(20, size=300))
    ]
    file = tmp_path / "shop.cc"
    cc.train(clicks, items, n_features=3, als=False, judge=False, weight=0.2, strength=1).save(file)
    words = ["evaluate", "--store", str(folder[0] / "store"), "--against", str(file)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2 and "item vectors of its own" in " ".join(done.output.split())
    (tmp_path / "no.cc").write_text("no")
    done = CliRunner().invoke(app, [*words[:-1], str(tmp_path / "no.cc")])
    assert done.exit_code == 2 and "must be a whole clubcascade model file" in done.output
