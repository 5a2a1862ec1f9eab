from __future__ import annotations

from clubcascade.report.claims import CLAIMS
from clubcascade.report.markdown import write_markdown
from tests.report import made


def test_claims_and_tables(tmp_path):
    plan = made.experiment([made.world("a | b <i>")], ["CLUB", "C3"], figure=1)
    finals = {("a | b <i>", "CLUB"): 100.0, ("a | b <i>", "C3"): 300.0}
    made.folder(tmp_path / "synthetic", plan, made.regrets(finals))
    text = write_markdown(tmp_path, tmp_path / "report.md").read_text(encoding="utf-8")
    claims = [line for line in text.splitlines() if "“" in line]
    assert len(claims) == len(CLAIMS)
    assert claims[1].startswith("| 2 | Abstract | “We conduct experiments")
    assert "**holds** | 1 of 1 comparison holds; ratio 0.33" in claims[1]
    assert "### Figure 1: made by hand (`synthetic`)" in text
    (row,) = [line for line in text.splitlines() if line.startswith("| a \\| b &lt;i> | CLUB |")]
    assert "± " in row


def test_tuned_values_at_the_edge_are_flagged(tmp_path):
    plan = made.tuned(made.experiment([made.world("(a)")], ["CLUB", "C3"]))
    finals = {("(a)", "CLUB"): 100.0, ("(a)", "C3"): 300.0}
    made.write_tuning(made.folder(tmp_path / "synthetic", plan, made.regrets(finals)))
    text = write_markdown(tmp_path, tmp_path / "report.md").read_text(encoding="utf-8")
    assert "| (a) | CLUB † |" in text and "| (a) | C3 |" in text
    assert (
        "† tuned, and the best value is at the edge of what was tried: (a), CLUB: reg low." in text
    )
