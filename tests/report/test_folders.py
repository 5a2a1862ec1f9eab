from __future__ import annotations

import json

import pytest

from clubcascade.errors import ClubCascadeError, InvalidArgument
from clubcascade.report.folders import find_runs, read_run
from tests.report import made

PLAN = made.experiment([made.world("(a)")])
EVEN = made.regrets({("(a)", label): 10.0 for label in ("CLUB", "C3", "LinUCB")})


def test_a_result_folder_is_read_whole(tmp_path):
    run = read_run(made.folder(tmp_path / "synthetic", PLAN, EVEN))
    assert (run.name, run.figure) == ("synthetic", "synthetic")
    assert run.provenance["seeds"] == [0, 1, 2, 3]
    assert run.failures == () and run.missing == ()
    assert run.by_seed("regret")["(a)", "C3"].shape == (4, 20)
    assert run.by_seed("regret") is run.by_seed("regret")


def test_a_folder_of_folders_comes_in_the_order_of_the_paper(tmp_path):
    for name in ("zebra", "movielens-mine", "synthetic", "yelp", "movielens"):
        made.folder(tmp_path / name, PLAN, EVEN)
    (tmp_path / "notes").mkdir()
    (tmp_path / "file.txt").touch()
    runs, broken = find_runs(tmp_path)
    names = [(run.name, run.figure) for run in runs]
    assert names == [
        ("synthetic", "synthetic"),
        ("yelp", "yelp"),
        ("movielens", "movielens"),
        ("movielens-mine", "movielens"),
        ("zebra", "zebra"),
    ]
    assert broken == []


def test_one_folder_may_have_any_name_if_it_says_which_figure_it_is(tmp_path):
    plan = made.experiment([made.world("(a)")], figure=1)
    (run,), _ = find_runs(made.folder(tmp_path / "results", plan, EVEN))
    assert (run.name, run.figure) == ("results", "synthetic")


def test_a_broken_folder_is_told_and_hides_no_other(tmp_path):
    made.folder(tmp_path / "synthetic", PLAN, EVEN)
    names = ("cut", "half", "config", "origin", "columns", "tuning", "nothing")
    for name in names:
        made.folder(tmp_path / name, PLAN, EVEN)
    made.curves(PLAN, EVEN).drop(columns="round").to_parquet(tmp_path / "columns/results.parquet")
    (tmp_path / "tuning" / "tuning.csv").write_text("panel,policy,edge\n(a),CLUB,low\n")
    (tmp_path / "nothing" / "tuning.csv").write_text("")
    (tmp_path / "cut" / "results.parquet").write_bytes(b"PAR1")
    (tmp_path / "half" / "results.parquet").unlink()
    (tmp_path / "config" / "config.toml").write_text("title = ")
    (tmp_path / "origin" / "provenance.json").write_text("{")
    runs, broken = find_runs(tmp_path)
    assert [run.name for run in runs] == ["synthetic"]
    errors = {each.name: each.error for each in broken}
    assert set(errors) == set(names)
    assert "columns cannot be read: no column 'round'" in errors["columns"]
    assert "cut cannot be read" in errors["cut"]
    assert "has no results.parquet" in errors["half"]
    for name in names:
        with pytest.raises(ClubCascadeError):
            find_runs(tmp_path / name)


def test_nothing_to_report_is_an_error_that_says_what_to_run(tmp_path):
    with pytest.raises(InvalidArgument, match="run: clubcascade reproduce --out"):
        find_runs(tmp_path)
    with pytest.raises(InvalidArgument, match="must be a folder of results, got .*nowhere"):
        find_runs(tmp_path / "nowhere")


def test_failures_and_missing_runs_are_known(tmp_path):
    folder = made.folder(tmp_path / "synthetic", PLAN, EVEN)
    rows = made.curves(PLAN, EVEN)
    gone = (rows["policy"] == "C3") & (rows["seed"] >= 2)
    rows[~gone].to_parquet(folder / "results.parquet")
    (folder / "failures.txt").write_text(
        "(a), C3, seed 2\nTraceback\n  line\n\nValueError: two\n\nlines\n\n"
        "(a), C3, seed 3\nMemoryError\n\n"
    )
    run = read_run(folder)
    assert run.missing == ("(a), C3, seed 2", "(a), C3, seed 3")
    assert [name for name, _ in run.failures] == ["(a), C3, seed 2", "(a), C3, seed 3"]
    assert run.failures[0][1].endswith("ValueError: two\n\nlines")


def test_a_folder_need_not_say_where_it_came_from(tmp_path):
    folder = made.folder(tmp_path / "synthetic", PLAN, EVEN)
    (folder / "provenance.json").unlink()
    assert read_run(folder).provenance == {}
    (folder / "provenance.json").write_text(json.dumps(["odd"]))
    assert read_run(folder).provenance == {}
