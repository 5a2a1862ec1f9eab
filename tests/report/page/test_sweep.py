from __future__ import annotations

import re

from clubcascade.report.page.sweep import sweep_tables, sweeps, varied
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


def test_policies_that_differ_in_two_parameters_are_a_sweep():
    (group,) = sweeps(PLAN.policies)
    assert len(group) == 6 and varied(group) == ["alpha", "beta"]
    assert sweeps(made.experiment([made.world("(a)")]).policies) == []


def test_a_row_per_alpha_and_a_column_per_beta_from_good_to_bad(tmp_path):
    finals = {("two clusters", c.label): 10.0 * (i + 1) for i, c in enumerate(PLAN.policies)}
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
    assert shares == [1.0, 0.8, 0.6, 0.4, 0.2, 0.0]


def test_nothing_swept_is_no_table(tmp_path):
    plan = made.experiment([made.world("(a)")])
    finals = {("(a)", c.label): 1.0 for c in plan.policies}
    assert sweep_tables(made.run(tmp_path / "x", plan, made.regrets(finals))) is None
