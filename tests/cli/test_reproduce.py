from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from clubcascade import experiment
from clubcascade.cli import experiments, reproduce
from clubcascade.cli.app import app
from clubcascade.experiment import RunReport, read_results, runner
from clubcascade.experiment.runner import Failure
from tests.experiment import tiny
from tests.test_command import heed_interrupts

COMMAND = [sys.executable, "-m", "clubcascade", "reproduce", "--figure", "dcm"]
SHORT = ["--rounds", "40", "--seeds", "1", "--jobs", "2"]
FIGURE = ["--figure", "dcm", *SHORT]
RUNS = 15


@pytest.fixture(autouse=True)
def no_data(tmp_path, monkeypatch):
    monkeypatch.setenv("CLUBCASCADE_DATA", str(tmp_path / "no data"))


def call(*arguments: str):
    return CliRunner().invoke(app, ["reproduce", *arguments])


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("done")
    run = subprocess.run(
        [*COMMAND, *SHORT], cwd=folder, capture_output=True, text=True, encoding="utf-8"
    )
    return run, folder / "clubcascade-results" / "dcm"


def test_it_writes_the_figure_and_the_numbers(done):
    run, folder = done
    assert run.returncode == 0, run.stderr
    names = {path.name for path in folder.iterdir()}
    assert names >= {
        "cells",
        "config.toml",
        "figure.png",
        "figure.svg",
        "provenance.json",
        "results.parquet",
        "summary.csv",
    }
    for name in names - {"cells"}:
        assert f"wrote {Path('clubcascade-results', 'dcm', name)}" in run.stdout
    assert "regret after 40 rounds" in run.stdout
    assert "known clusters" in run.stdout
    assert len(read_results(folder).experiment.panels) == 3


def test_it_ends_with_the_report(done):
    run, folder = done
    page = folder.parent / "report.html"
    assert run.stdout.splitlines()[-1] == f"wrote {Path('clubcascade-results', 'report.html')}"
    text = page.read_text(encoding="utf-8")
    assert "The paper's claims" in text and "A first look" in text


def test_it_is_silent_when_piped(done):
    run, _ = done
    assert run.stderr == ""
    assert "\x1b" not in run.stdout and "compiling" not in run.stdout


def test_a_second_call_reuses_what_is_there(done):
    _, folder = done
    before = {path: path.stat().st_mtime_ns for path in (folder / "cells").iterdir()}
    result = call(*FIGURE, "--out", str(folder.parent))
    assert result.exit_code == 0
    assert {path: path.stat().st_mtime_ns for path in (folder / "cells").iterdir()} == before


def test_an_unknown_figure_is_one_line_and_exit_2():
    result = call("--figure", "synthetic,sintetic")
    assert result.exit_code == 2
    assert result.stderr.startswith(
        "clubcascade: unknown figure 'sintetic'; did you mean 'synthetic'? Known: activity, all, "
    )
    assert result.stderr.count("\n") == 1


def test_figures_are_chosen_by_name_or_by_group():
    known = list(experiment.shipped())
    paper = ["synthetic", "yelp", "movielens", "ctr", "multiple"]
    assert reproduce.chosen("paper") == paper
    names = "grid,grid_real,newcomers,newcomers_real,panels,panels_real"
    grids = names.split(",")  # long, and not among all
    assert reproduce.chosen("evaluation") == reproduce.chosen(names) == grids
    assert reproduce.chosen("all")[:5] == paper
    assert sorted([*reproduce.chosen("all"), *grids]) == known
    experiments, discussion = reproduce.chosen("experiments"), reproduce.chosen("discussion")
    assert experiments[:5] == paper and len(experiments) == 12
    assert sorted(experiments + discussion) == sorted(reproduce.chosen("all"))
    assert reproduce.chosen("lists,paper") == reproduce.chosen("lists, paper") == ["lists", *paper]
    assert len(known) >= 18


def test_a_figure_without_its_data_names_the_command(tmp_path):
    result = call("--figure", "yelp", "--out", str(tmp_path / "out"))
    assert result.exit_code == 2
    assert "Run: clubcascade data yelp --path" in result.stderr
    assert result.stderr.count("\n") == 1 and not (tmp_path / "out").exists()


def make_pool(path: Path) -> str:
    rng = np.random.default_rng(1)
    np.savez(path, clicks=rng.random((1000, 1000)) < 0.01)
    return str(path)


def test_groups_run_without_what_has_no_data(tmp_path, monkeypatch):
    """Half of the figure: one of its two data sets is here."""
    asked = {}

    def note(plans, **options):
        asked.update(plans)

    monkeypatch.setattr(reproduce, "carry_out", note)
    pool = make_pool(tmp_path / "small.npz")
    result = call("--figure", "paper", "--data", f"yelp={pool}", "--out", str(tmp_path))
    assert result.exit_code == 0
    assert result.stderr.startswith(
        "clubcascade: without movielens, a part of ctr, a part of multiple: no data set 'movielens"
    )
    assert result.stderr.endswith("Run: clubcascade data movielens\n")
    names = [path.name for path in asked]
    assert names == ["synthetic", "yelp-small", "ctr-small", "multiple-small"]
    ctr = asked[tmp_path / "ctr-small"]
    assert [panel.title for panel in ctr.panels] == ["(a) small, most active"]
    assert ctr.title.startswith("Clicks per round on small")


def test_other_data_have_their_own_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "ProcessWorkers", tiny.InProcess)
    pool = make_pool(tmp_path / "small.npz")
    few = ["--figure", "ctr", "--data", pool, "--rounds", "5", "--seeds", "1", "--quick"]
    result = call(*few, "--out", str(tmp_path / "out"))
    assert result.exit_code == 0, result.stderr
    results = read_results(tmp_path / "out" / "ctr-small")
    titles = [panel.title for panel in results.experiment.panels]
    assert titles == ["(a) small, most active", "(b) small, random draw"]
    assert "clicks in 100 rounds after 5 rounds" in result.stdout


def test_an_unusable_folder_is_one_line_and_exit_2(tmp_path):
    (tmp_path / "file").touch()
    result = call("--out", str(tmp_path / "file"), *FIGURE)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "file" in result.stderr and "Traceback" not in result.output


def test_failed_runs_are_told_and_exit_1(done, monkeypatch):
    _, folder = done
    failures = tuple(Failure(f"cell {i}", "ValueError: no", "") for i in range(7))
    report = RunReport(folder, (), RUNS, 0, failures)
    monkeypatch.setattr(
        experiments.experiment,
        "run_experiments",
        lambda *a, **k: iter([(folder, report)]),
        raising=False,
    )
    result = call(*FIGURE, "--out", str(folder.parent))
    assert result.exit_code == 1
    assert f"clubcascade: 7 of {RUNS} runs failed:" in result.stderr
    assert "  cell 4: ValueError: no" in result.stderr
    assert "and 2 more, see failures.txt" in result.stderr


def started(folder: Path, rounds: int) -> subprocess.Popen[str]:
    """Start a run and wait until it has written a cell."""
    cells = folder / "dcm" / "cells"
    before = len(list(cells.glob("*.npz")))
    run = subprocess.Popen(
        [*COMMAND, "--rounds", str(rounds), "--seeds", "1", "--out", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heed_interrupts,
    )
    deadline = time.monotonic() + 600
    while len(list(cells.glob("*.npz"))) == before:
        assert run.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    return run


def same(stopped: Path, whole: Path) -> None:
    """All results are the same, but for the times that the runs took."""
    for name in ("summary.csv", "config.toml", "figure.svg"):
        assert (stopped / name).read_bytes() == (whole / name).read_bytes()
    ours, theirs = (read_results(f).curves.drop(columns="seconds") for f in (stopped, whole))
    pd.testing.assert_frame_equal(ours, theirs, check_exact=True)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="process groups")
def test_ctrl_c_and_kill_can_be_continued_to_the_same_results(tmp_path):
    rounds = 20_000
    run = started(tmp_path / "stopped", rounds)
    os.killpg(run.pid, signal.SIGINT)
    _, errors = run.communicate(timeout=600)
    assert run.returncode == 130
    assert errors == "clubcascade: interrupted; the same command continues where it stopped\n"
    cells = tmp_path / "stopped" / "dcm" / "cells"
    assert 0 < len(list(cells.glob("*.npz"))) < RUNS

    run = started(tmp_path / "stopped", rounds)
    run.kill()
    run.communicate(timeout=600)  # ends when the workers, who share the pipes, are gone too
    assert len(list(cells.glob("*.npz"))) < RUNS

    for folder in ("stopped", "whole"):
        arguments = ["--rounds", str(rounds), "--seeds", "1", "--out", str(tmp_path / folder)]
        result = call("--figure", "dcm", *arguments)
        assert result.exit_code == 0
    same(tmp_path / "stopped" / "dcm", tmp_path / "whole" / "dcm")
