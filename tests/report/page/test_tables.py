"""The tables of the page: final values, sweeps, parameters, provenance."""

from __future__ import annotations

import re

import pytest

from clubcascade.report.folders import EDGE
from clubcascade.report.page import page, provenance_rows, sweep_tables
from tests.experiment import tiny
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


def section(run, kind=""):
    """The tables of the page, or those of a kind."""
    text = page([run], [], [])
    return "\n".join(re.findall(rf'<table class="{kind}.*?</table>', text, re.S))


def rows(text):
    found = re.findall(r"<tr[^>]*>(.*?)</tr>", text, re.S)
    cells = (re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in found)
    return [[re.sub(r"<[^>]*>", "", cell) for cell in row] for row in cells]


def test_means_and_intervals_with_the_best_in_bold(tmp_path):
    text = section(made.run(tmp_path / "x", PLAN, values), "finals")
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
    text = re.sub(r"&#34;", '"', section(run, "parameters"))
    for contender in PLAN.policies:
        assert f"<code>{contender.policy}</code>" in text
    for pair in ('start = "random"', "n_clusters = 2", "gap = 0.5"):
        assert f"<code>{pair}</code>" in text


def test_values_at_the_edge_of_what_was_tried_are_flagged(tmp_path):
    run = made.run(tmp_path / "x", made.tuned(PLAN), values)
    assert EDGE not in section(run, "finals"), "nothing is known of edges"
    made.write_tuning(tmp_path / "x")
    run = made.run(tmp_path / "x", made.tuned(PLAN), values)
    names = [row[0] for row in rows(section(run, "finals"))]
    assert f"CLUB{EDGE}" in names and "C3" in names
    assert "at the edge of what was tried: (a), CLUB: reg low." in page([run], [], [])
    flagged = [row for row in rows(section(run, "parameters")) if "at the edge" in row[-1]]
    assert [row[:2] for row in flagged] == [["(a)", "CLUB"]]
    assert flagged[0][-1].strip().endswith("at the edge: reg low")


def test_what_was_run_and_where(tmp_path):
    run = made.run(tmp_path / "synthetic", PLAN, values)
    text = section(run, "runs")
    for part in ('href="#run-synthetic"', "made by hand", ">100<", "8 (2 seeds)"):
        assert part in text
    assert rows(text)[1][4:] == ["–", "–", "–"]
    run.provenance.update(platform="Linux", processor="x86_64", cores=2, commit=123456789012)
    run.provenance["finished"] = "2026-11-15T11:23:29+00:00"
    found = rows(section(run, "runs"))[1][4:]
    assert found == ["2026-11-15 11:23", "1234567890", "Linux, x86_64, 2 cores"]


def test_all_that_is_known_about_the_origin_is_listed(tmp_path):
    origin = {"commit": None, "seeds": [0, 1], "packages": {"numpy": "2.0"}, "data": [{"a": 1}]}
    assert list(provenance_rows(origin)) == [
        ("commit", "–"),
        ("seeds", "0, 1"),
        ("packages numpy", "2.0"),
        ("data", "a: 1"),
    ]
    assert "does not say where" in page([made.run(tmp_path / "x", PLAN, values)], [], [])


SWEPT = tiny.experiment(
    policies=[
        tiny.policy("club_cascade", f"a={a}, b={b}", users="all", alpha=a, beta=b)
        for a in (1.0, 2.0)
        for b in (0.1, 0.3, 1.0)
    ]
    + [tiny.policy()]
)


def test_a_row_per_alpha_and_a_column_per_beta_from_good_to_bad(tmp_path):
    finals = {("two clusters", c.label): 10.0 * 2**i for i, c in enumerate(SWEPT.policies)}
    run = made.run(tmp_path / "sweep", SWEPT, made.regrets(finals))
    (table,) = sweep_tables(run)
    assert [row["name"] for row in table["rows"]] == ["1.0", "2.0"]
    shares = [float(share) for row in table["rows"] for _, share in row["cells"]]
    assert shares == pytest.approx([1.0, 0.8, 0.6, 0.4, 0.2, 0.0], abs=0.02)
    text = page([run], [], [])
    (drawn,) = re.findall(r"<table><caption>two clusters: regret.*?</table>", text, re.S)
    heads = re.findall(r"<th(?: [^>]*)?>(.*?)</th>", drawn)
    assert heads == ["alpha \\ beta", "0.1", "0.3", "1.0", "1.0", "2.0"]
    assert text.index('<div class="figure"') < text.index(drawn), "not fine enough for a map"


def test_the_limits_are_rows_at_the_ends_and_the_map_hides_the_curves(tmp_path):
    plan = made.sweep()
    finals = {("two clusters", c.label): 10.0 for c in plan.policies}
    run = made.run(tmp_path / "sweep", plan, made.regrets(finals))
    (table,) = sweep_tables(run)
    names = [row["name"] for row in table["rows"]]
    assert names == ["Multiple (alpha → 0)", "0.5", "1.0", "2.0", "C3 (alpha → ∞)"]
    text = page([run], [], [])
    assert re.search(
        r'</table>.*<details><summary>The curves of all of them.*?<div class="figure"', text, re.S
    )


def test_a_sweep_with_cells_that_did_not_run(tmp_path):
    plan = made.sweep()
    finals = {("two clusters", c.label): 10.0 for c in plan.policies}
    whole = made.run(tmp_path / "sweep", plan, made.regrets(finals))
    gone = plan.policies[0].label
    (table,) = sweep_tables(made.without(whole, lambda rows: rows["policy"] == gone))
    assert [text for row in table["rows"] for text, _ in row["cells"]].count("") == 1


def test_nothing_swept_is_no_table(tmp_path):
    assert list(sweep_tables(made.run(tmp_path / "x", PLAN, values))) == []
