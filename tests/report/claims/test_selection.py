from __future__ import annotations

import pytest

from clubcascade.report import selection
from tests.report import made


def run_of(tmp_path, policies):
    plan = made.experiment([made.world("(a)")], policies)
    finals = {("(a)", label): 10.0 for label in policies}
    return made.run(tmp_path / "synthetic", plan, made.regrets(finals))


def labels(run, role):
    (panel,) = run.results.experiment.panels
    return [contender.label for contender in selection.policies(run, panel, role)]


def pairs(run, *roles, same=()):
    (panel,) = run.results.experiment.panels
    return [(a.label, b.label) for a, b in selection.policy_pairs(run, panel, roles, same)]


def test_the_paper_s_algorithm_is_the_one_with_the_sparse_start(tmp_path):
    run = run_of(tmp_path, ["complete", "C3", "CLUB", "MultipleLinUCB"])
    assert labels(run, "ours") == ["CLUB"] and labels(run, "complete") == ["complete"]
    assert pairs(run, "sparse", "complete", same=["alpha", "reg"]) == [("CLUB", "complete")]
    assert pairs(run, "sparse", "complete", same=["start"]) == []
    assert labels(run, "theirs") == ["C3"]
    assert labels(run, "multiple") == ["MultipleLinUCB"]
    assert pairs(run, "ours", "theirs") == [("CLUB", "C3")]


def test_without_a_sparse_start_the_complete_one_stands_in(tmp_path):
    run = run_of(tmp_path, ["complete", "C3"])
    assert labels(run, "ours") == ["complete"]
    assert labels(run, "sparse") == pairs(run, "sparse", "complete") == []


def test_policies_without_results_do_not_count(tmp_path):
    whole = run_of(tmp_path, ["CLUB", "C3"])
    run = made.without(whole, lambda rows: rows["policy"] == "CLUB")
    assert labels(run, "ours") == pairs(run, "ours", "theirs") == []


@pytest.mark.parametrize(
    ("title", "clicks", "name"),
    [
        ("u=40", "yelp", "yelp"),
        ("u=40", "data/movielens-1m.npz", "movielens"),
        ("MovieLens, u=40", "mine", "movielens"),
        ("u=40", "mine", None),
    ],
)
def test_data_sets_are_known_by_their_name_or_the_title(title, clicks, name):
    (panel,) = made.experiment([made.replay(title, clicks)]).panels
    assert selection.data_set(panel) == name


def test_groups_and_pairs_of_panels(tmp_path):
    worlds = [
        made.world("a", gap="orthogonal", n_clusters=2),
        made.world("b", gap=0.2, n_clusters=2),
        made.world("c", gap=0.2, n_clusters=3, n_users=9),
    ]
    run = made.run(tmp_path / "x", made.experiment(worlds), lambda *key: {})

    def titles(group):
        return [panel.title for panel in selection.panels(run, group)]

    def paired(*groups, **rules):
        return [(a.title, b.title) for a, b in selection.panel_pairs(run, groups, **rules)]

    assert titles("near") == ["b", "c"] and titles("far") == ["a"]
    assert titles("most users") == ["c"] and titles("fewest users") == ["a", "b"]
    assert paired("all", "all", alike=["gap"]) == [("b", "c"), ("c", "b")]
    assert paired("all", "all", alike=["gap"], more="n_clusters") == [("c", "b")]
