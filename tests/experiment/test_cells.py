from __future__ import annotations

import numpy as np

from clubcascade.experiment.cells import Seeds, plan
from clubcascade.experiment.running import build
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
        {"panels": [tiny.panel() | {"rounds": 61}]},
        {"panels": [tiny.panel() | {"k": 3}]},
        {"panels": [tiny.panel(arrivals={"zipf": 1.0})]},
        {"panels": [tiny.panel(click={"model": "dcm", "stop": 0.5})]},
    ):
        assert not keys(**changes) & first


def test_seeds_are_paired_across_policies_and_differ_across_seeds():
    cells = plan(tiny.experiment())
    (_, first), (_, second), (_, other) = (build(cells[i]) for i in (0, 2, 1))
    for env in (first, second, other):
        env.reset(Seeds.of(0).simulation)
    rounds = [[env.next_user()[0] for _ in range(50)] for env in (first, second)]
    assert rounds[0] == rounds[1]
    assert list(first.partition) == list(second.partition)
    items = [np.asarray(getattr(env.next_user()[1], "features", None)) for env in (first, other)]
    assert not np.array_equal(*items)
    assert Seeds.of(0) != Seeds.of(1)


def test_the_key_depends_on_the_content_of_the_data_and_not_on_its_name():
    def keys(name, **prints):
        return [cell.key for cell in plan(tiny.experiment(panels=[tiny.pool(name)]), prints)]

    assert keys("a", a="1") == keys("b", b="1")
    assert not set(keys("a", a="1")) & set(keys("a", a="2"))
    assert not set(keys("a", a="1")) & set(keys("a"))


def test_a_panel_has_its_own_length_and_policies():
    short = tiny.panel("short") | {"rounds": 7, "k": 3, "policies": ["random"]}
    cells = plan(tiny.experiment(panels=[tiny.panel("long"), short], seeds=1))
    assert [(cell.contender.label, cell.rounds, cell.k, cell.every) for cell in cells] == [
        ("CLUB", 60, 2, 3),
        ("random", 60, 2, 3),
        ("random", 7, 3, 1),
    ]
    assert cells[2].effort < cells[1].effort


def test_a_policy_to_be_tuned_runs_where_its_values_are_chosen():
    tuned = tiny.tuned_content()
    assert [cell.contender.label for cell in plan(tiny.parsed(tuned))] == ["random"] * 2
    tuned["panels"][0]["tuned"] = {"CLUB": {"alpha": 0.2}}
    cells = plan(tiny.parsed(tuned))
    assert [cell.contender.label for cell in cells] == ["CLUB", "CLUB", "random", "random"]
    assert cells[0].contender.parameters["alpha"] == 0.2
