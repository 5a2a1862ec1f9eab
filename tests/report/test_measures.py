from __future__ import annotations

import numpy as np
import pandas as pd

from clubcascade.report.measures import MEASURES

ROWS = pd.DataFrame({"round": [10, 20], "reward": [4.0, 10.0], "regret": [1.0, 2.0]})


def test_shares_and_missed_clicks_follow_from_clicks():
    rows = ROWS.assign(ceiling=0.75)
    np.testing.assert_allclose(MEASURES["ctr"].values(rows), [0.4, 0.5])
    np.testing.assert_allclose(MEASURES["missed"].values(rows), [3.5, 5.0])


def test_what_was_not_recorded_is_unknown():
    for name in ("missed", "n_clusters", "rand_index"):
        assert MEASURES[name].values(ROWS).isna().all()


def test_every_measure_says_which_side_is_good():
    sides = {name: measure.better for name, measure in MEASURES.items()}
    assert sides == {
        "regret": "low",
        "reward": "high",
        "ctr": "high",
        "missed": "low",
        "n_clusters": "",
        "rand_index": "high",
    }
