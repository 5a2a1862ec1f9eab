from __future__ import annotations

import dataclasses

import pytest

from benchmarks import engine
from benchmarks.engine.table import Column, Report, ResultTable, read, write
from clubcascade.errors import ClubCascadeError, UnknownName

MACHINE = {
    "processor": "one",
    "cores": 2,
    "memory_gb": 8,
    "python": "3.11",
    "packages": {"numpy": "2"},
    "commit": None,
    "finished": "2026-01-01",
}


def table(name="speed", value=1.5):
    columns = (Column("what", "what"), Column("us", "µs", 2))
    return ResultTable(
        name, "A title", "A note.", columns, ({"what": "a", "us": value}, {"what": "b"})
    )


def report(*tables, **changes):
    return dataclasses.replace(Report(MACHINE, False, tables), **changes)


def test_a_report_is_read_as_it_was_written(tmp_path):
    whole = report(table(), table("users"))
    paths = write(whole, tmp_path / "new")
    assert [path.name for path in paths] == ["bench.json", "bench.md"]
    assert read(tmp_path / "new") == whole
    assert not list((tmp_path / "new").glob("*.tmp"))


def test_no_file_is_no_report(tmp_path):
    assert read(tmp_path) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 99}'])
def test_a_foreign_file_is_refused(tmp_path, text):
    (tmp_path / "bench.json").write_text(text)
    with pytest.raises(ClubCascadeError, match=r"bench\.json"):
        read(tmp_path)


def test_markdown_has_a_section_per_table():
    text = report(table()).markdown()
    assert "| what | µs |\n| --- | ---: |\n| a | 1.5 |\n| b |  |" in text
    assert "<!-- --8<-- [start:speed] -->" in text and "<!-- --8<-- [end:speed] -->" in text
    assert "[start:machine]" in text and "quick" not in text
    assert "a quick run" in report(table(), quick=True).markdown()


def test_tables_of_an_earlier_run_of_the_same_kind_are_kept():
    old = report(table("speed", 1.0), table("users", 2.0))
    new = report(table("users", 3.0), table("start", 4.0))
    joined = new.joined(old)
    assert [(t.name, t.rows[0]["us"]) for t in joined.tables] == [
        ("speed", 1.0),
        ("users", 3.0),
        ("start", 4.0),
    ]
    assert new.joined(None) is new
    assert new.joined(report(*old.tables, quick=True)) is new
    assert new.joined(report(*old.tables, machine={**MACHINE, "commit": "abc"})) is new


def test_an_unknown_part_is_refused_before_anything_runs():
    with pytest.raises(UnknownName, match="did you mean 'speed'"):
        engine.measure(["sped"])
