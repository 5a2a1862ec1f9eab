"""The numbers of a small experiment, recorded: the same configuration gives the same results."""

from __future__ import annotations

import hashlib

import numpy as np
import pandas as pd
import pytest

from clubcascade.experiment import read_results, run_experiment
from tests.experiment import tiny


def sixteen(table: pd.DataFrame) -> str:
    """The hash of a table, its numbers to six digits."""
    text = table.to_csv(index=False, float_format="%.6g")
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@pytest.mark.slow
def test_results_and_tuning_are_those_that_were_recorded(tmp_path):
    clicks = np.random.default_rng(1).random((20, 15)) < 0.3
    np.savez(tmp_path / "mine.npz", clicks=clicks)
    table = tiny.tuned_content()
    table["tune"]["budget"] = 6
    table["policies"] += [
        tiny.policy("cohort_cascade", "cohort"),
        tiny.policy("theorem_bound", "bound"),
        tiny.policy("known_clusters", "known", partition="true"),
    ]
    rare = tiny.panel("b", arrivals={"zipf": 1.5}, click={"model": "dcm", "stop": 0.5})
    pool = tiny.pool(str(tmp_path / "mine.npz"), "c {data}")
    table["panels"] = [
        tiny.panel("a"),
        rare | {"rounds": 40, "k": 3},
        pool | {"policies": ["CLUB", "C3", "random", "cohort"]},
    ]
    report = run_experiment(tiny.parsed(table), tmp_path / "out", jobs=1)
    assert report.failures == ()
    curves = read_results(tmp_path / "out").curves.drop(columns="seconds")
    assert sixteen(curves) == "f2d92ca1f97a71c6"
    assert sixteen(pd.read_csv(tmp_path / "out" / "tuning.csv")) == "2a630bf96b834e70"
