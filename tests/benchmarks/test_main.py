from __future__ import annotations

import subprocess
import sys

import pytest

from benchmarks import engine
from benchmarks.engine import growth
from benchmarks.engine.__main__ import main
from benchmarks.engine.process import ROOT, Job, Part
from benchmarks.engine.table import read


@pytest.fixture
def tiny(monkeypatch):
    """Parts that are over at once."""
    few = {"rounds": 100, "repeats": 1}
    jobs = {
        "items": lambda quick: [Job("i", growth.items, {"n_items": 20, **few})],
        "features": lambda quick: [Job("f", growth.features, {"n_features": 2, **few})],
    }
    tables = {"items": growth.items_table, "features": growth.features_table}
    parts = {name: Part(name, jobs[name], tables[name]) for name in jobs}
    monkeypatch.setattr(engine, "PARTS", parts)


def test_it_prints_tables_and_writes_files(tiny, tmp_path, capsys):
    main(["--out", str(tmp_path / "new")])
    said = capsys.readouterr().out
    assert "[start:items]" in said and "[start:features]" in said
    names = ["bench.json", "bench.md", "growth.png", "growth.svg"]
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == names
    for name in names:
        assert f"wrote {tmp_path / 'new' / name}" in said


def test_one_part_keeps_the_others(tiny, tmp_path):
    main(["--out", str(tmp_path)])
    before = read(tmp_path)
    main(["--only", "features", "--out", str(tmp_path)])
    after = read(tmp_path)
    assert [table.name for table in after.tables] == ["items", "features"]
    assert after.tables[0] == before.tables[0]


@pytest.mark.parametrize(
    ("arguments", "words"), [(["--only", "sped"], "did you mean 'speed'"), ([], "bench.json is no")]
)
def test_what_is_refused_changes_nothing(tmp_path, capsys, arguments, words):
    (tmp_path / "bench.json").write_text("mine")
    if arguments:
        (tmp_path / "bench.json").unlink()
    with pytest.raises(SystemExit) as caught:
        main([*arguments, "--out", str(tmp_path)])
    assert caught.value.code == 2 and words in capsys.readouterr().err
    assert arguments or (tmp_path / "bench.json").read_text() == "mine"


@pytest.mark.slow
def test_a_real_part_from_the_shell(tmp_path):
    command = [sys.executable, "-m", "benchmarks.engine", "--quick", "--only", "start"]
    done = subprocess.run(
        [*command, "--out", str(tmp_path)], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    assert "import clubcascade" in done.stdout
    assert read(tmp_path).quick
