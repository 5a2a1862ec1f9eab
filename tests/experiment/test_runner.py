from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from clubcascade.errors import InvalidArgument, InvalidConfig
from clubcascade.experiment.config import read_experiment
from clubcascade.experiment.results import read_results
from clubcascade.experiment.runner import COMPILING, RUNNING, run_experiment
from tests.experiment import tiny

CELLS = 4


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An uninterrupted run on two workers."""
    folder = tmp_path_factory.mktemp("whole")
    seen = []
    report = run_experiment(
        tiny.experiment(), folder, jobs=2, progress=lambda *step: seen.append(step)
    )
    return report, seen


def contents(folder: Path) -> dict[str, bytes]:
    names = ("results.parquet", "summary.csv", "config.toml")
    return {name: (folder / name).read_bytes() for name in names}


def test_a_run_writes_a_result_folder(whole):
    report, _ = whole
    assert report.failures == () and report.cells == CELLS and report.reused == 0
    names = ["results.parquet", "summary.csv", "config.toml", "provenance.json"]
    assert [path.name for path in report.files] == names
    assert len(list((report.folder / "cells").iterdir())) == CELLS
    frame = read_results(report.folder).curves
    columns = ["panel", "policy", "seed", "round", "reward", "regret", "n_clusters", "rand_index"]
    assert list(frame.columns) == columns
    assert len(frame) == CELLS * 20
    assert frame["policy"].unique().tolist() == ["CLUB", "random"]
    origin = json.loads((report.folder / "provenance.json").read_text())
    assert origin["seeds"] == [0, 1] and origin["packages"]["clubcascade"]


def test_progress_goes_from_compiling_to_the_last_cell(whole):
    _, seen = whole
    assert seen[0] == (COMPILING, 0, CELLS)
    assert seen[1:] == [(RUNNING, done, CELLS) for done in range(CELLS + 1)]


def test_the_summary_has_means_and_intervals(whole):
    report, _ = whole
    summary = pd.read_csv(report.folder / "summary.csv")
    frame = read_results(report.folder).curves
    last = frame[(frame["policy"] == "CLUB") & (frame["round"] == 60)]["regret"]
    row = summary.iloc[0]
    assert (row["panel"], row["policy"], row["seeds"], row["round"]) == (
        "two clusters",
        "CLUB",
        2,
        60,
    )
    assert row["regret_mean"] == pytest.approx(last.mean())
    half = 12.706204736 * last.std() / np.sqrt(2)
    assert row["regret_high"] - row["regret_mean"] == pytest.approx(half)


def test_one_worker_gives_the_same_results(whole, tmp_path):
    run_experiment(tiny.experiment(), tmp_path, jobs=1)
    assert contents(tmp_path) == contents(whole[0].folder)


def test_a_stopped_run_continues_to_the_same_results(whole, tmp_path):
    source = sorted((whole[0].folder / "cells").iterdir())
    (tmp_path / "cells").mkdir()
    for file in source[:2]:
        (tmp_path / "cells" / file.name).write_bytes(file.read_bytes())
    half = source[2].read_bytes()
    (tmp_path / "cells" / source[2].name).write_bytes(half[: len(half) // 2])
    (tmp_path / "cells" / f"{source[3].name}.1.tmp").write_bytes(half)
    report = run_experiment(tiny.experiment(), tmp_path, jobs=1)
    assert report.reused == 2
    assert contents(tmp_path) == contents(whole[0].folder)
    assert sorted(f.name for f in (tmp_path / "cells").iterdir()) == [f.name for f in source]


def test_a_finished_run_is_not_run_again(whole):
    before = contents(whole[0].folder)
    seen = []
    report = run_experiment(
        tiny.experiment(), whole[0].folder, progress=lambda *step: seen.append(step)
    )
    assert report.reused == CELLS and seen == []
    assert contents(whole[0].folder) == before


def test_the_resolved_configuration_names_the_same_cells(whole):
    report = run_experiment(read_experiment(whole[0].folder / "config.toml"), whole[0].folder)
    assert report.reused == CELLS


def test_a_failing_cell_is_reported_and_does_not_lose_the_others(tmp_path):
    panels = [tiny.panel("good"), tiny.panel("too few items", n_items=3)]
    failing = tiny.experiment(panels=panels, k=4, seeds=1)
    report = run_experiment(failing, tmp_path, jobs=2)
    assert [failure.cell for failure in report.failures] == [
        "too few items, CLUB, seed 0",
        "too few items, random, seed 0",
    ]
    assert "k must be" in report.failures[0].error
    assert read_results(tmp_path).curves["panel"].unique().tolist() == ["good"]
    assert "Traceback" in (tmp_path / "failures.txt").read_text()


def test_a_wrong_parameter_stops_before_the_run(tmp_path):
    wrong = tiny.experiment(policies=[tiny.policy(beta=-1.0)])
    with pytest.raises(InvalidConfig, match="policy 'C3-UCB': beta must be"):
        run_experiment(wrong, tmp_path, jobs=1)


def test_jobs_must_be_at_least_one(tmp_path):
    with pytest.raises(InvalidArgument, match="jobs must be a whole number >= 1, got 0"):
        run_experiment(tiny.experiment(), tmp_path, jobs=0)
