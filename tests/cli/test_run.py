from __future__ import annotations

import subprocess
import sys
import tomllib

import pytest
from typer.testing import CliRunner

from clubcascade.cli.app import app
from clubcascade.experiment import read_results
from clubcascade.experiment.config import parse
from clubcascade.experiment.results import experiment_text
from tests.experiment import tiny


def call(*arguments: str):
    return CliRunner().invoke(app, ["run", *arguments])


def test_the_example_is_an_experiment_and_can_be_printed(tmp_path):
    result = call("--example")
    assert result.exit_code == 0
    assert len(parse(tomllib.loads(result.stdout)).policies) == 4


def test_the_example_runs(tmp_path):
    mine = tmp_path / "my.toml"
    mine.write_text(call("--example").stdout, encoding="utf-8")
    command = [sys.executable, "-m", "clubcascade", "run", "my.toml", "--quick", "--rounds", "30"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    folder = tmp_path / "clubcascade-results" / "my"
    results = read_results(folder)
    assert results.curves["policy"].nunique() == 4
    assert all(panel.tuned for panel in results.experiment.panels)
    assert (folder / "tuning.csv").is_file() and (folder / "figure.png").is_file()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("round = 3", "unknown key 'round' in the experiment file; did you mean 'rounds'?"),
        ("title = ", "my.toml: not a TOML file"),
    ],
)
def test_a_wrong_file_is_one_line_and_exit_2(tmp_path, text, message):
    (tmp_path / "my.toml").write_text(text)
    result = call(str(tmp_path / "my.toml"))
    assert result.exit_code == 2
    assert message in result.stderr and result.stderr.count("\n") == 1


def test_a_missing_file_is_one_line_and_exit_2(tmp_path):
    result = call(str(tmp_path / "my.toml"))
    assert result.exit_code == 2
    assert "my.toml" in result.stderr and result.stderr.count("\n") == 1
    result = call()
    assert result.exit_code == 2
    assert "clubcascade run --example > my.toml" in result.stderr


def test_missing_data_are_told_with_the_command(tmp_path, monkeypatch):
    monkeypatch.setenv("CLUBCASCADE_DATA", str(tmp_path / "none"))
    text = experiment_text(tiny.experiment(panels=[tiny.pool("yelp")]))
    (tmp_path / "my.toml").write_text(text)
    result = call(str(tmp_path / "my.toml"), "--out", str(tmp_path / "out"))
    assert result.exit_code == 2
    assert "Run: clubcascade data yelp --path" in result.stderr


def test_wrong_engines_are_told(tmp_path):
    (tmp_path / "my.toml").write_text(experiment_text(tiny.experiment()))
    result = call(str(tmp_path / "my.toml"), "--engine", "rey", "--out", str(tmp_path / "out"))
    assert result.exit_code == 2
    assert "engine must be one of" in result.stderr
    assert not (tmp_path / "out").exists()
