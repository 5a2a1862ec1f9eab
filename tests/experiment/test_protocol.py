"""The protocol of the evaluation and its experiment files: neither changes alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.evaluation.goals import GOALS
from clubcascade.experiment.config import read_experiment

PAGE = Path(__file__).parents[2] / "docs" / "evaluation-protocol.md"
FILES = ("grid", "grid_real", "newcomers", "newcomers_real", "panels", "panels_real")
TEXT = PAGE.read_text(encoding="utf-8")


def rows(columns: int) -> dict[str, list[str]]:
    """The rows of the tables of the page that have so many columns, by their first cell."""
    lines = [line for line in TEXT.splitlines() if line[:1] == "|" and not line.startswith("|-")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {name: rest for name, *rest in cells if len(rest) == columns - 1}


def count(text: str) -> int:
    return int(text.replace(",", ""))


@pytest.mark.parametrize("name", FILES)
def test_panels_rounds_and_policies_are_those_of_the_files(name):
    said = {key: cells[FILES.index(name)] for key, cells in rows(7).items()}
    plan = read_experiment(name)
    assert len(plan.panels) == count(said["panels"])
    assert sum(map(plan.rounds_of, plan.panels)) == count(said["rounds of all panels together"])
    assert max(len(plan.policies_of(p)) for p in plan.panels) == count(said["policies at most"])


def test_every_new_panel_is_named_with_its_rounds():
    said = {title: count(cells[0]) for title, cells in rows(3).items() if cells[0] != "rounds"}
    plans = [read_experiment(name) for name in FILES[2:]]
    assert said == {p.title: plan.rounds_of(p) for plan in plans for p in plan.panels}


def test_rounds_of_the_panels_of_before():
    lists = {40: 20_000, 200: 40_000, 900: 90_000, 1000: 100_000}
    for name in FILES[:2]:
        plan = read_experiment(name)
        for panel in plan.panels:
            users = panel.parameters["n_users"]
            wanted = 10_000 if "T=10,000" in panel.title else lists[users]
            assert plan.rounds_of(panel) == wanted


@pytest.mark.parametrize("name", FILES)
def test_seeds_and_budget_are_those_of_the_files(name):
    plan = read_experiment(name)
    assert "12000 to 12019, twenty" in TEXT and plan.seeds == tuple(range(12000, 12020))
    assert "13000 and 13001" in TEXT and plan.tune.seeds == (13000, 13001)
    assert "at most 16 points" in TEXT and plan.tune.budget == 16
    assert "a quarter of the panel's rounds" in TEXT and plan.tune.rounds == 0.25
    assert plan.measure == "regret"
    used = {*range(5000, 5010), 6000, 6001, *range(9100, 9120)}
    assert not used & {*plan.seeds, *plan.tune.seeds}


def test_policies_and_their_ranges_are_those_of_the_files():
    said = {key: cells[0] for key, cells in rows(2).items() if key not in ("policy", "goal")}
    for name in FILES:
        for contender in read_experiment(name).policies:
            lines = [
                f"{key}: {', '.join(f'{value:g}' for value in values)}"
                for key, values in contender.tune.items()
            ]
            assert said[contender.label] == ("; ".join(lines) or "nothing")


def test_only_replayed_ratings_have_memories_and_no_known_clusters():
    for name in FILES:
        plan = read_experiment(name)
        for panel in plan.panels:
            there = {contender.label for contender in plan.policies_of(panel)}
            real = panel.environment == "pool"
            assert ("known clusters" in there) != real
            assert ("MultipleLinUCB + memory" in there) == real
            fresh = panel.parameters.get("items") == "fresh"
            assert ("Popular" in there) != fresh
            many = panel.parameters["n_items"] > 4096
            assert ("TopRank" in there) == (not fresh and not many)


def test_goals_are_those_that_are_counted():
    values = [cells[0] for key, cells in rows(2).items() if ", at most" in key]
    assert [float(value) for value in values] == list(GOALS.values())
