from __future__ import annotations

import pytest
from typer.testing import CliRunner

from clubcascade.cli.app import app
from tests.report import made


def call(*arguments: object):
    return CliRunner().invoke(app, ["report", *map(str, arguments)])


@pytest.fixture
def place(tmp_path):
    plan = made.experiment([made.world("(a)")], ["CLUB", "C3"], figure=1)
    finals = {("(a)", "CLUB"): 50.0, ("(a)", "C3"): 100.0}
    made.folder(tmp_path / "synthetic", plan, made.regrets(finals))
    return tmp_path


def test_it_writes_the_page_and_the_figures(place):
    result = call(place)
    assert result.exit_code == 0, result.output
    files = ["report.html", "synthetic/figure1_synthetic.png", "synthetic/figure1_synthetic.svg"]
    assert result.stdout.splitlines() == [f"wrote {place / file}" for file in files]
    assert all((place / file).stat().st_size > 1000 for file in files)


def test_everything_can_go_elsewhere(place):
    out, picture, tables = place / "a.html", place / "b.svg", place / "c.md"
    cohort = made.experiment([made.world("(a)")], ["cohort", "C3"])
    finals = {("(a)", "cohort"): 50.0, ("(a)", "C3"): 100.0}
    made.folder(place / "grid", cohort, made.regrets(finals))
    contests = place / "d.md"
    more = ["--markdown", tables, "--contests", contests, "--no-figures"]
    result = call(place, "--out", out, "--picture", picture, *more)
    assert result.exit_code == 0, result.output
    wrote = (out, picture, tables, contests)
    assert result.stdout.splitlines() == [f"wrote {p}" for p in wrote]
    assert "0.50" in tables.read_text(encoding="utf-8")
    assert "| C3 | 1" in contests.read_text(encoding="utf-8")
    assert not (place / "report.html").exists()
    assert not list((place / "synthetic").glob("*.png"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "must be a folder of results, got nowhere"),
        (["empty"], "no results in empty; run: clubcascade reproduce --out empty"),
        (["synthetic", "--out", "no/page.html"], "no such folder: 'no'"),
        (["synthetic", "--no-figures", "--picture", "x.gif"], "must be one of"),
        (["synthetic", "--no-figures", "--contests", "x.md"], "policy must have met others"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_2(place, monkeypatch, arguments, words):
    monkeypatch.chdir(place)
    (place / "empty").mkdir()
    result = call(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("clubcascade: ") and result.stderr.count("\n") == 1
    assert words in result.stderr and "Traceback" not in result.output
