from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest
from typer.testing import CliRunner

from clubcascade.cli.app import app
from clubcascade.environments import ENVIRONMENTS
from clubcascade.experiment import shipped
from clubcascade.policies import POLICIES


def call(*arguments: str):
    return CliRunner().invoke(app, list(arguments))


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True)


def test_the_version_is_shown():
    result = call("--version")
    assert result.exit_code == 0
    assert result.stdout == f"clubcascade {version('clubcascade')}\n"


def test_no_command_shows_the_help():
    result = call()
    assert "reproduce" in result.output and "list" in result.output


def test_the_list_shows_policies_environments_and_figures():
    result = call("list")
    assert result.exit_code == 0
    lines = [line.strip() for line in result.stdout.splitlines()]
    for name in [*POLICIES, *ENVIRONMENTS, *shipped()]:
        assert name in lines
    assert any(line.startswith("Figure 4 of the paper: Clicks per round") for line in lines)
    assert "n_features" in result.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["lst"],
        ["reproduce", "--figures", "x"],
        ["reproduce", "--rounds", "0"],
        ["reproduce", "--rounds", "many"],
        ["reproduce", "--seeds", "-1"],
        ["reproduce", "--jobs", "0"],
        ["list", "policies"],
    ],
)
def test_wrong_use_exits_with_2(arguments):
    result = call(*arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_python_m_is_the_command():
    done = python("-m", "clubcascade", "--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("clubcascade ")


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_the_extras_it_says_how_to_get_them(missing):
    code = f"import sys; sys.modules[{missing!r}] = None; from clubcascade.cli import main; main()"
    done = python("-c", code)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"needs {missing}" in done.stderr
    assert 'pip install "clubcascade[experiments]"' in done.stderr


def test_help_loads_no_plots_and_no_tables():
    code = (
        "import sys, clubcascade.cli.app\n"
        "print([name for name in ('matplotlib', 'pandas') if name in sys.modules])"
    )
    assert python("-c", code).stdout == "[]\n"
