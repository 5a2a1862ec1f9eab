from __future__ import annotations

import numpy as np
import pytest

from clubcascade.errors import InvalidArgument
from clubcascade.experiment.results import Results
from clubcascade.report.measures import by_seed, curves_of
from tests.report import made


def test_curves_are_means_over_seeds():
    results = made.results()
    curves = curves_of(results, "regret")
    assert list(curves)[:2] == [("(a)", "CLUB"), ("(a)", "random")]
    curve = curves["(a)", "CLUB"]
    assert curve.seeds == 3
    np.testing.assert_allclose(curve.mean, [20.0, 40.0, 60.0])
    assert curve.final == 60.0
    assert (curve.low < curve.mean).all() and (curve.mean < curve.high).all()


def test_what_was_not_measured_has_no_curve():
    results = made.results()
    results.curves.loc[results.curves["policy"] == "random", "rand_index"] = np.nan
    assert set(curves_of(results, "rand_index")) == {("(a)", "CLUB"), ("(b)", "CLUB")}


def test_an_unknown_measure_is_named():
    with pytest.raises(InvalidArgument, match="measure must be one of .*got 'regrets'"):
        curves_of(made.results(), "regrets")


def test_curves_of_what_follows_from_columns():
    curve = curves_of(made.results(), "ctr")["(b)", "random"]
    np.testing.assert_allclose(curve.mean, [1.0, 1.0, 1.0])
    assert curves_of(made.results(), "missed") == {}


def test_only_rounds_that_every_seed_has_are_kept():
    results = made.results()
    gone = (results.curves["seed"] == 1) & (results.curves["round"] == 2)
    table = by_seed(Results(results.experiment, results.curves[~gone]), "regret")["(a)", "CLUB"]
    assert list(table.columns) == [1, 3] and list(table.index) == [0, 1, 2]
