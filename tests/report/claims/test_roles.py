from __future__ import annotations

import pytest

from clubcascade.report.claims import roles
from tests.report import made


def run_of(tmp_path, policies):
    plan = made.experiment([made.world("(a)")], policies)
    finals = {("(a)", label): 10.0 for label in policies}
    return made.run(tmp_path / "synthetic", plan, made.regrets(finals))


def test_the_paper_s_algorithm_is_the_one_with_the_sparse_start(tmp_path):
    run = run_of(tmp_path, ["complete", "C3", "CLUB", "per user"])
    (panel,) = run.results.experiment.panels
    assert roles.ours(run, panel).label == "CLUB"
    assert [c.label for c in roles.complete(run, panel)] == ["complete"]
    assert [(a.label, b.label) for a, b in roles.starts(run, panel)] == [("CLUB", "complete")]
    assert [c.label for c in roles.theirs(run, panel)] == ["C3"]
    assert roles.multiple(run, panel).label == "per user"
    assert [(a.label, b.label) for a, b in roles.rivals(run, panel)] == [("CLUB", "C3")]


def test_without_a_sparse_start_the_complete_one_stands_in(tmp_path):
    run = run_of(tmp_path, ["complete", "C3"])
    (panel,) = run.results.experiment.panels
    assert [roles.ours(run, panel)] == roles.complete(run, panel)
    assert roles.sparse(run, panel) == list(roles.starts(run, panel)) == []


def test_policies_without_results_do_not_count(tmp_path):
    whole = run_of(tmp_path, ["CLUB", "C3"])
    run = made.without(whole, lambda rows: rows["policy"] == "CLUB")
    (panel,) = run.results.experiment.panels
    assert roles.ours(run, panel) is None
    assert list(roles.rivals(run, panel)) == []


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
    assert roles.data_set(panel) == name


def test_near_clusters_and_pairs_of_panels():
    panels = made.experiment(
        [
            made.world("a", gap="orthogonal", n_clusters=2),
            made.world("b", gap=0.2, n_clusters=2),
            made.world("c", gap=0.2, n_clusters=3),
        ]
    ).panels
    assert [roles.is_near(panel) for panel in panels] == [False, True, True]
    same = [(a.title, b.title) for a, b in roles.pairs(panels, panels, ["gap"])]
    assert same == [("b", "c"), ("c", "b")]
