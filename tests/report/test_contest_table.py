"""The table of contests: what is bold, and what is said of the goals."""

from __future__ import annotations

from clubcascade.report.contest import Contest, contest_lines, goal_lines, write_contests
from clubcascade.report.estimates import Estimate
from tests.report import made


def contest(title, ratio, *, known=None, index=None, rounds=100_000, **world):
    (panel,) = made.experiment([made.world(title, **world)]).panels
    exact = Estimate(100.0, 90.0, 110.0)
    return Contest(
        panel=panel,
        rounds=rounds,
        seeds=10,
        ours=exact,
        best="C3",
        theirs=exact,
        ratio=Estimate(ratio, ratio - 0.1, ratio + 0.1),
        known=None if known is None else exact,
        known_ratio=None if known is None else Estimate(known, known, known),
        rand_index=index,
    )


GOOD = contest("good", 0.5, known=1.2, index=0.99, gap="orthogonal")
BEHIND = contest("behind", 1.2, known=1.7, index=0.9)
EDGE = contest("edge", 1.05, known=1.6, index=0.2, gap=0.2)
SHORT = contest("short", 0.7, known=1.0, index=0.2, rounds=10_000)
ALONE = contest("alone", 1.0, index=0.0, gap="random")


def test_what_misses_a_goal_is_bold():
    lines = list(contest_lines([GOOD, BEHIND, EDGE, SHORT, ALONE]))
    assert lines[0].startswith("| panel | lost | best other |")
    good = "| good | 100 ± 10 | C3 | 100 ± 10 | 0.500 [0.400, 0.600] | 100 ± 10 | "
    assert lines[2] == good + "1.200 [1.200, 1.200] | 0.990 |"
    assert "**1.200 [1.100, 1.300]**" in lines[3] and lines[3].endswith("| **0.900** |")
    assert "**1.700 [1.700, 1.700]**" in lines[3]
    assert not any("**" in line for line in lines[4:])
    assert lines[6].endswith("| – | – | 0.000 |")


def test_goals_and_who_misses_them():
    lines = list(goal_lines([GOOD, BEHIND, EDGE, SHORT, ALONE]))
    assert lines[2] == "- Median ratio to the best other policy: 1.000 (goal: at most 0.75)."
    assert lines[3] == "- Ratio to the best other policy at most 1.05: 4 of 5 panels (80%)."
    assert lines[4] == "    - behind: 1.200 [1.100, 1.300]"
    assert lines[5].endswith("knows the clusters at most 1.6: 3 of 4 panels (75%).")
    assert lines[6] == "    - behind: 1.700 [1.700, 1.700]"
    assert lines[7].endswith("gap 0.5 and more, 100,000 rounds: 1 of 2 panels (50%).")
    assert lines[8:] == ["    - behind: 0.900"]


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
    assert text.count("\n### ") + 1 == 3 and "(`grid`)" in text and "(`lists`)" not in text
    assert "Lost: regret. Seeds: 4." in text and "Lost: regret. Seeds: 2 to 4." in text
    assert text.count("**4 runs have no results.**") == 1
    assert "at most 1.05: 3 of 3 panels (100%)" in text


def test_a_best_other_policy_tuned_to_the_edge_is_flagged(tmp_path):
    plan = made.tuned(made.experiment([made.world("(a)")], ["cohort", "CLUB", "C3"]))
    finals = {("(a)", "cohort"): 50.0, ("(a)", "CLUB"): 60.0, ("(a)", "C3"): 70.0}
    made.write_tuning(made.folder(tmp_path / "grid", plan, made.regrets(finals)))
    text = write_contests(tmp_path, tmp_path / "c.md").read_text(encoding="utf-8")
    assert "| CLUB † |" in text and "at the edge of what was tried: (a), CLUB: reg low." in text
