"""The tables of contests: what is bold, and what is said of a folder."""

from __future__ import annotations

from clubcascade.report.contest import write_contests
from tests.report import made


def test_a_row_and_what_is_bold(tmp_path):
    labels = ["cohort", "C3", "known clusters"]
    finals = {(panel, x): 100.0 for panel in ("(a)", "(b)") for x in labels}
    finals |= {("(b)", "cohort"): 200.0, ("(a)", "known clusters"): 50.0}
    plan = made.experiment([made.world("(a)"), made.world("(b)")], labels)
    made.folder(tmp_path / "grid", plan, made.regrets(finals))
    lines = write_contests(tmp_path, tmp_path / "c.md").read_text(encoding="utf-8").splitlines()
    heads = next(i for i, x in enumerate(lines) if x.startswith("| panel | lost | best other |"))
    assert lines[heads + 1] == "|---|---:|---|---:|---:|---:|---:|---:|"
    equal, behind = (
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in lines[heads + 2 : heads + 4]
    )
    assert equal[0] == "(a)" and equal[2] == "C3" and " ± " in equal[1]
    assert equal[4].startswith("1.0") and equal[6].startswith("1.9") and equal[7] == "–"
    assert behind[4].startswith("**2.0") and behind[4].endswith("]**")


def test_a_file_with_a_table_for_each_folder(tmp_path):
    for name, labels in (("grid", ["cohort", "C3"]), ("lists", ["CLUB", "C3"])):
        plan = made.experiment([made.world("(a)")], labels)
        made.folder(tmp_path / name, plan, made.regrets({("(a)", label): 50.0 for label in labels}))
    gone = made.experiment([made.world("(a)"), made.world("(b)")], ["cohort", "C3"])
    half = made.run(
        tmp_path,
        gone,
        made.regrets({(p, c): 9.0 for p in ("(a)", "(b)") for c in ("cohort", "C3")}),
    )
    half = made.without(half, lambda rows: (rows["panel"] == "(b)") & (rows["seed"] > 1))
    made.write(tmp_path / "grid_real", half.results)
    text = write_contests(tmp_path, tmp_path / "c.md").read_text(encoding="utf-8")
    assert text.count("\n### ") + 1 == 2 and "(`grid`)" in text and "(`lists`)" not in text
    assert "Lost: regret. Seeds: 4." in text and "Lost: regret. Seeds: 2 to 4." in text
    assert text.count("**4 runs have no results.**") == 1


def test_a_best_other_policy_tuned_to_the_edge_is_flagged(tmp_path):
    plan = made.tuned(made.experiment([made.world("(a)")], ["cohort", "CLUB", "C3"]))
    finals = {("(a)", "cohort"): 50.0, ("(a)", "CLUB"): 60.0, ("(a)", "C3"): 70.0}
    made.write_tuning(made.folder(tmp_path / "grid", plan, made.regrets(finals)))
    text = write_contests(tmp_path, tmp_path / "c.md").read_text(encoding="utf-8")
    assert "| CLUB † |" in text and "at the edge of what was tried: (a), CLUB: reg low." in text
