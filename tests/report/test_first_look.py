"""A run with fewer seeds or rounds than its file asks for shows numbers, and judges nothing."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from clubcascade.experiment.schema import Length
from clubcascade.report.contest import write_contests
from clubcascade.report.markdown import write_markdown
from clubcascade.report.page import write_report
from tests.report import made

VERDICTS = re.compile(r"(✓|✗|◐) |\*\*(holds|partly|does not hold|undecided)|\d (hold|speak)s?\b")
PLAN = made.experiment([made.world("(a)")], ["cohort", "CLUB", "C3"], figure=1)
QUICK = replace(PLAN, full=Length(PLAN.longest, 10))
FINALS = {("(a)", "cohort"): 200.0, ("(a)", "CLUB"): 100.0, ("(a)", "C3"): 300.0}


@pytest.fixture
def quick(tmp_path):
    made.folder(tmp_path / "synthetic", QUICK, made.regrets(FINALS))
    return tmp_path


def test_the_page_says_so_on_top_and_has_no_verdict(quick):
    text = write_report(quick).read_text(encoding="utf-8")
    body = re.search(r"<main>.*</main>", text, re.S)[0]
    assert "A first look" in body[: body.index("<table")]
    assert not VERDICTS.search(body), VERDICTS.search(body)
    assert "ratio 0.3" in body, "numbers are shown"
    assert "no verdict" in body and '"runs":{"synthetic":' in text


def test_markdown_has_no_verdict_either(quick):
    text = write_markdown(quick, quick / "report.md").read_text(encoding="utf-8")
    assert text.startswith("**A first look**") and "**no verdict**" in text
    assert not VERDICTS.search(text), VERDICTS.search(text)
    text = write_contests(quick, quick / "contests.md").read_text(encoding="utf-8")
    assert "A first look" in text
    assert "| **" not in text, "no ratio is said to be too large"


def test_a_whole_run_beside_it_is_judged(quick):
    made.folder(quick / "synthetic-more", PLAN, made.regrets(FINALS))
    text = write_report(quick).read_text(encoding="utf-8")
    assert "A first look" in text and "synthetic-more" not in text[: text.index("<table")]
    assert "1 of 1 comparison holds, 1 more of a first look" in text
    text = write_contests(quick, quick / "contests.md").read_text(encoding="utf-8")
    assert "A first look" in text and text.count("| **2.0") == 1


def test_a_folder_that_does_not_say_is_a_whole_run(tmp_path):
    made.folder(tmp_path / "synthetic", PLAN, made.regrets(FINALS))
    assert "A first look" not in write_report(tmp_path).read_text(encoding="utf-8")
