from __future__ import annotations

import numpy as np
import pytest

from clubcascade.errors import InvalidConfig
from clubcascade.experiment import cells
from clubcascade.experiment.cells import Seeds, build, plan, run, warm_up
from clubcascade.simulation import simulate
from tests.experiment import tiny


def test_cells_are_crossed_by_panel_policy_and_seed():
    experiment = tiny.experiment(panels=[tiny.panel("a"), tiny.panel("b")], seeds=[7, 1])
    names = [cell.name for cell in plan(experiment)]
    assert len(names) == 8
    assert names[:3] == ["a, CLUB, seed 7", "a, CLUB, seed 1", "a, random, seed 7"]


def test_the_key_depends_on_what_the_result_depends_on():
    def keys(**changes):
        return {cell.key for cell in plan(tiny.experiment(**changes))}

    first = keys()
    assert len(first) == 4
    assert keys(title="another", figure=4) == first
    assert keys(panels=[tiny.panel("another title")]) == first
    for changes in (
        {"rounds": 61},
        {"k": 3},
        {"seeds": [10, 11]},
        {"points": 5},
        {"panels": [tiny.panel(n_items=13)]},
        {"policies": [tiny.policy("club_cascade", users="all", alpha=0.4, beta=1.0)]},
    ):
        assert not keys(**changes) & first


def test_seeds_are_paired_across_policies_and_differ_across_seeds():
    cells = plan(tiny.experiment())
    (_, first), (_, second), (_, other) = (build(cells[i]) for i in (0, 2, 1))
    for env in (first, second, other):
        env.reset(Seeds.of(0).luck)
    rounds = [[env.next_user()[0] for _ in range(50)] for env in (first, second)]
    assert rounds[0] == rounds[1]
    assert list(first.partition) == list(second.partition)
    items = [np.asarray(getattr(env.next_user()[1], "features", None)) for env in (first, other)]
    assert not np.array_equal(*items)
    assert Seeds.of(0) != Seeds.of(1)


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
    monkeypatch.setattr(cells, "simulate", lambda *a, **k: played.append(simulate(*a, **k)))
    warm_up(plan(tiny.experiment(rounds=100_000, seeds=3)))
    assert len(played) == 2


def test_warming_up_leaves_failing_runs_to_the_cells():
    warm_up(plan(tiny.experiment(k=13)))


def test_a_run_ends_at_the_last_round():
    cell = plan(tiny.experiment(rounds=61))[0]
    trace = run(cell)
    assert trace.round[-1] == 61
    assert len(trace.regret) == len(trace.round)
