from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from clubcascade.cli import reproduce
from clubcascade.cli.app import app
from clubcascade.experiment import RunReport, read_results, shipped
from clubcascade.experiment.runner import Failure

COMMAND = [sys.executable, "-m", "clubcascade", "reproduce", "--figure", "synthetic"]
SHORT = ["--rounds", "40", "--seeds", "1", "--jobs", "2"]


def call(*arguments: str):
    return CliRunner().invoke(app, ["reproduce", *arguments])


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("done")
    run = subprocess.run(
        [*COMMAND, *SHORT], cwd=folder, capture_output=True, text=True, encoding="utf-8"
    )
    return run, folder / "clubcascade-results" / "synthetic"


def test_it_writes_the_figure_and_the_numbers(done):
    run, folder = done
    assert run.returncode == 0
    names = {path.name for path in folder.iterdir()}
    assert names == {
        "cells",
        "config.toml",
        "figure1_synthetic.png",
        "figure1_synthetic.svg",
        "provenance.json",
        "results.parquet",
        "summary.csv",
    }
    for name in names - {"cells"}:
        assert f"wrote {Path('clubcascade-results', 'synthetic', name)}" in run.stdout
    assert "regret after 40 rounds" in run.stdout
    assert "known clusters" in run.stdout
    assert len(read_results(folder).experiment.panels) == 4


def test_it_is_silent_when_piped(done):
    run, _ = done
    assert run.stderr == ""
    assert "\x1b" not in run.stdout and "compiling" not in run.stdout


def test_a_second_call_reuses_what_is_there(done):
    _, folder = done
    before = {path: path.stat().st_mtime_ns for path in (folder / "cells").iterdir()}
    result = call(*SHORT, "--out", str(folder.parent))
    assert result.exit_code == 0
    assert {path: path.stat().st_mtime_ns for path in (folder / "cells").iterdir()} == before


def test_an_unknown_figure_is_one_line_and_exit_2():
    result = call("--figure", "sintetic")
    assert result.exit_code == 2
    known = ", ".join(sorted(["all", *shipped()]))
    assert result.stderr == (
        f"clubcascade: unknown figure 'sintetic'; did you mean 'synthetic'? Known: {known}\n"
    )


def test_an_unusable_folder_is_one_line_and_exit_2(tmp_path):
    (tmp_path / "file").touch()
    result = call("--out", str(tmp_path / "file"), *SHORT)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "file" in result.stderr and "Traceback" not in result.output


def test_failed_runs_are_told_and_exit_1(done, monkeypatch):
    _, folder = done
    failures = tuple(Failure(f"cell {i}", "ValueError: no", "") for i in range(7))
    report = RunReport(folder, (), 24, 0, failures)
    monkeypatch.setattr(
        reproduce.experiment, "run_experiment", lambda *a, **k: report, raising=False
    )
    result = call("--out", str(folder.parent))
    assert result.exit_code == 1
    assert "clubcascade: 7 of 24 runs failed:" in result.stderr
    assert "  cell 4: ValueError: no" in result.stderr
    assert "and 2 more, see failures.txt" in result.stderr


def started(folder: Path, rounds: int) -> subprocess.Popen[str]:
    """Start a run and wait until it has written a cell."""
    cells = folder / "synthetic" / "cells"
    before = len(list(cells.glob("*.npz")))
    run = subprocess.Popen(
        [*COMMAND, "--rounds", str(rounds), "--seeds", "1", "--out", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while len(list(cells.glob("*.npz"))) == before:
        assert run.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    return run


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="process groups")
def test_ctrl_c_and_kill_can_be_continued_to_the_same_results(tmp_path):
    rounds = 10_000
    run = started(tmp_path / "stopped", rounds)
    os.killpg(run.pid, signal.SIGINT)
    _, errors = run.communicate(timeout=60)
    assert run.returncode == 130
    assert errors == "clubcascade: interrupted; the same command continues where it stopped\n"
    cells = tmp_path / "stopped" / "synthetic" / "cells"
    assert 0 < len(list(cells.glob("*.npz"))) < 24

    run = started(tmp_path / "stopped", rounds)
    run.kill()
    run.communicate(timeout=60)  # ends when the workers, who share the pipes, are gone too

    for folder in ("stopped", "whole"):
        result = call("--rounds", str(rounds), "--seeds", "1", "--out", str(tmp_path / folder))
        assert result.exit_code == 0
    for name in ("results.parquet", "summary.csv", "config.toml", "figure1_synthetic.svg"):
        stopped, whole = (tmp_path / f / "synthetic" / name for f in ("stopped", "whole"))
        assert stopped.read_bytes() == whole.read_bytes()
