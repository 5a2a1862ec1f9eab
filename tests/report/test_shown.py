from __future__ import annotations

import numpy as np

from clubcascade.experiment.results import Results
from clubcascade.report.shown import log_scale, shown_measure
from tests.report import made


def test_regret_is_shown_where_it_is_known_and_clicks_elsewhere():
    results = made.results()
    assert shown_measure(results) == "regret"
    unknown = Results(results.experiment, results.curves.assign(regret=np.nan))
    assert shown_measure(unknown) == "reward"


def test_measured_curves_are_on_an_even_scale():
    assert not log_scale(made.results(), "regret")
