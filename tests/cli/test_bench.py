from typer.testing import CliRunner

from clubcascade.cli.app import app


def test_the_command_of_before_says_where_the_benchmarks_are():
    result = CliRunner().invoke(app, ["bench", "--only", "speed,users", "--out", "my folder"])
    assert result.exit_code == 2 and result.stdout == ""
    assert "not part of the installed package" in result.stderr
    assert result.stderr.endswith("scripts/bench --only speed,users --out 'my folder'\n")


def test_the_help_does_not_name_it():
    assert "bench" not in CliRunner().invoke(app, ["--help"]).stdout
