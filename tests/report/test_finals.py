from __future__ import annotations

import numpy as np
import pytest

from clubcascade.experiment.results import Results
from clubcascade.report.measures import MICROSECONDS, by_seed
from tests.report import made


def test_final_values_are_those_of_the_last_round():
    finals = made.as_run(made.results()).finals["(a)", "CLUB"]
    assert finals["regret"].value == 60.0
    assert finals["ctr"].value == 1.0
    assert finals["rand_index"].value == 0.5
    assert MICROSECONDS not in finals and "missed" not in finals


def test_the_last_measured_value_counts_where_the_last_round_has_none():
    results = made.results()
    rows = results.curves.copy()
    rows["rand_index"] = np.where(rows["round"] == 3, np.nan, rows["round"] / 10)
    run = made.as_run(Results(results.experiment, rows))
    assert run.finals["(a)", "CLUB"]["rand_index"].value == pytest.approx(0.2)


def test_time_per_round():
    results = made.results()
    timed = Results(results.experiment, results.curves.assign(seconds=3e-6))
    assert by_seed(timed, MICROSECONDS)["(a)", "CLUB"].iloc[:, -1].tolist() == pytest.approx(
        [1.0] * 3
    )
    found = made.as_run(timed).finals["(a)", "CLUB"]
    assert found[MICROSECONDS].value == pytest.approx(1.0)
    assert by_seed(results, MICROSECONDS) == {}
