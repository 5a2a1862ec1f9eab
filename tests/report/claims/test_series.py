from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from clubcascade.report import series
from tests.report import made


@pytest.fixture
def run(tmp_path):
    """CLUB is behind up to round 40 and at round 60, and ahead elsewhere; C3 never changes."""

    def values(panel, label, seed, t):
        behind = t <= 40 or t == 60
        regret = t if label != "CLUB" else 2 * t if behind else t / 2
        clusters = {"CLUB": 1 + t // 30, "C3": 1}.get(label, 2)
        return {"regret": regret * (1 + seed), "reward": t / 2, "n_clusters": clusters}

    return made.run(tmp_path / "synthetic", made.experiment([made.world("(a)")]), values)


def named(run, label):
    return next(c for c in run.results.experiment.policies if c.label == label)


def test_the_round_from_which_it_stays_ahead(run):
    (panel,) = run.results.experiment.panels
    club, c3 = named(run, "CLUB"), named(run, "C3")
    found = series.ahead_since(run, panel, club, c3, 0.05)
    assert found.rounds.tolist() == [65.0] * 4 and found.end == 100
    never = [np.inf] * 4
    assert series.ahead_since(run, panel, c3, club, 0.05).rounds.tolist() == never
    other = named(run, "LinUCB")
    assert series.ahead_since(run, panel, c3, other, 0.05).rounds.tolist() == never
    far = series.ahead_since(run, panel, club, c3, 0.6)
    assert far.rounds.tolist() == never


def test_ahead_at_the_last_round_only_is_reached_there(tmp_path):
    run = made.run(
        tmp_path / "synthetic",
        made.experiment([made.world("(a)")]),
        lambda panel, label, seed, t: {"regret": t / 2 if (label, t) == ("CLUB", 100) else t},
    )
    (panel,) = run.results.experiment.panels
    found = series.ahead_since(run, panel, named(run, "CLUB"), named(run, "C3"), 0.05)
    assert found.rounds.tolist() == [100.0] * 4


def test_advantages_are_logarithms_of_how_many_times_better(run):
    (panel,) = run.results.experiment.panels
    club, c3 = named(run, "CLUB"), named(run, "C3")
    np.testing.assert_allclose(series.advantage(run, panel, club, c3), np.log(2))
    np.testing.assert_allclose(series.advantage(run, panel, c3, club), -np.log(2))
    np.testing.assert_allclose(series.advantage(run, panel, c3, club, "reward"), 0)


def test_an_advantage_over_nothing_is_not_a_number(tmp_path):
    run = made.run(
        tmp_path / "synthetic",
        made.experiment([made.world("(a)")]),
        lambda panel, label, seed, t: {"regret": 0.0 if label == "CLUB" else t, "reward": t},
    )
    (panel,) = run.results.experiment.panels
    assert series.advantage(run, panel, named(run, "CLUB"), named(run, "C3")).empty


def test_rounds_until_there_are_as_many_clusters(run):
    (panel,) = run.results.experiment.panels
    club, c3 = named(run, "CLUB"), named(run, "C3")
    assert series.split_at(run, panel, club, 2).rounds.tolist() == [30.0] * 4
    assert series.split_at(run, panel, club, 1).rounds.tolist() == [5.0] * 4
    assert series.split_at(run, panel, c3, 2).rounds.tolist() == [np.inf] * 4


def test_rounds_at_a_share(run):
    (panel,) = run.results.experiment.panels
    frame = series.table(run, panel, named(run, "C3"), "regret")
    assert [series.round_at(frame, share) for share in (0.01, 0.05, 0.75, 1.0)] == [5, 5, 75, 100]


def test_only_seeds_that_both_have_are_compared(run):
    (panel,) = run.results.experiment.panels
    club, c3 = named(run, "CLUB"), named(run, "C3")
    gone = [("CLUB", 0), ("C3", 3)]
    some = made.without(
        run,
        lambda rows: [pair in gone for pair in zip(rows["policy"], rows["seed"], strict=True)],
    )
    a, b = series.both(some, panel, club, c3, "regret")
    assert list(a.index) == list(b.index) == [1, 2]


def test_real_data_are_compared_by_clicks_and_synthetic_worlds_by_regret(run, tmp_path):
    assert series.default_measure(run) == "regret"
    plan = made.experiment([made.replay("(a)", "yelp")])
    keys = {("(a)", c.label): 0.5 for c in plan.policies}
    assert series.default_measure(made.run(tmp_path / "yelp", plan, made.rates(keys))) == "ctr"


def test_values_are_paired_by_seed_whatever_their_order():
    first = pd.Series([10.0, 20.0, 30.0], index=[1, 2, 3])
    second = pd.Series([31.0, 41.0, 21.0], index=[3, 4, 2])
    a, b = series.shared(first, second)
    assert list(zip(a, b, strict=True)) == [(20.0, 21.0), (30.0, 31.0)]
