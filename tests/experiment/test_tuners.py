from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from clubcascade.errors import InvalidConfig
from clubcascade.experiment.cell_store import CellResult
from clubcascade.experiment.cells import plan
from clubcascade.experiment.running import build
from clubcascade.experiment.tuners import settled, tuners, write_choices
from tests.experiment import tiny


def outcomes(values, regret=True):
    """Give each trial its final reward; its regret is the negative."""

    def found(cell):
        value = values.get((cell.trial, cell.seed))
        if value is None:
            return None
        curves = {"reward": np.array([0.0, value]), "regret": np.array([0.0, -value])}
        if not regret:
            curves["regret"] = np.full(2, np.nan)
        return CellResult(curves, 1.0, 1.0, {})

    return found


POINTS = {
    ("alpha=0.1", 50): 1,
    ("alpha=0.1", 51): 5,
    ("alpha=0.4", 50): 4,
    ("alpha=0.4", 51): 4,
    ("beta=0.1", 50): 2,
    ("beta=0.1", 51): 2,
    ("beta=1.0", 50): 1,
    ("beta=1.0", 51): 3,
}


def tuned(values, measure="regret", regret=True):
    experiment = tiny.parsed(tiny.tuned_content() | {"measure": measure})
    made = tuners(experiment)
    for tuner in made:
        while tuner.batch:
            tuner.feed(outcomes(values, regret))
    return experiment, made


def test_searches_are_by_panel_and_policy_and_their_runs_by_point_and_seed():
    club, c3 = tuners(tiny.parsed(tiny.tuned_content()))
    assert [(cell.contender.label, cell.trial, cell.seed) for cell in club.batch[:3]] == [
        ("CLUB", "alpha=0.1", 50),
        ("CLUB", "alpha=0.1", 51),
        ("CLUB", "alpha=0.4", 50),
    ]
    assert {cell.rounds for cell in c3.batch} == {30}
    assert club.batch[0].name == "two clusters, CLUB, alpha=0.1, seed 50"
    assert len({cell.key for cell in club.batch + c3.batch}) == 8


def test_what_is_tuned_already_is_not_tuned_again():
    table = tiny.tuned_content()
    table["panels"][0]["tuned"] = {"CLUB": {"alpha": 0.2}}
    assert [tuner.label for tuner in tuners(tiny.parsed(table))] == ["C3"]
    assert tuners(tiny.experiment()) == []


@pytest.mark.parametrize("measure", ["regret", "ctr", "missed", "rand_index"])
@pytest.mark.parametrize("known", [True, False])
def test_the_best_mean_is_chosen_and_the_first_of_equals(measure, known):
    experiment, made = tuned(POINTS, measure, known)
    assert [tuner.chosen for tuner in made] == [{"alpha": 0.4}, {"beta": 0.1}]
    by = "regret" if known and measure in ("regret", "rand_index") else "reward"
    assert {row["by"] for tuner in made for row in tuner.rows()} == {by}
    (panel,) = settled(experiment, made).panels
    assert panel.tuned == {"CLUB": {"alpha": 0.4}, "C3": {"beta": 0.1}}


def test_a_point_that_is_not_whole_is_not_chosen(tmp_path):
    _, made = tuned({key: value for key, value in POINTS.items() if key != ("alpha=0.4", 51)})
    assert [tuner.chosen for tuner in made] == [{"alpha": 0.1}, {"beta": 0.1}]
    experiment, none = tuned({})
    assert not any(row["chosen"] for tuner in none for row in tuner.rows())
    assert plan(settled(experiment, none)) == plan(experiment)
    assert write_choices([], tmp_path) == []


def test_the_table_says_how_the_search_ended(tmp_path):
    _, made = tuned(POINTS)
    (file,) = write_choices(made, tmp_path)
    table = pd.read_csv(file, keep_default_na=False)
    assert table.columns.tolist() == [
        *("panel", "policy", "values", "by", "mean", "seeds", "chosen", "edge", "stopped")
    ]
    assert table["values"].tolist() == ["alpha=0.1", "alpha=0.4", "beta=0.1", "beta=1.0"]
    assert table["edge"].tolist() == ["", "alpha high", "beta low", ""]
    assert table["stopped"].tolist() == ["", "budget", "budget", ""]


def test_a_bound_of_a_parameter_ends_its_line():
    table = tiny.tuned_content()
    table["policies"] = [tiny.policy("club_cascade", "CLUB", users="all", start="random")]
    table["policies"][0]["tune"] = {"edge_probability": [0.25, 0.5]}
    table["tune"]["budget"] = 48
    (tuner,) = tuners(tiny.parsed(table))
    seen = []
    while tuner.batch:
        seen += [cell.contender.parameters["edge_probability"] for cell in tuner.batch[::2]]
        values = {
            (c.trial, c.seed): c.contender.parameters["edge_probability"] for c in tuner.batch
        }
        tuner.feed(outcomes(values))
    assert seen == [0.25, 0.5, 1.0] and tuner.chosen == {"edge_probability": 1.0}
    assert {row["edge"] for row in tuner.rows()} == {""}


def test_before_tuning_there_are_as_many_runs():
    experiment = tiny.parsed(tiny.tuned_content())
    assert len(plan(settled(experiment, tuners(experiment), start=True))) == 6


def test_parameters_of_the_policy_inside_are_tuned():
    around = tiny.policy("spanner_exploration", "x", policy={"name": "club_cascade"})
    grid = {"policy.beta": [0.1, 1.0], "share": [0.2, 0.4]}
    table = tiny.tuned_content() | {"policies": [around | {"tune": grid}]}
    experiment = tiny.parsed(table)
    (tuner,) = tuners(experiment)
    assert tuner.start == {"policy.beta": 0.1, "share": 0.2}
    first = build(tuner.batch[-1])[0]
    assert (first.policy.beta, first.share) == (1.0, 0.2)
    assert not tuner.possible("policy.beta", -1.0)
    chosen = settled(experiment, [tuner], start=True)
    assert build(plan(chosen)[0])[0].policy.beta == 0.1
    for key, words in (("policy.beeta", "unknown parameter 'beeta'"), ("polcy.beta", "unknown")):
        with pytest.raises(InvalidConfig, match=words):
            tiny.parsed(table | {"policies": [around | {"tune": {key: [1.0]}}]})
    plain = tiny.policy("c3_ucb", "y") | {"tune": {"policy.beta": [1.0]}}
    with pytest.raises(InvalidConfig, match="'policy.beta' needs a policy inside, got none"):
        tiny.parsed(table | {"policies": [plain]})


def test_tuning_runs_may_be_a_share_of_the_runs():
    table = tiny.tuned_content()
    table["tune"]["rounds"] = 0.3
    table["panels"] = [tiny.panel("a"), tiny.panel("b") | {"rounds": 41}]
    found = tuners(tiny.parsed(table))
    assert {cell.rounds for cell in found[0].batch} == {18}  # of 60
    assert {cell.rounds for cell in found[-1].batch} == {13}
    for wrong in (1.5, 0.0, 0):
        table["tune"]["rounds"] = wrong
        with pytest.raises(InvalidConfig, match="rounds must be a whole number >= 1, or a share"):
            tiny.parsed(table)
