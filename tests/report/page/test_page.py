from __future__ import annotations

import json
import re
from importlib import resources

import pytest
from markupsafe import escape
from plotly.offline import get_plotlyjs

from clubcascade.errors import InvalidArgument
from clubcascade.experiment.files import shipped
from clubcascade.report import page_data
from clubcascade.report.claims import CLAIMS
from clubcascade.report.page import write_report
from tests.report import made

EVIL = "</script><script>alert(1)</script><b title='\"&"


def even(plan):
    return made.regrets({(p.title, c.label): 10.0 for p in plan.panels for c in plan.policies})


@pytest.fixture
def plan():
    return made.experiment([made.world("(a)"), made.world("(b)")], figure=1)


def own(text):
    """The page without the library that draws it."""
    return text.replace(get_plotlyjs(), "")


def embedded(text):
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    return json.loads(data)


def test_one_page_with_everything_and_nothing_from_outside(tmp_path, plan):
    made.folder(tmp_path / "synthetic", plan, even(plan))
    path = write_report(tmp_path)
    assert path == tmp_path / "report.html"
    text = path.read_text(encoding="utf-8")
    for claim in CLAIMS:
        assert str(escape(claim.quote)) in text
    assert "Figure 1: made by hand" in text
    assert list(embedded(text)["runs"]) == ["synthetic"]
    assert not re.search(r"https?://", own(text))
    assert not re.search(r"<(link|img|iframe|script[^>]* src)|@import|url\(", own(text))
    assert "default-src 'none'" in text


def test_nothing_in_the_page_ends_a_script_early():
    folder = resources.files("clubcascade.report") / "assets"
    texts = [(folder / name).read_text(encoding="utf-8") for name in ("page.css", "page.js")]
    for text in (*texts, get_plotlyjs()):
        assert not re.search(r"</(script|style)|<!--", text, re.I)


def test_titles_and_labels_cannot_break_out(tmp_path):
    panel = made.world(EVIL)
    made.LABELS[EVIL] = {"policy": "random"}
    try:
        plan = made.experiment([panel], [EVIL, "CLUB"], title=EVIL)
    finally:
        del made.LABELS[EVIL]
    folder = made.folder(tmp_path / "synthetic", plan, even(plan))
    (folder / "failures.txt").write_text(f"{EVIL}\n{EVIL}\n")
    (folder / "provenance.json").write_text(json.dumps({EVIL: EVIL, "commit": EVIL}))
    text = write_report(folder).read_text(encoding="utf-8")
    assert "<script>alert" not in text and "<b title" not in text
    assert own(text).count("<script") == own(text).count("</script>") == 3
    run = embedded(text)["runs"]["synthetic"]
    assert run["panels"][0]["title"] == EVIL
    assert "<" not in run["policies"][0]["name"], "Plotly reads HTML in its texts"


def test_the_page_may_go_elsewhere(tmp_path, plan):
    folder = made.folder(tmp_path / "results", plan, even(plan))
    path = write_report(folder, tmp_path / "elsewhere.html")
    assert path == tmp_path / "elsewhere.html" and path.is_file()
    assert not (folder / "report.html").exists()
    with pytest.raises(OSError, match="nowhere"):
        write_report(folder, tmp_path / "nowhere" / "page.html")


def test_the_same_results_give_the_same_page(tmp_path, plan):
    folder = made.folder(tmp_path / "synthetic", plan, even(plan))
    first = write_report(folder).read_bytes()
    assert write_report(folder).read_bytes() == first


def test_what_was_not_run_is_named_with_its_command(tmp_path, plan):
    made.folder(tmp_path / "mine", made.experiment([made.world("(a)")]), even(plan))
    text = write_report(tmp_path).read_text(encoding="utf-8")
    for name in shipped():
        assert f"clubcascade reproduce --figure {name}</code>" in text


def test_broken_folders_failures_and_missing_runs_are_shown(tmp_path, plan):
    folder = made.folder(tmp_path / "synthetic", plan, even(plan))
    rows = made.curves(plan, even(plan))
    gone = (rows["panel"] == "(b)") & (rows["policy"] == "C3")
    rows[~gone].to_parquet(folder / "results.parquet")
    (folder / "failures.txt").write_text("(b), C3, seed 0\nMemoryError: too much\n\n")
    (made.folder(tmp_path / "yelp", plan, even(plan)) / "results.parquet").write_bytes(b"no")
    text = write_report(tmp_path).read_text(encoding="utf-8")
    assert "yelp cannot be read" in text
    assert "1 run failed" in text and "MemoryError: too much" in text
    assert "3 runs have no results: (b), C3, seed 1; (b), C3, seed 2; (b), C3, seed 3" in text


def test_a_folder_whose_runs_all_failed_still_has_a_section(tmp_path, plan):
    folder = made.folder(tmp_path / "synthetic", plan, even(plan))
    made.curves(plan, even(plan)).iloc[:0].to_parquet(folder / "results.parquet")
    text = write_report(folder).read_text(encoding="utf-8")
    assert "No run has results." in text
    assert embedded(text)["runs"] == {}


def test_one_seed_has_numbers_without_intervals(tmp_path):
    plan = made.experiment([made.world("(a)")], seeds=1)
    text = write_report(made.folder(tmp_path / "x", plan, even(plan))).read_text(encoding="utf-8")
    assert "one run only, so no intervals" in text
    assert not re.search(r'<td class="n[^>]*>[^<]*±', text)


def test_no_results_are_an_error_and_no_page(tmp_path):
    with pytest.raises(InvalidArgument, match="no results in"):
        write_report(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_large_page_has_fewer_points(tmp_path, monkeypatch):
    plan = made.experiment([made.world("(a)")], rounds=5000)
    folder = made.folder(tmp_path / "synthetic", plan, even(plan))

    def points():
        data = embedded(write_report(folder).read_text(encoding="utf-8"))
        return len(data["runs"]["synthetic"]["grids"][0])

    assert points() == page_data.POINTS
    text = (folder / "report.html").read_text(encoding="utf-8")
    monkeypatch.setattr(page_data, "LARGEST", len(json.dumps(embedded(text))) - 1)
    assert points() == page_data.POINTS // 2
    monkeypatch.setattr(page_data, "LARGEST", 1)
    assert points() == page_data.FEWEST
