from __future__ import annotations

import numpy as np
from scipy import stats

from clubcascade.experiment.intervals import mean_interval


def test_the_interval_is_students():
    runs = np.random.default_rng(0).normal(size=(7, 3))
    mean, low, high = mean_interval(runs)
    expected = stats.t.interval(0.95, 6, loc=runs.mean(axis=0), scale=stats.sem(runs, axis=0))
    np.testing.assert_allclose((low, high), expected)
    np.testing.assert_allclose(mean, runs.mean(axis=0))


def test_one_run_has_no_interval():
    mean, low, high = mean_interval(np.array([[2.0]]))
    assert mean == 2.0 and np.isnan(low) and np.isnan(high)
