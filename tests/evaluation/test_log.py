"""Logs from Python, from Parquet and from Open Bandit columns."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet
from typer.testing import CliRunner

import clubcascade as cc
from clubcascade.cli.app import app
from clubcascade.errors import InvalidArgument, InvalidData
from clubcascade.evaluation import Log
from tests.evaluation.worlds import logged


def table(catalog, columns):
    """The columns as an export has them."""
    return pa.table(
        {
            "user": [str(user) for user in columns["users"]],
            "items": [[catalog.ids[row] for row in rows] for rows in columns["shown"]],
            "clicks": [[] if c is None else [c] for c in columns["clicks"]],
            "examined": [None if c is None else c + 1 for c in columns["clicks"]],
            "model_position": columns["made"],
            "position": [None if at < 0 else at for at in columns["answered"]],
        }
    )


def test_an_export_is_read_as_it_was(tmp_path):
    catalog, _, columns = logged(cc.Random(seed=3), n=50, lag=4)
    parquet.write_table(table(catalog, columns), tmp_path / "part-00000.parquet")
    (tmp_path / "_manifest.json").write_text("{}")
    read, made = Log.read(tmp_path, catalog, user=int), Log(**columns, candidates=catalog)
    assert read.users == made.users
    for name in ("shown", "first", "made", "answered"):
        np.testing.assert_array_equal(getattr(read, name), getattr(made, name))
    assert read.feedback == made.feedback
    assert (read.answered == -1).sum() == 4


def test_candidates_of_each_list_are_parts_of_the_catalogue(tmp_path):
    catalog = cc.Catalog(np.eye(4), ids=list("abcd"))
    columns = {"user": ["x", "y"], "items": [["d"], ["b"]], "clicks": [[0], None]}
    columns["candidates"] = [["b", "d"], ["b", "d"]]
    parquet.write_table(pa.table(columns), tmp_path / "log.parquet")
    log = Log.read(tmp_path / "log.parquet", catalog)
    assert log.shown.tolist() == [[1], [0]]
    assert log.items(0) is log.items(1)
    assert list(log.items(0).ids) == ["b", "d"]
    assert log.made is None


def test_without_a_catalogue_the_candidates_are_missing(tmp_path):
    columns = {"user": ["x"], "items": [["d", "e"]], "clicks": [[1]], "model_position": [None]}
    parquet.write_table(pa.table(columns), tmp_path / "log.parquet")
    log = Log.read(tmp_path / "log.parquet")
    assert (log.candidates, log.made) == (None, None)
    told = cc.evaluate(log, cc.Random(), logging=cc.Random(), learned_until=0)
    assert len(told.reasons) == 2


def test_open_bandit_columns_are_read_as_they_are(tmp_path):
    rng, n = np.random.default_rng(6), 6000
    catalog = cc.Catalog(np.eye(5))
    item, place = rng.integers(0, 5, n), rng.integers(1, 4, n)
    rate = np.array([0.1, 0.2, 0.3, 0.6, 0.8])[item] / place  # a position bias
    columns = {
        "": np.arange(n),  # the dataset's files have all of these columns, in this order
        "timestamp": np.full(n, "2019-11-24 00:00:21.507306+00:00"),
        "item_id": item,
        "position": place,
        "click": (rng.random(n) < rate).astype(int),
        "propensity_score": np.full(n, 0.2),
        "user_feature_0": rng.integers(0, 40, n).astype(str),
        "user_feature_1": rng.integers(0, 2, n).astype(str),
        "user-item_affinity_0": np.zeros(n),
    }
    csv.write_csv(pa.table(columns), tmp_path / "all.csv")
    log = Log.read(tmp_path / "all.csv", catalog)
    assert (log.k, len(set(log.users))) == (1, 80)

    policy = cc.C3UCB(n_features=5, beta=0.0, reg=0.01)
    for row, weight in enumerate([1, 2, 3, 4, 5]):
        for again in range(6):
            policy.update("any", np.eye(5)[[row]], 0 if again < weight else None)
    assert policy.recommend("any", catalog, 3).tolist() == [4, 3, 2]
    told = cc.evaluate(log, policy, learned_until=0, draws=2)
    truth = np.mean([0.8, 0.6 / 2, 0.3 / 3])
    assert told.can_tell
    assert told.estimate == pytest.approx(truth, abs=0.75 * (told.interval[1] - told.interval[0]))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"shown": [[0, 0]]}, r"shown must be distinct rows below 3, got \[0, 0\] in list 0"),
        ({"shown": [[0, 3]]}, "shown must be distinct rows below 3"),
        ({"shown": [0, 1]}, "shown must have one row of numbers per list"),
        ({"clicks": [0, 1]}, "clicks must have 1 entries"),
        ({"made": [1, 2]}, "made must have one number per list, 1, got shape"),
        ({"made": ["x"]}, "made must be a column of numbers"),
        ({"propensities": [[0.0, 0.5]]}, r"propensities must be 2 numbers in \(0, 1\]"),
        ({"candidates": [np.eye(3), np.eye(3)]}, "candidates must be one catalogue or matrix, or"),
    ],
)
def test_wrong_columns_are_named(changed, said):
    columns = {"users": ["a"], "shown": [[0, 1]], "clicks": [1], "candidates": np.eye(3)}
    with pytest.raises(InvalidData, match=said):
        Log(**(columns | changed))


def test_wrong_files_are_named(tmp_path):
    catalog = cc.Catalog(np.eye(2))
    with pytest.raises(InvalidData, match="that exists"):
        Log.read(tmp_path / "none.parquet", catalog)
    (tmp_path / "bad.parquet").write_text("no")
    with pytest.raises(InvalidData, match="no Parquet or CSV file"):
        Log.read(tmp_path / "bad.parquet", catalog)
    parquet.write_table(pa.table({"user": ["a"]}), tmp_path / "few.parquet")
    with pytest.raises(InvalidData, match="must have a column 'items', got user"):
        Log.read(tmp_path / "few.parquet", catalog)
    uneven = {"user": ["a", "b"], "items": [[0], [0, 1]], "clicks": [[], []]}
    parquet.write_table(pa.table(uneven), tmp_path / "uneven.parquet")
    log = Log.read(tmp_path / "uneven.parquet", catalog)
    assert [log.rows(at).tolist() for at in range(2)] == [[0], [0, 1]]
    uneven["propensities"] = [[0.5], [0.5, 0.5]]
    parquet.write_table(pa.table(uneven), tmp_path / "uneven.parquet")
    with pytest.raises(InvalidData, match="propensities must be"):
        Log.read(tmp_path / "uneven.parquet", catalog)
    unknown = {"user": ["a"], "items": [[7]], "clicks": [[]]}
    parquet.write_table(pa.table(unknown), tmp_path / "unknown.parquet")
    with pytest.raises(InvalidArgument, match="no item of the catalogue has id 7"):
        Log.read(tmp_path / "unknown.parquet", catalog)


def test_the_command_reads_files_and_says_what_it_can(tmp_path):
    start = cc.CohortCascade(n_features=3, seed=4, memory=0)
    start.save(tmp_path / "start.cc")
    catalog, _, columns = logged(start, n=600)
    start.save(tmp_path / "end.cc")
    parquet.write_table(table(catalog, columns), tmp_path / "log.parquet")
    items = {"id": list(catalog.ids)} | {f"f{n}": catalog.features[:, n] for n in range(3)}
    parquet.write_table(pa.table(items), tmp_path / "items.parquet")
    log, end, rows = (str(tmp_path / name) for name in ("log.parquet", "end.cc", "items.parquet"))
    common = ["evaluate", log, "--policy", end, "--items", rows, "--int-users", "--draws", "4"]
    common += ["--logging", str(tmp_path / "start.cc")]

    def says(*options):
        done = CliRunner().invoke(app, [*common, *options])
        assert done.exit_code == 0, done.output
        return done.output

    assert says() == "cannot tell: the policy keeps learning; evaluate a frozen copy. " \
        "An online test can\n"  # fmt: skip
    assert "learned from the evaluated window" in says("--learned-until", "600", "--first", "0")
    assert "clicks a list" in says("--learned-until", "0")  # wrong, and nobody can see it
    wrong = CliRunner().invoke(app, ["evaluate", str(tmp_path / "no"), "--policy", end])
    assert wrong.exit_code == 2


OBD = {"item_id": ["a"], "position": [1], "click": [1], "propensity_score": [0.5]}


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("position", "first", "position must be a column of numbers"),
        ("position", 1.5, "position must be a column of numbers"),
        ("click", float("nan"), "click must be 0 or 1"),
        ("click", 7, "click must be 0 or 1"),
        ("propensity_score", "half", "propensity_score must be a column of numbers"),
        ("propensity_score", float("nan"), r"propensities must be 1 numbers in \(0, 1\]"),
        ("propensity_score", 0.0, r"propensities must be 1 numbers in \(0, 1\]"),
        ("propensity_score", 1e-300, "product is at least 1e-100"),
    ],
)
def test_open_bandit_columns_of_another_kind_are_refused(column, value, said):
    with pytest.raises(InvalidData, match=said):
        Log.open_bandit(OBD | {column: [value]}, cc.Catalog(np.eye(1), ids=["a"]))


def test_a_file_with_a_decision_twice_or_clicks_of_text_is_refused(tmp_path):
    path, items = tmp_path / "log.csv", cc.Catalog(np.eye(2), ids=["a", "b"])
    path.write_text('decision,user,items,clicks\n1-a,u,"[""a""]",[0]\n1-a,v,"[""b""]",[]\n')
    with pytest.raises(InvalidData, match="decision must be another one in every row"):
        Log.read(path, items)
    path.write_text('decision,user,items,clicks\n1-a,u,"[""a""]","[""x""]"\n')
    with pytest.raises(InvalidData, match="clicks must be lists of places"):
        Log.read(path, items)
