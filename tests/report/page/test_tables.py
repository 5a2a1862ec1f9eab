from __future__ import annotations

import re

from clubcascade.report.folders import EDGE
from clubcascade.report.page.tables import final_table, parameter_tables
from tests.report import made

PLAN = made.experiment([made.world("(a)"), made.world("(b)")], ["CLUB", "C3"], seeds=2)


def values(panel, label, seed, t):
    if panel == "(b)":
        return {}
    good = label == "CLUB"
    return {
        "regret": (t if good else 3 * t) + seed,
        "reward": t / (2 if good else 4),
        "n_clusters": 2,
        "ceiling": 0.8,
        "seconds": 1e-4,
    }


def rows(text):
    found = re.findall(r"<tr[^>]*>(.*?)</tr>", text)
    cells = (re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in found)
    return [[re.sub(r"<[^>]*>", "", cell) for cell in row] for row in cells]


def test_means_and_intervals_with_the_best_in_bold(tmp_path):
    text = final_table(made.run(tmp_path / "x", PLAN, values))
    assert rows(text) == [
        ["policy", "regret", "CTR", "missed", "clusters", "µs a round"],
        ["(a)"],
        ["CLUB", "100 ± 6.4", "0.500 ± 0.000", "30 ± 0", "2 ± 0", "1 ± 0"],
        ["C3", "300 ± 6.4", "0.250 ± 0.000", "55 ± 0", "2 ± 0", "1 ± 0"],
        ["(b)"],
        ["no results"],
    ]
    assert re.findall(r'class="n best">([^<]*)<', text) == ["100 ± 6.4", "0.500 ± 0.000", "30 ± 0"]


def test_every_parameter_is_written(tmp_path):
    run = made.run(tmp_path / "x", PLAN, values)
    text = re.sub(r"&quot;", '"', parameter_tables(run))
    for contender in PLAN.policies:
        assert f"<code>{contender.policy}</code>" in text
    for pair in ('start = "random"', "n_clusters = 2", "gap = 0.5"):
        assert f"<code>{pair}</code>" in text


def test_values_at_the_edge_of_what_was_tried_are_flagged(tmp_path):
    run = made.run(tmp_path / "x", made.tuned(PLAN), values)
    assert EDGE not in final_table(run), "nothing is known of edges"
    made.write_tuning(tmp_path / "x")
    run = made.run(tmp_path / "x", made.tuned(PLAN), values)
    names = [row[0] for row in rows(final_table(run))]
    assert f"CLUB{EDGE}" in names and "C3" in names
    assert "at the edge of what was tried: (a), CLUB: reg low." in final_table(run)
    flagged = [row for row in rows(parameter_tables(run)) if "at the edge" in row[-1]]
    assert [row[:2] for row in flagged] == [["(a)", "CLUB"]]
    assert flagged[0][-1].strip().endswith("at the edge: reg low")
