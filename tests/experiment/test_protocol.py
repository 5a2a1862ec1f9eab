"""The protocol of the evaluation and its experiment files: neither changes alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from clubcascade.experiment.config import read_experiment
from clubcascade.report import contest

PAGE = Path(__file__).parents[2] / "docs" / "evaluation-protocol.md"
COLUMNS = {"grid": 0, "grid_real": 1}


def rows() -> dict[str, list[str]]:
    """The rows of all tables of the page, by their first cell."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:1] == "|"]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {name: rest for name, *rest in cells}


def count(text: str) -> int:
    return int(text.replace(",", ""))


@pytest.mark.parametrize("name", sorted(COLUMNS))
def test_panels_seeds_rounds_and_budget_are_those_of_the_files(name):
    said = {key: cells[COLUMNS[name]] for key, cells in rows().items() if len(cells) == 2}
    grid = read_experiment(name)
    lengths = [grid.rounds_of(panel) for panel in grid.panels]
    assert len(grid.panels) == count(said["panels"])
    assert lengths.count(10_000) == count(said["of them with 10,000 rounds"])
    assert set(lengths) - {10_000} == {count(said["rounds of the others"])}
    assert {grid.k_of(panel) for panel in grid.panels} == {count(said["length of a list"])}
    features = {panel.parameters["n_features"] for panel in grid.panels}
    assert features == {count(said["features"])}
    first, last = map(count, said["seeds"].split(" to "))
    assert grid.seeds == tuple(range(first, last + 1))
    assert len(grid.seeds) == count(said["number of seeds"])
    assert grid.measure == said["lost is counted as"]
    assert grid.tune.seeds == tuple(map(count, said["tuning: seeds"].split(", ")))
    assert grid.tune.rounds == count(said["tuning: rounds at most"])
    assert grid.tune.budget == count(said["tuning: budget of points a policy and panel"])


@pytest.mark.parametrize("name", sorted(COLUMNS))
def test_policies_and_their_ranges_are_those_of_the_files(name):
    said = {key: cells[0] for key, cells in rows().items() if len(cells) == 1}
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    for contender in read_experiment(name).policies:
        assert contender.label in text
        for parameter, values in contender.tune.items():
            if parameter == "sigma":
                assert said["sigma"] == f"{len(values)} values from {values[0]:g} to {values[-1]:g}"
            else:
                assert said[parameter] == ", ".join(f"{value:g}" for value in values)
    tuned = {c.label: tuple(c.tune) for c in read_experiment(name).policies if c.tune}
    told = tuned.pop("known clusters", ("beta", "reg"))
    assert told == ("beta", "reg") and tuned == {
        "CLUB-cascade": ("alpha", "beta", "reg"),
        "C3-UCB": ("beta", "reg"),
        "CascadeLinTS": ("sigma",),
        "MultipleLinUCB": ("beta", "reg"),
    }


def test_goals_are_those_of_the_report():
    values = [cells[0] for key, cells in rows().items() if ", at most" in key or ", above" in key]
    assert [float(value) for value in values] == [
        contest.MEDIAN,
        contest.EVERYWHERE,
        contest.TO_KNOWN,
        contest.RAND_INDEX,
    ]


def test_the_seeds_are_not_those_of_an_earlier_look():
    used = {*range(5000, 5010), 6000, 6001, *range(9100, 9120)}
    for name in COLUMNS:
        grid = read_experiment(name)
        assert not used & {*grid.seeds, *grid.tune.seeds}
