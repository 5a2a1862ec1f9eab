"""``scripts/results`` puts result folders into the docs."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from clubcascade.report.claims import CLAIMS
from tests.docs.pages import DOCS, ROOT, read
from tests.report import made

SCRIPT = ROOT / "scripts" / "results"


@pytest.fixture
def place(tmp_path):
    for name, figure in (
        ("synthetic", 1),
        ("movielens-movielens-1m", 3),
        ("lists", None),
        ("grid", None),
    ):
        changes = {} if figure is None else {"figure": figure}
        plan = made.experiment([made.world("(a)")], ["CLUB", "C3"], **changes)
        finals = {("(a)", "CLUB"): 100.0, ("(a)", "C3"): 300.0}
        made.folder(tmp_path / "results" / name, plan, made.regrets(finals))
    (tmp_path / "docs" / "results").mkdir(parents=True)
    shutil.copy(DOCS / "results" / "claims-before.md", tmp_path / "docs" / "results")
    return tmp_path


def run(place):
    command = [sys.executable, SCRIPT, "results", "docs"]
    return subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)


def test_pictures_tables_and_claims(place):
    done = run(place)
    assert done.returncode == 0, done.stderr
    assert "not measured" in done.stdout, "the verdicts are counted"
    docs = place / "docs"
    names = {path.name for path in (docs / "img").iterdir()}
    field = names & {"field.png"}
    names -= field
    assert names == {"overview.png", "figure1.png", "figure3-movielens-1m.png", "lists.png"}
    page = read(docs / "field.md")
    assert field and page.startswith("# The state of the field") and "](img/field.png)" in page
    assert "Policies: 2. Panels: 1." in page, "grid alone is of the evaluation"
    tables = read(docs / "results" / "tables.md")
    for name in names - {"overview.png"}:
        assert f"](../img/{name})" in tables
    assert tables.count("| (a) | CLUB |") == 3
    claims = read(docs / "results" / "claims.md")
    rows = [line for line in claims.partition("## All")[2].splitlines() if line.startswith("| ")]
    assert rows[0].split(" | ")[3:] == ["before", "verdict", "measured |"]
    assert len(rows) == len(CLAIMS) + 1
    assert all(row.count(" | ") == rows[0].count(" | ") for row in rows)
    assert "| partly | **holds** |" in rows[2], "sentence 2: it was partly, and holds here"
    assert "| 2 | We conduct experiments" in claims.partition("## All")[0]


def test_a_first_look_does_not_get_into_the_docs(place):
    more = {"full": {"rounds": 100, "seeds": 10}}
    plan = made.experiment([made.world("(a)")], ["CLUB", "C3"], **more)
    finals = {("(a)", "CLUB"): 100.0, ("(a)", "C3"): 300.0}
    made.folder(place / "results" / "start", plan, made.regrets(finals))
    done = run(place)
    assert done.returncode == 1 and "start" in done.stderr
    assert not (place / "docs" / "img").exists()


def test_the_evaluation_alone_leaves_the_other_pages(place):
    for other in ("synthetic", "movielens-movielens-1m", "lists"):
        shutil.rmtree(place / "results" / other)
    done = run(place)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (place / "docs").iterdir()} == {"field.md", "img", "results"}
    assert [path.name for path in (place / "docs" / "results").iterdir()] == ["claims-before.md"]
