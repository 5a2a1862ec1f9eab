"""Ratios in users' first lists, and what is said of the goals of the protocol."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from msgspec import structs

from benchmarks.evaluation.__main__ import main
from benchmarks.evaluation.goals import goal_lines, newcomer_lines
from clubcascade.experiment.schema import Length
from clubcascade.report.contest import after, contest, contest_lines, lost_in_lists, write_contests
from tests.report import made

LOST = {"cohort": 9.0, "MultipleLinUCB": 10.0, "Popular": 8.0, "known clusters": 1.0}
SWITCH = {"at": 0.5, "switch": 0.5}
NEW = {"at": 0.5, "users": "new"}


def a_run(panels, lost):
    """A run with a table of what was lost in first lists, by panel, policy, phase and lists."""
    plan = made.experiment(panels, list(LOST), rounds=120)
    rows = [
        (panel.title, label, seed, phase, n, lost(panel.title, label, phase, n) * (10 + seed), 1)
        for panel in plan.panels
        for label in LOST
        for seed in plan.seeds
        for phase in range(2 if "changes" in panel.parameters else 1)
        for n in (1, 5, 20, 100, math.inf)
    ]
    columns = ["panel", "policy", "seed", "phase", "lists", "regret", "rounds"]
    values = made.regrets({(p.title, label): LOST[label] for p in plan.panels for label in LOST})
    whole = made.run(Path("grid"), plan, values)
    return replace(
        whole, results=replace(whole.results, visits=pd.DataFrame(rows, columns=columns))
    )


def compared(run, lists, phase=None, among=()):
    panel = run.results.experiment.panels[0]
    return contest(run, panel, lost_in_lists(run, panel, lists, phase), among=among)


def test_the_best_rival_is_that_of_the_measure_and_never_who_is_told():
    def lost(panel, label, phase, n):
        return {"Popular": 20.0}.get(label, LOST[label]) if n == 20 else LOST[label]

    run = a_run([made.world("(a)")], lost)
    five, twenty = (compared(run, n) for n in (5, 20))
    assert (five.other, twenty.other) == ("Popular", "MultipleLinUCB")
    assert five.ratio.value == pytest.approx(9 / 8)
    assert twenty.ratio.value == pytest.approx(0.9)
    assert [n for n in (5, 20, 100) for _ in after(run, n)] == [5, 20]  # 20 a user


def test_newcomers_are_the_second_phase_alone():
    def lost(panel, label, phase, n):
        return LOST[label] if phase == 0 else {"cohort": 3.0, "Popular": 2.0}.get(label, 4.0)

    run = a_run([made.world("new", changes=NEW)], lost)
    assert compared(run, 5, phase=1).ratio.value == pytest.approx(1.5)
    assert compared(run, 5).ratio.value == pytest.approx(12 / 10)
    fair = compared(run, 5, phase=1, among=("nobody", "MultipleLinUCB"))
    assert fair.other == "MultipleLinUCB" and fair.ratio.value == pytest.approx(0.75)
    assert compared(run, 5, among=("nobody",)) is None
    lines = list(contest_lines(run))
    (heads,) = [i for i, line in enumerate(lines) if "5 lists" in line]
    assert lines[heads] == "| panel | 5 lists a user | 20 lists a user | 100 lists a user | end |"
    assert "| new | **1.200" in lines[heads + 2] and "| – |" in lines[heads + 2]
    assert list(newcomer_lines(run))[0].startswith(
        "| newcomers | list 1, to the best | list 1, to own models |"
    )
    full = structs.replace(run.results.experiment, full=Length(200, 4))
    quick = replace(run, results=replace(run.results, experiment=full))
    assert quick.first_look and not any(
        "**" in x for x in [*contest_lines(quick), *newcomer_lines(quick)]
    )
    goals = list(goal_lines([run]))
    assert "- Newcomers, lists 1 to 5, popular list: at most 1 in 0 of 1 panels." in goals
    assert not any("on ratings" in line for line in goals)


def test_goals_and_who_misses_them():
    def lost(panel, label, phase, n):
        return 7.0 if (panel, label, phase) == ("switch", "cohort", 1) else LOST[label]

    worlds = [made.world("(a)"), made.world("switch", changes=SWITCH)]
    worlds += [made.world("rare", click_rates=[0.0, 0.03])]
    worlds += [made.world("many", n_users=2000, n_clusters=20, gap="random")]
    lines = list(goal_lines([a_run(worlds, lost)]))
    first = "- After 5 lists a user: median ratio to the best rival 1.125 (goal: at most 0.92)."
    assert lines[0] == first
    assert lines[1] == "- After 5 lists a user: at most 1.05 in 1 of 3 panels."
    assert lines[2].startswith("    - (a): 1.125") and lines[2].endswith("Popular")
    assert "- At the end: at most 1.05 in 1 of 4 panels." in lines
    assert lines[-6:-4] == ["- 20 clusters: at most 1 in 0 of 1 panels.", lines[-5]]
    assert lines[-4] == "- Switch: at most 0.8 in 0 of 1 panels."
    assert lines[-3].startswith("    - switch: 0.875")
    assert lines[-2] == "- Rare clicks: at most 0.95 in 0 of 1 panels."


def test_the_tables_are_part_of_the_contests_and_the_goals_a_command(tmp_path, capsys):
    worlds = [made.world("(a)"), made.world("new", changes=NEW)]
    run = a_run(worlds, lambda panel, label, phase, n: LOST[label])
    folder = made.write(tmp_path / "grid", run.results)
    without = write_contests(tmp_path, tmp_path / "c.md").read_text(encoding="utf-8")
    assert "lists a user" not in without
    run.results.visits.to_csv(folder / "visits.csv", index=False)
    text = write_contests(tmp_path, tmp_path / "c.md").read_text(encoding="utf-8")
    assert "| panel | 5 lists a user |" in text
    main([str(tmp_path)])
    said = capsys.readouterr().out
    assert said.startswith("| newcomers |") and "(goal: at most 0.92)" in said
    with pytest.raises(SystemExit):
        main([str(tmp_path / "nowhere")])
    assert "must be a folder of results" in capsys.readouterr().err
