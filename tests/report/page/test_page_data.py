from __future__ import annotations

import json

import pytest

from clubcascade.report.page_data import kept_points, run_data
from tests.report import made

PLAN = made.experiment([made.world("(a)"), made.world("(b)")], rounds=2000, seeds=3)


def values(panel, label, seed, t):
    if panel == "(b)" and label == "C3":
        return {}
    return {"regret": t + seed, "reward": t / 3, "rand_index": 0.5}


def test_curves_are_thinned_to_means_and_half_widths(tmp_path):
    data = run_data(made.run(tmp_path / "synthetic", PLAN, values), points=50)
    json.dumps(data, allow_nan=False)
    assert list(data["panels"][0]["curves"]) == ["regret", "reward", "ctr", "rand_index"]
    grid, mean, half = data["panels"][0]["curves"]["regret"][0]
    assert len(data["grids"]) == 1, "all curves have the same rounds"
    rounds = data["grids"][grid]
    assert len(rounds) == len(mean) == 50
    assert (rounds[0], rounds[-1]) == (5, 2000)
    assert (mean[0], mean[-1]) == (6, 2001)
    assert half == [2.48], "the same at every round"
    assert data["panels"][0]["curves"]["rand_index"][0][1:] == [[0.5], [0]]
    assert data["panels"][1]["curves"]["regret"][1] is None
    assert data["panels"][0]["references"]["regret"] == ("oracle", 0, 0)
    assert data["panels"][0]["references"]["ctr"] is None


def test_one_seed_has_no_half_widths(tmp_path):
    plan = made.experiment([made.world("(a)")], seeds=1)
    data = run_data(made.run(tmp_path / "synthetic", plan, values))
    assert data["panels"][0]["curves"]["regret"][0][2] == []


@pytest.mark.parametrize(("n", "points"), [(1, 1), (7, 7), (200, 50), (201, 200), (1000, 3)])
def test_kept_points_end_with_the_last(n, points):
    kept = kept_points(n, points)
    assert kept[-1] == n - 1 and len(kept) == min(n, points) == len(set(kept))
