from __future__ import annotations

import numpy as np
import pytest

from clubcascade.experiment.cell_files import Stored
from clubcascade.experiment.cells import plan, trials
from clubcascade.experiment.tuning import choose, settled, settled_anyhow, write_choices
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
        return Stored(curves, 1.0, 1.0, {})

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


@pytest.mark.parametrize("measure", ["regret", "ctr", "missed", "rand_index"])
@pytest.mark.parametrize("known", [True, False])
def test_the_best_mean_is_chosen_and_the_first_of_equals(measure, known):
    experiment = tiny.parsed(tiny.tuned_content())
    choices = choose(trials(experiment), measure, outcomes(POINTS, regret=known))
    assert [choice.point for choice in choices if choice.chosen] == [{"alpha": 0.4}, {"beta": 0.1}]
    by = "regret" if known and measure in ("regret", "rand_index") else "reward"
    assert {choice.by for choice in choices} == {by}
    (panel,) = settled(experiment, choices).panels
    assert panel.tuned == {"CLUB": {"alpha": 0.4}, "C3": {"beta": 0.1}}


def test_a_point_that_is_not_whole_is_not_chosen(tmp_path):
    experiment = tiny.parsed(tiny.tuned_content())
    some = {key: value for key, value in POINTS.items() if key != ("alpha=0.4", 51)}
    choices = choose(trials(experiment), "regret", outcomes(some))
    assert [choice.point for choice in choices if choice.chosen] == [{"alpha": 0.1}, {"beta": 0.1}]
    none = choose(trials(experiment), "regret", outcomes({}))
    assert not any(choice.chosen for choice in none)
    assert plan(settled(experiment, none)) == plan(experiment)
    assert write_choices([], tmp_path) == []


def test_before_tuning_there_are_as_many_runs():
    experiment = tiny.parsed(tiny.tuned_content())
    assert len(plan(settled_anyhow(experiment))) == 6
