from __future__ import annotations

import numpy as np

from clubcascade.experiment.results import Results
from clubcascade.report.measures import log_scale, shown_measure
from tests.experiment import tiny
from tests.report import made


def test_regret_is_shown_where_it_is_known_and_clicks_elsewhere():
    results = made.results()
    assert shown_measure(results) == "regret"
    unknown = Results(results.experiment, results.curves.assign(regret=np.nan))
    assert shown_measure(unknown) == "reward"


def test_an_experiment_says_what_it_shows():
    results = made.results(measure="ctr")
    assert shown_measure(results) == "ctr"
    missed = made.results(measure="missed")
    assert shown_measure(missed) == "reward", "no ceiling is known"
    known = Results(missed.experiment, missed.curves.assign(ceiling=0.5))
    assert shown_measure(known) == "missed"


def test_bounds_need_a_logarithmic_scale():
    bounded = made.results(policies=[tiny.policy(), tiny.policy("theorem_bound", "bound")])
    assert log_scale(bounded, "regret") and not log_scale(bounded, "ctr")


def test_measured_curves_are_on_an_even_scale():
    assert not log_scale(made.results(), "regret")
