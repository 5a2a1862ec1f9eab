from __future__ import annotations

import re

import pytest

from clubcascade.report.page.section import run_section
from clubcascade.report.page.sweep import sweep_tables
from tests.experiment import tiny
from tests.report import made

PLAN = tiny.experiment(
    policies=[
        tiny.policy("club_cascade", f"a={a}, b={b}", users="all", alpha=a, beta=b)
        for a in (1.0, 2.0)
        for b in (0.1, 0.3, 1.0)
    ]
    + [tiny.policy()]
)


def test_a_row_per_alpha_and_a_column_per_beta_from_good_to_bad(tmp_path):
    finals = {("two clusters", c.label): 10.0 * 2**i for i, c in enumerate(PLAN.policies)}
    run = made.run(tmp_path / "sweep", PLAN, made.regrets(finals))
    text = sweep_tables(run)
    assert re.findall(r"<th(?: [^>]*)?>(.*?)</th>", text) == [
        "alpha \\ beta",
        "0.1",
        "0.3",
        "1.0",
        "1.0",
        "2.0",
    ]
    shares = [float(share) for share in re.findall(r"--share: ([\d.]+)", text)]
    assert shares == pytest.approx([1.0, 0.8, 0.6, 0.4, 0.2, 0.0], abs=0.02)
    assert text in run_section(run)


def test_the_limits_are_rows_at_the_ends_and_the_map_hides_the_curves(tmp_path):
    plan = made.sweep()
    finals = {("two clusters", c.label): 10.0 for c in plan.policies}
    run = made.run(tmp_path / "sweep", plan, made.regrets(finals))
    text = sweep_tables(run)
    heads = re.findall(r'<th scope="row">(.*?)</th>', text)
    ends = ["Multiple (alpha → 0)", "C3 (alpha → ∞)"]
    assert heads == [ends[0], "0.5", "1.0", "2.0", ends[1]]
    assert re.search(r'<details><summary>The curves of all.*?<div class="figure"', run_section(run))


def test_nothing_swept_is_no_table(tmp_path):
    plan = made.experiment([made.world("(a)")])
    finals = {("(a)", c.label): 1.0 for c in plan.policies}
    assert sweep_tables(made.run(tmp_path / "x", plan, made.regrets(finals))) is None
