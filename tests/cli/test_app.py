from __future__ import annotations

import inspect
import subprocess
import sys
from importlib.metadata import version

import pytest
from typer.testing import CliRunner

from clubcascade.cli import listing
from clubcascade.cli.app import app
from clubcascade.environments import ENVIRONMENTS
from clubcascade.experiment import read_experiment, shipped
from clubcascade.experiment.files import headings
from clubcascade.policies import POLICIES
from tests import outside


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


def test_what_is_listed_without_importing_it_is_what_it_is():
    for folder, registry in (("policies", POLICIES), ("environments", ENVIRONMENTS)):
        for name, cls in registry.items():
            if cls.__module__.startswith("clubcascade."):
                told = listing.summary(inspect.getdoc(cls)), listing.parameters(cls)
                assert listing.described(folder, name) == told
    assert set(listing.ENVIRONMENTS) == set(ENVIRONMENTS)
    for name, (figure, title) in headings().items():
        experiment = read_experiment(name)
        assert (figure, title) == (experiment.figure, experiment.title)


def test_the_list_has_policies_of_other_packages(tmp_path):
    done = outside.python(outside.distribution(tmp_path), "-m", "clubcascade", "list")
    assert "  greedy_ridge\n" in done.stdout and "  club_cascade\n" in done.stdout


@pytest.mark.parametrize("arguments", [["--help"], ["list"], ["data", "--help"], ["keys", "-h"]])
def test_a_short_command_loads_nothing_slow(arguments):
    slow = ("matplotlib", "numba", "numpy", "pandas", "pyarrow", "scipy")
    code = (
        f"import sys, clubcascade.cli.app\n"
        f"try: clubcascade.cli.app.app({arguments!r}, prog_name='clubcascade')\n"
        f"except SystemExit: pass\n"
        f"print([name for name in {slow!r} if name in sys.modules])"
    )
    done = python("-c", code)
    assert (done.stdout.splitlines()[-1], done.stderr) == ("[]", "")
