from __future__ import annotations

import numpy as np
import pytest

from clubcascade.errors import InvalidConfig
from clubcascade.experiment import running
from clubcascade.experiment.cells import Seeds, plan
from clubcascade.experiment.running import build, run, warm_up
from clubcascade.simulation import simulate
from tests.experiment import tiny


def test_named_values_come_from_the_environment():
    club = tiny.policy("club_cascade", "CLUB", users="all", alpha=0.3, beta=1.0)
    known = tiny.policy("known_clusters", "known", partition="true")
    cells = plan(tiny.experiment(policies=[club, known], seeds=1))
    policy, env = build(cells[0])
    assert list(policy.users) == list(range(6))
    assert policy.n_features == env.n_features == 4
    policy, env = build(cells[1])
    assert list(policy.partition) == list(env.partition)


def test_a_policys_own_seed_is_derived_unless_given():
    policies = [tiny.policy("random", "derived"), tiny.policy("random", "given", seed=5)]
    cells = plan(tiny.experiment(policies=policies, seeds=[3]))
    assert build(cells[0])[0].seed == Seeds.of(3).policy
    assert build(cells[1])[0].seed == 5


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"policies": [tiny.policy(beta=-1.0)]}, "policy 'C3-UCB': beta must be"),
        ({"policies": [tiny.policy(reg="much")]}, "policy 'C3-UCB': reg must be"),
        ({"panels": [tiny.panel("x", n_users=0)]}, "panel 'x': n_users must be"),
        ({"panels": [tiny.panel("x", gap="wide")]}, "panel 'x': gap must be"),
    ],
)
def test_a_wrong_parameter_is_named_before_anything_runs(changes, message):
    with pytest.raises(InvalidConfig, match=message):
        warm_up(plan(tiny.experiment(**changes)))


def test_warming_up_plays_each_kind_of_run_once(monkeypatch):
    played = []
    monkeypatch.setattr(running, "simulate", lambda *a, **k: played.append(simulate(*a, **k)))
    warm_up(plan(tiny.experiment(rounds=100_000, seeds=3)))
    assert len(played) == 2


def test_warming_up_builds_every_point_of_a_grid():
    good, bad = (tiny.policy("c3_ucb", f"beta {beta}", beta=beta) for beta in (1.0, -1.0))
    with pytest.raises(InvalidConfig, match="policy 'beta -1.0': beta must be"):
        warm_up(plan(tiny.experiment(policies=[good, bad])))


def test_warming_up_leaves_failing_runs_to_the_cells():
    warm_up(plan(tiny.experiment(k=13)))


def test_a_run_ends_at_the_last_round():
    cell = plan(tiny.experiment(rounds=61))[0]
    curves = run(cell).curves
    assert curves["round"][-1] == 61
    assert len(curves["regret"]) == len(curves["round"])


def test_a_cell_does_not_depend_on_what_ran_before_in_its_process():
    cells = plan(tiny.experiment(panels=[tiny.panel("a"), tiny.panel("b", n_items=20)]))
    first = [run(cell).curves["reward"] for cell in cells]
    again = [run(cell).curves["reward"] for cell in reversed(cells)]
    for one, other in zip(first, reversed(again), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_bound_is_a_line_without_clicks():
    bound = tiny.policy("theorem_bound", "bound", reg=4.0)
    curves = run(plan(tiny.experiment(policies=[bound]))[0]).curves
    assert curves["round"].tolist() == list(range(3, 61, 3))
    assert (np.diff(curves["regret"]) > 0).all()
    assert np.isnan(curves["reward"]).all()


def test_what_is_not_known_is_nan(tmp_path):
    np.savez(tmp_path / "a.npz", clicks=np.ones((20, 12), bool))
    pool = tiny.pool(str(tmp_path / "a.npz"))
    curves = run(plan(tiny.experiment(panels=[pool]))[0]).curves
    assert np.isnan(curves["rand_index"]).all() and curves["reward"][-1] > 0
