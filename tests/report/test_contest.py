"""One policy against the best of the others: who is best, over which seeds, and the ratio."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from clubcascade.report.contest import contest, contest_lines, lost_at_end
from clubcascade.report.estimates import ratio, share
from tests.report import made

ALL = ["cohort", "CLUB", "C3", "known clusters"]
FINALS = {"cohort": 60.0, "CLUB": 120.0, "C3": 100.0, "known clusters": 30.0}


def play(panels=("(a)",), **changes):
    plan = made.experiment([made.world(title) for title in panels], ALL, **changes)
    finals = {(title, label): lost for title in panels for label, lost in FINALS.items()}
    return made.run(Path("grid"), plan, made.regrets(finals))


def against(run, policy="cohort_cascade", **changes):
    panel = run.results.experiment.panels[0]
    return contest(run, panel, lost_at_end(run, panel), policy=policy, **changes)


def test_the_best_other_is_never_the_one_who_knows_the_clusters():
    run = play()
    found = against(run)
    assert (found.panel.title, found.label, found.other) == ("(a)", "cohort", "C3")
    assert found.seeds == 4
    ends = {label: run.by_seed("regret")["(a)", label].iloc[:, -1].to_numpy() for label in ALL}
    assert found.ours.value == pytest.approx(ends["cohort"].mean())
    assert found.theirs.value == pytest.approx(ends["C3"].mean())
    assert found.ratio == ratio(ends["cohort"], ends["C3"])
    assert found.ratio.value == pytest.approx(0.6, rel=0.05)
    known = against(run, among=["known clusters"])
    assert known.other == "known clusters"
    assert known.ratio == ratio(ends["cohort"], ends["known clusters"])


def test_nobody_loses_less_than_nothing():
    """Few seeds of which one lost nearly all: the interval of a ratio would begin below 0."""
    ours, theirs = np.array([1.0, 2.0, 1.0, 90.0]), np.array([100.0, 110.0, 95.0, 105.0])
    assert ratio(ours, theirs).low < 0.0
    assert share(ours, theirs).low == 0.0
    assert share(ours, theirs).high == ratio(ours, theirs).high
    assert share(theirs, ours).low == ratio(theirs, ours).low == -np.inf


def test_only_seeds_that_all_have_are_compared():
    gone = made.without(play(), lambda rows: (rows["policy"] == "C3") & (rows["seed"] == 2))
    found = against(gone)
    assert found.seeds == 3
    ours = gone.by_seed("regret")["(a)", "cohort"].iloc[:, -1]
    assert found.ours.value == pytest.approx(ours.drop(index=2).mean())


def test_panels_without_a_contest_are_left_out():
    run = play(["(a)", "(b)", "(c)"])
    alone = (lambda r: (r["panel"] == "(a)") & (r["policy"] != "cohort"))(run.results.curves)
    away = (lambda r: (r["panel"] == "(b)") & (r["policy"] == "cohort"))(run.results.curves)
    lines = list(contest_lines(made.without(run, lambda rows: alone | away)))
    assert [line[:5] for line in lines if line.startswith("| (")] == ["| (c)"]


def test_another_policy_can_be_judged():
    found = against(play(), "club_cascade")
    assert found.other == "cohort" and found.ratio.value == pytest.approx(2.0, rel=0.05)


def test_clicks_missed_are_compared_where_panels_show_them():
    plan = made.experiment([made.replay("real", "yelp")], ["cohort", "C3"], measure="missed")
    rates = {("real", "cohort"): 0.5, ("real", "C3"): 0.6}
    values = made.rates(rates, ceiling=0.9)
    run = made.run(Path("grid_real"), plan, values)
    found = against(run)
    missed = [90 - 100 * 0.5 * made.noise(seed, "cohort") for seed in range(4)]
    assert found.ours.value == pytest.approx(np.mean(missed))
    assert against(run, among=["known clusters"]) is None
    plan = made.experiment([made.replay("real", "yelp")], ["cohort", "C3"], measure="ctr")
    assert list(contest_lines(made.run(Path("ctr"), plan, values))) == []
