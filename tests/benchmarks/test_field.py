"""The state of the field: every policy on every panel, against a literal computation."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from msgspec import structs

from benchmarks.evaluation.field import write_field
from benchmarks.evaluation.field_map import field_map
from benchmarks.evaluation.field_ratios import RESAMPLES, panel_ratios, standings
from clubcascade.errors import InvalidArgument
from clubcascade.experiment.schema import Length
from tests.report import made

LABELS = ["C3", "Popular", "cohort", "known clusters"]
RIVALS = LABELS[:3]
COLUMNS = ["panel", "policy", "seed", "phase", "lists", "regret", "rounds"]
NEW, SWITCH = {"at": 0.5, "users": "new"}, {"at": 0.5, "switch": 0.5}
TITLES = ["(a)", "(b)", "(c)"]


def lost(panel, label, seed, phase, n):
    """What a policy lost: no two alike, and the oracle loses least."""
    rng = np.random.default_rng([*f"{panel}{label}{phase}{n}".encode(), seed])
    return float(rng.uniform(0.1, 0.2) if label == "known clusters" else rng.uniform(1, 5))


def a_run(panels, lost=lost, name="grid", labels=LABELS, **changes):
    """A run with a table of what was lost in first lists."""
    plan = made.experiment(panels, labels, rounds=60, **changes)
    rows = [
        (panel.title, c.label, seed, phase, n, lost(panel.title, c.label, seed, phase, n), 1)
        for panel in plan.panels
        for c in plan.policies_of(panel)
        for seed in plan.seeds
        for phase in range(2 if "changes" in panel.parameters else 1)
        for n in (1, 5, 20, 100, math.inf)
    ]
    whole = made.run(Path(name), plan, lambda *_: {"regret": 7.0, "reward": 1.0, "seconds": 6e-3})
    visits = pd.DataFrame(rows, columns=COLUMNS)
    return replace(whole, results=replace(whole.results, visits=visits))


def in_folder(place, run):
    """The same, as a result folder."""
    made.write(place / run.name, run.results)
    run.results.visits.to_csv(place / run.name / "visits.csv", index=False)
    return place


def literal(title, n, seeds):
    """The ratios of a panel over some seeds, one after the other."""
    means = {x: sum(lost(title, x, s, 0, n) for s in seeds) / len(seeds) for x in LABELS}
    best = min(means[x] for x in RIVALS)
    return {x: means[x] / best for x in LABELS}


@pytest.mark.parametrize("n", [5, math.inf])
def test_the_numbers_are_those_of_a_literal_computation(n):
    run = a_run([made.world(title) for title in TITLES])
    seeds = run.results.experiment.seeds
    found = {s.label: s for s in standings(panel_ratios([run], n))}
    assert found.keys() == set(LABELS)
    whole = {title: literal(title, n, seeds) for title in TITLES}
    draws = np.random.default_rng(0).multinomial(4, [0.25] * 4, size=RESAMPLES).tolist()
    drawn = [[s for s, k in zip(seeds, draw, strict=True) for _ in range(k)] for draw in draws]
    several = [[literal(title, n, some) for title in TITLES] for some in drawn[:200]]
    for label, s in found.items():
        ratios = {title: whole[title][label] for title in TITLES}
        assert s.panels == 3
        assert s.median.value == pytest.approx(statistics.median(ratios.values()))
        assert (s.worst, s.where) == (
            pytest.approx(max(ratios.values())),
            max(ratios, key=ratios.get),
        )
        if label in RIVALS:
            assert s.best == pytest.approx(sum(r == 1 for r in ratios.values()) / 3)
            assert s.close == pytest.approx(sum(r <= 1.05 for r in ratios.values()) / 3)
        else:
            assert math.isnan(s.best) and math.isnan(s.close) and s.median.value < 1
        resampled = [each.resampled[label][:200] for each in panel_ratios([run], n)]
        medians = [statistics.median(row[label] for row in rows) for rows in several]
        assert np.median(resampled, axis=0) == pytest.approx(medians)
        assert s.median.low <= s.median.value <= s.median.high
        assert s.microseconds == pytest.approx(100.0)  # 6 ms for 60 rounds
    assert sum(found[x].best for x in RIVALS) == pytest.approx(1.0)


def test_the_interval_has_nineteen_of_twenty_medians():
    run = a_run([made.world("(a)")])
    (panel,), (first, *_) = panel_ratios([run]), standings(panel_ratios([run]))
    ordered = sorted(panel.resampled[first.label])
    assert (first.median.low, first.median.high) == (ordered[49], ordered[1949])
    one = standings(panel_ratios([a_run([made.world("(a)")], seeds=1)]))
    assert all(math.isnan(s.median.low) for s in one)


def test_the_order_and_a_policy_that_does_not_play():
    def by_label(panel, label, *_):
        return {"cohort": 3.0, "C3": 2.0, "Popular": 1.0, "known clusters": 0.5}[label]

    panels = [made.world("(a)"), made.world("(b)") | {"policies": ["C3", "cohort"]}]
    found = panel_ratios([a_run(panels, by_label)])
    every = standings(found)
    assert [s.label for s in every] == ["cohort", "Popular", "C3", "known clusters"]
    assert [s.panels for s in every] == [2, 1, 2, 1]
    assert [s.median.value for s in every] == [2.25, 1.0, 1.5, 0.5]
    assert (every[2].best, every[2].worst, every[2].where) == (0.5, 2.0, "(a)")
    axes = field_map(found).axes[0]
    assert [t.get_text() for t in axes.get_xticklabels()] == [s.label for s in every]
    names = ["synthetic worlds: median of 2", "(a)", "(b)"]
    assert [t.get_text() for t in axes.get_yticklabels()] == names
    cells = {t.get_position(): (t.get_text(), t.get_weight()) for t in axes.texts}
    assert len(cells) == 4 + 4 + 2
    assert cells[1.5, 1.5] == ("1", "bold") and cells[4.0, 1.5] == ("0.50", "normal")
    assert (1.5, 2.5) not in cells and cells[2.5, 2.5] == ("1", "bold")
    assert (cells[0.5, 0.5], cells[1.5, 0.5]) == (("2.25", "normal"), ("1", "normal")), "no frame"


def test_groups_and_newcomers_alone():
    worlds = [made.world("switch", changes=SWITCH), made.world("new", changes=NEW)]
    worlds += [made.replay("real", "made"), made.world("plain")]
    found = panel_ratios([a_run(worlds, lambda *key: {0: 1.0, 1: 2.0 + key[2]}[key[3]])])
    assert [(each.panel.title, each.group) for each in found] == [
        ("plain", "synthetic worlds"),
        ("real", "replayed ratings"),
        ("new", "newcomers"),
        ("switch", "change"),
    ]
    assert [each.lost["C3"].iloc[0] for each in found] == [1.0, 1.0, 2.0, 3.0]
    assert [each.panel.title for each in panel_ratios([each.run for each in found[:1]], 20)] == []


def test_nothing_lost_and_seeds_that_failed():
    def nothing(panel, label, *_):
        return {"C3": 0.0, "known clusters": 0.0}.get(label, 2.0)

    run = a_run([made.world("(a)")], nothing)
    assert panel_ratios([run])[0].ratios == {
        "C3": 1.0,
        "Popular": math.inf,
        "cohort": math.inf,
        "known clusters": 1.0,
    }
    assert field_map(panel_ratios([run])).axes
    run = a_run([made.world("(a)")])
    rows = run.results.visits
    kept = rows[(rows["policy"] != "C3") | (rows["seed"] != run.results.experiment.seeds[0])]
    (less,) = panel_ratios([replace(run, results=replace(run.results, visits=kept))])
    some = run.results.experiment.seeds[1:]
    assert less.ratios == pytest.approx(literal("(a)", math.inf, some))


def test_the_page_and_its_picture(tmp_path):
    place = in_folder(tmp_path / "results", a_run([made.world("(a)"), made.world("(b)")]))
    in_folder(place, a_run([made.world("(z)")], name="sweep"))
    made.write_tuning(place / "grid")
    (tmp_path / "docs" / "img").mkdir(parents=True)
    out, picture = tmp_path / "docs" / "field.md", tmp_path / "docs" / "img" / "field.png"
    assert write_field(place, out, picture, of=["grid"]) == [out, picture]
    text, first = out.read_text(encoding="utf-8"), picture.read_bytes()
    assert text.startswith("Policies: 4. Panels: 2.") and "](img/field.png)" in text
    lines = text.splitlines()
    heads = next(line for line in lines if line.startswith("| policy"))
    assert heads.count("|") == lines[lines.index(heads) + 2].count("|") == 10
    assert lines[lines.index(heads) + 2].startswith("| cohort | 2 |")
    assert "### After 5 lists a user" in text and "After 20" not in text.replace("median after", "")
    assert "first look" not in text and "without results" not in text
    write_field(place, out, picture, of=["grid"])
    assert picture.read_bytes() == first
    assert write_field(place, tmp_path / "f.md", of=["newcomers"])[1] == tmp_path / "f.png"
    assert "Policies: 4. Panels: 3." in (tmp_path / "f.md").read_text(encoding="utf-8")


def test_marks_first_looks_and_runs_that_failed(tmp_path):
    run = a_run([made.world("(a)")], labels=["CLUB", "C3"])
    plan = structs.replace(made.tuned(run.results.experiment), full=Length(60, 9))
    rows = run.results.curves
    gone = rows[(rows["policy"] != "CLUB") | (rows["seed"] != plan.seeds[0])]
    results = replace(run.results, experiment=plan, curves=gone)
    place = in_folder(tmp_path, replace(run, results=results))
    made.write_tuning(place / "grid")
    write_field(place, tmp_path / "f.md", tmp_path / "f.svg")
    text = (tmp_path / "f.md").read_text(encoding="utf-8")
    assert text.startswith("**A first look**") and "**Runs without results**: grid: 1." in text
    marked = field_map(panel_ratios([replace(run, path=place / "grid")])).axes[0].texts
    assert [t.get_text()[-1] == "†" for t in marked] == [False, False, True, False]


def test_folders_of_before_have_the_end_alone(tmp_path):
    plan = made.experiment([made.world("(a)")], ["cohort", "C3"])
    made.folder(tmp_path / "grid", plan, made.regrets({("(a)", "cohort"): 8, ("(a)", "C3"): 4}))
    write_field(tmp_path, tmp_path / "f.md")
    text = (tmp_path / "f.md").read_text(encoding="utf-8")
    assert "| cohort | 1 | 2.0" in text and "### After" not in text
    assert text.count(" – |") == 6, "no medians of first lists, and no time"


def test_what_cannot_be_shown_is_a_sentence(tmp_path):
    alone = made.experiment([made.world("(a)")], ["cohort", "known clusters"])
    finals = {("(a)", "cohort"): 8, ("(a)", "known clusters"): 4}
    made.folder(tmp_path / "grid", alone, made.regrets(finals))
    with pytest.raises(InvalidArgument, match="a panel where two policies or more .* same seeds"):
        write_field(tmp_path, tmp_path / "f.md")
    with pytest.raises(InvalidArgument, match="ending of the page must be"):
        write_field(tmp_path, tmp_path / "f.png")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidArgument, match="no results in"):
        write_field(tmp_path / "empty", tmp_path / "f.md")
    assert not list(tmp_path.glob("f.*"))
