from __future__ import annotations

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from clubcascade import bench
from clubcascade.bench import growth
from clubcascade.bench.part import Job
from clubcascade.cli.app import app


def call(*arguments: str):
    return CliRunner().invoke(app, ["bench", *arguments])


@pytest.fixture
def tiny(monkeypatch):
    """Parts that are over at once."""
    few = {"rounds": 100, "repeats": 1}
    jobs = {
        "items": lambda quick: [Job("i", growth.items, {"n_items": 20, **few})],
        "features": lambda quick: [Job("f", growth.features, {"n_features": 2, **few})],
    }
    tables = {"items": growth.items_table, "features": growth.features_table}
    parts = {name: bench.part.Part(name, jobs[name], tables[name]) for name in jobs}
    monkeypatch.setattr(bench, "PARTS", parts)


def test_it_prints_tables_and_writes_files(tiny, tmp_path):
    result = call("--out", str(tmp_path / "new"))
    assert result.exit_code == 0, result.output
    assert "A round against the number of items" in result.stdout
    names = ["bench.json", "bench.md", "growth.png", "growth.svg"]
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == names
    for name in names:
        assert f"wrote {tmp_path / 'new' / name}" in result.stdout
    assert result.stderr == ""


def test_one_part_keeps_the_others(tiny, tmp_path):
    call("--out", str(tmp_path))
    before = bench.read(tmp_path)
    result = call("--only", "features", "--out", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert "number of items" not in result.stdout
    after = bench.read(tmp_path)
    assert [table.name for table in after.tables] == ["items", "features"]
    assert after.tables[0] == before.tables[0]


def test_an_unknown_part_is_one_line_and_exit_2():
    result = call("--only", "sped")
    assert result.exit_code == 2
    assert result.stderr.startswith("clubcascade: unknown part 'sped'; did you mean 'speed'?")
    assert result.stderr.count("\n") == 1


def test_a_foreign_file_is_not_overwritten(tiny, tmp_path):
    (tmp_path / "bench.json").write_text("mine")
    result = call("--out", str(tmp_path))
    assert result.exit_code == 2 and "bench.json" in result.stderr
    assert (tmp_path / "bench.json").read_text() == "mine"


@pytest.mark.slow
def test_a_real_part_from_the_shell(tmp_path):
    command = [sys.executable, "-m", "clubcascade", "bench", "--quick", "--only", "start"]
    done = subprocess.run([*command, "--out", str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""
    assert "import clubcascade" in done.stdout
    assert bench.read(tmp_path).quick
