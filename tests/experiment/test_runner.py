from __future__ import annotations

import errno
import json
import os
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from clubcascade.errors import DataMissing, InvalidArgument, InvalidConfig
from clubcascade.experiment import cell_store, read_experiment, read_results, runner
from clubcascade.experiment.progress import COMPILING, RUNNING, TUNING
from clubcascade.experiment.results import COLUMNS
from clubcascade.experiment.runner import run_experiment, run_experiments
from tests.experiment import tiny

CELLS = 4


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An uninterrupted run on two workers."""
    folder = tmp_path_factory.mktemp("whole")
    seen = []
    report = run_experiment(tiny.experiment(), folder, jobs=2, progress=seen.append)
    return report, seen


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    """A run with tuning."""
    folder = tmp_path_factory.mktemp("tuned")
    seen = []
    experiment = tiny.parsed(tiny.tuned_content())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "ProcessWorkers", tiny.InProcess)
        return run_experiment(experiment, folder, jobs=1, progress=seen.append), seen


@pytest.fixture(autouse=True)
def in_process(monkeypatch):
    """Processes are tested by the run that is ``whole``, to which others are compared."""
    monkeypatch.setattr(runner, "ProcessWorkers", tiny.InProcess)


def contents(folder: Path) -> dict[str, object]:
    """All results but the times that the runs took."""
    frame = read_results(folder).curves.drop(columns="seconds")
    names = ("summary.csv", "config.toml", "tuning.csv")
    texts = {n: (folder / n).read_text() for n in names if (folder / n).is_file()}
    return {**texts, "curves": frame.to_csv(float_format="%.17g")}


def test_a_run_writes_a_result_folder(whole):
    report, _ = whole
    assert report.failures == () and report.cells == CELLS and report.reused == 0
    names = ["results.parquet", "summary.csv", "visits.csv", "config.toml", "provenance.json"]
    assert [path.name for path in report.files] == names
    assert len(list((report.folder / "cells").iterdir())) == CELLS
    frame = read_results(report.folder).curves
    assert tuple(frame.columns) == COLUMNS
    assert len(frame) == CELLS * 20
    assert frame["policy"].unique().tolist() == ["CLUB", "random"]
    origin = json.loads((report.folder / "provenance.json").read_text())
    assert origin["seeds"] == [0, 1] and origin["packages"]["clubcascade"]


def test_progress_goes_from_compiling_to_the_last_cell(whole):
    report, seen = whole
    name = report.folder.name
    assert (seen[0].what, seen[0].done, seen[0].total) == (f"{name}: {COMPILING}", 0, CELLS)
    assert [step.done for step in seen[1:]] == list(range(CELLS + 1))
    assert {step.what for step in seen[1:]} == {f"{name}: {RUNNING}"}
    assert [step.share for step in seen] == [0, 0, 0.25, 0.5, 0.75, 1]


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
    killed = tmp_path / "cells" / f"{source[3].name}.1.tmp"
    killed.write_bytes(half)
    os.utime(killed, (0, 0))
    report = run_experiment(tiny.experiment(), tmp_path, jobs=1)
    assert report.reused == 2
    assert contents(tmp_path) == contents(whole[0].folder)
    assert sorted(f.name for f in (tmp_path / "cells").iterdir()) == [f.name for f in source]


def test_a_finished_run_is_not_run_again(whole):
    before = contents(whole[0].folder)
    seen = []
    report = run_experiment(tiny.experiment(), whole[0].folder, progress=seen.append)
    assert report.reused == CELLS and seen == []
    assert contents(whole[0].folder) == before


def test_the_resolved_configuration_names_the_same_cells(whole, tuned):
    for report, _ in (whole, tuned):
        again = read_experiment(report.folder / "config.toml")
        report = run_experiment(again, report.folder)
        assert report.reused == report.cells


def test_a_failing_cell_is_reported_and_does_not_lose_the_others(tmp_path):
    panels = [tiny.panel("good"), tiny.panel("too few items", n_items=3)]
    failing = tiny.experiment(panels=panels, k=4, seeds=1)
    report = run_experiment(failing, tmp_path, jobs=2)
    assert sorted(failure.cell for failure in report.failures) == [
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


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"jobs": 0}, "jobs must be a whole number >= 1, got 0"),
        ({"engine": "rai"}, "engine must be one of .*got 'rai'"),
        ({"ray_address": "x"}, 'ray_address is for the engine "ray"'),
    ],
)
def test_wrong_arguments_are_named(tmp_path, changes, message):
    with pytest.raises(InvalidArgument, match=message):
        run_experiment(tiny.experiment(), tmp_path, **changes)


# -- tuning ---------------------------------------------------------------------------------------


def test_tuning_chooses_on_its_own_seeds_and_writes_what_it_tried(tuned):
    report, seen = tuned
    assert report.cells == 8 + 6 and report.failures == ()
    table = pd.read_csv(report.folder / "tuning.csv")
    assert len(table) == 4 and table["seeds"].tolist() == [2] * 4
    assert set(table["by"]) == {"regret"}
    for _, grid in table.groupby("policy"):
        (best,) = grid[grid["chosen"]].index
        assert grid["mean"].idxmin() == best
    results = read_results(report.folder)
    assert sorted(results.curves["seed"].unique()) == [0, 1]
    (panel,) = results.experiment.panels
    assert set(panel.tuned) == {"CLUB", "C3"}
    chosen = table[(table["policy"] == "C3") & table["chosen"]]["values"].item()
    assert chosen == f"beta={panel.tuned['C3']['beta']}"
    assert results.provenance["tuning_seeds"] == [50, 51]
    assert [step.what.partition(": ")[2] for step in seen if step.done == 0] == [COMPILING, TUNING]
    assert (seen[-1].done, seen[-1].total, seen[-1].share) == (14, 14, 1.0)


def test_a_tuned_policy_runs_with_the_chosen_values(tuned, tmp_path):
    frame = read_results(tuned[0].folder).curves
    values = read_results(tuned[0].folder).experiment.panels[0].tuned["C3"]
    plain = tiny.experiment(policies=[tiny.policy("c3_ucb", "C3", **values)])
    run_experiment(plain, tmp_path, jobs=1)
    mine = read_results(tmp_path).curves
    np.testing.assert_array_equal(
        mine["regret"], frame[frame["policy"] == "C3"]["regret"].to_numpy()
    )


@pytest.mark.parametrize("kept", [3, 10])
def test_a_run_stopped_while_tuning_or_later_continues_to_the_same_results(tuned, tmp_path, kept):
    (tmp_path / "cells").mkdir()
    source = sorted((tuned[0].folder / "cells").iterdir(), key=lambda file: file.stat().st_mtime_ns)
    for file in source[:kept]:
        (tmp_path / "cells" / file.name).write_bytes(file.read_bytes())
    seen = []
    experiment = tiny.parsed(tiny.tuned_content())
    report = run_experiment(experiment, tmp_path, jobs=2, progress=seen.append)
    assert report.reused == kept
    assert (seen[-1].done, seen[-1].total) == (14 - kept, 14 - kept)
    assert contents(tmp_path) == contents(tuned[0].folder)


def test_a_point_that_fails_is_not_chosen(tmp_path):
    table = tiny.tuned_content()
    table["policies"] = [tiny.policy("known_clusters", "known", partition="true", reg=1.0)]
    table["policies"][0]["tune"] = {"beta": [1.0, 0.1]}
    table["panels"] = [tiny.panel("too few", n_items=3), tiny.panel("good")]
    table["k"] = 4
    report = run_experiment(tiny.parsed(table), tmp_path, jobs=1)
    assert len(report.failures) == 4  # the trials; without a choice there is no run
    assert read_results(tmp_path).curves["panel"].unique().tolist() == ["good"]
    assert pd.read_csv(tmp_path / "tuning.csv").groupby("panel")["chosen"].sum().to_dict() == {
        "good": 1,
        "too few": 0,
    }


LINES = {"beta": [0.03, 0.1, 0.3, 1.0], "reg": [0.5, 1.0, 2.0]}


def searching():
    """Two policies whose searches take several steps."""
    table = tiny.tuned_content()
    table["tune"]["budget"] = 9
    table["policies"] = [
        tiny.policy("c3_ucb", "C3") | {"tune": LINES},
        tiny.policy("multiple_lin_ucb", "multiple") | {"tune": LINES},
    ]
    return tiny.parsed(table)


def test_a_search_goes_on_where_it_was_stopped(tmp_path):
    seen = []
    whole = run_experiment(searching(), tmp_path / "whole", jobs=1, progress=seen.append)
    table = pd.read_csv(tmp_path / "whole" / "tuning.csv", keep_default_na=False)
    assert (table.groupby("policy").size() > 6).all() and (
        table.groupby("policy").size() <= 9
    ).all()
    assert whole.cells == 2 * len(table) + 4 and whole.failures == ()
    totals = [step.total for step in seen]
    assert totals[0] == 2 * 2 * 9 + 4 and totals == sorted(totals, reverse=True)
    assert (seen[-1].done, seen[-1].total, seen[-1].share) == (whole.cells, whole.cells, 1.0)
    assert [step.share for step in seen] == sorted(step.share for step in seen)
    cells = sorted((tmp_path / "whole" / "cells").iterdir(), key=lambda f: f.stat().st_mtime_ns)
    for kept in (5, len(cells) - 8, len(cells) - 2):
        out = tmp_path / str(kept)
        (out / "cells").mkdir(parents=True)
        for file in cells[:kept]:
            (out / "cells" / file.name).write_bytes(file.read_bytes())
        assert run_experiment(searching(), out, jobs=2).reused == kept
        assert contents(out) == contents(tmp_path / "whole")


def test_a_tuned_value_may_be_infinite(tmp_path):
    table = tiny.tuned_content()
    table["policies"] = [tiny.policy("club_cascade", "CLUB", users="all", beta=1.0)]
    table["policies"][0]["tune"] = {"alpha": [float("inf")]}
    run_experiment(tiny.parsed(table), tmp_path / "out", jobs=1)
    again = read_experiment(tmp_path / "out" / "config.toml")
    assert again.panels[0].tuned == {"CLUB": {"alpha": float("inf")}}
    report = run_experiment(again, tmp_path / "again", jobs=1)
    assert report.cells == 2 and report.failures == ()


# -- several experiments --------------------------------------------------------------------------


def test_what_experiments_share_is_run_once(tmp_path):
    policies = [tiny.policy("random", "random"), tiny.policy("c3_ucb", "C3", beta=1.0)]
    plans = {
        tmp_path / "one": tiny.experiment(),
        tmp_path / "two": tiny.experiment(policies=policies),
    }
    seen = []
    reports = dict(run_experiments(plans, jobs=1, progress=seen.append))
    assert reports[tmp_path / "one"].reused == 0
    assert reports[tmp_path / "two"].reused == 2
    assert (seen[-1].done, seen[-1].total) == (6, 6)
    one, two = (read_results(folder).curves for folder in plans)
    pd.testing.assert_frame_equal(
        one[one["policy"] == "random"].reset_index(drop=True),
        two[two["policy"] == "random"].reset_index(drop=True),
    )
    third = {tmp_path / "three": plans[tmp_path / "one"]}
    ((_, later),) = run_experiments(third, beside=[tmp_path / "one"])
    assert later.reused == CELLS


# -- data -----------------------------------------------------------------------------------------


def make_pool(path: Path, seed: int) -> str:
    np.savez(path, clicks=np.random.default_rng(seed).random((20, 15)) < 0.3)
    return str(path)


def test_a_pool_is_replayed_and_changed_data_are_run_anew(tmp_path):
    name = make_pool(tmp_path / "mine.npz", seed=1)
    experiment = tiny.experiment(panels=[tiny.pool(name, "{data}")], measure="ctr")
    first = run_experiment(experiment, tmp_path / "out", jobs=1)
    results = read_results(first.folder)
    assert first.failures == () and results.curves["panel"].unique().tolist() == ["mine"]
    (about,) = results.provenance["data"].values()
    assert about["name"] == "mine" and len(about["fingerprint"]) == 64
    ceilings = results.curves.groupby("seed")["ceiling"].first()
    assert ((ceilings > 0) & (ceilings <= 1)).all()
    assert run_experiment(experiment, tmp_path / "out").reused == CELLS
    make_pool(tmp_path / "mine.npz", seed=2)
    assert run_experiment(experiment, tmp_path / "out", jobs=1).reused == 0


def test_missing_data_stop_before_the_run(tmp_path):
    experiment = tiny.experiment(panels=[tiny.pool(str(tmp_path / "no.npz"))])
    with pytest.raises(DataMissing, match=r"no\.npz"):
        run_experiment(experiment, tmp_path / "out")


# -- a full disk ----------------------------------------------------------------------------------


@pytest.mark.parametrize("after", [0, 2])
def test_a_full_disk_stops_the_run_and_is_continued(whole, tmp_path, monkeypatch, after):
    written = cell_store.atomic_write
    count = 0

    class Full:
        def write(self, content):
            raise OSError(errno.ENOSPC, "No space left on device")

    def filling(path):
        nonlocal count
        count += 1
        if count <= after:
            return written(path)
        return full(path)

    @contextmanager
    def full(path):
        with written(path) as file:
            file.write(b"half of it")
            yield Full()

    monkeypatch.setattr(cell_store, "atomic_write", filling)
    with pytest.raises(OSError, match=r"No space left on device: .*\.npz"):
        run_experiment(tiny.experiment(), tmp_path, jobs=2)
    assert [path.name for path in tmp_path.iterdir()] == ["cells"]
    assert len(list((tmp_path / "cells").iterdir())) == after
    monkeypatch.setattr(cell_store, "atomic_write", written)
    report = run_experiment(tiny.experiment(), tmp_path, jobs=2)
    assert report.reused == after
    assert contents(tmp_path) == contents(whole[0].folder)


def test_a_full_disk_while_results_are_written_leaves_the_old_ones(whole, tmp_path, monkeypatch):
    run_experiment(tiny.experiment(), tmp_path, jobs=1)
    before = contents(tmp_path)

    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(cell_store, "remove_abandoned", lambda *_: None)
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match=r"No space left on device: .*results\.parquet"):
        run_experiment(tiny.experiment(title="another"), tmp_path, jobs=1)
    monkeypatch.undo()
    assert contents(tmp_path) == before
    assert not list(tmp_path.glob("*.tmp"))
