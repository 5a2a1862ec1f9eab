from __future__ import annotations

from pathlib import Path

import pytest

from clubcascade.errors import InvalidConfig, UnknownName
from clubcascade.experiment.config import parse, read_experiment, shipped
from tests.experiment import tiny


def test_reads_what_is_written_in_the_file():
    experiment = tiny.experiment(seeds=[5, 3], figure=2)
    assert (experiment.rounds, experiment.k, experiment.every) == (60, 2, 3)
    assert experiment.seeds == (5, 3)
    assert experiment.figure == 2
    assert [contender.policy for contender in experiment.policies] == ["club_cascade", "random"]


def test_defaults_of_constructors_are_written_out():
    experiment = tiny.experiment(policies=[tiny.policy("c3_ucb", "C3", beta=1.0)])
    parameters = experiment.policies[0].parameters
    assert parameters["beta"] == 1.0
    assert parameters["reg"] == 4.0
    assert "n_features" not in parameters and "seed" not in parameters
    assert experiment.panels[0].parameters["items"] == "fixed"


def test_a_policy_without_a_label_is_called_by_its_name():
    experiment = tiny.experiment(policies=[{"policy": "random"}])
    assert experiment.policies[0].label == "random"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"round": 5}, r"unknown key 'round' in the experiment file; did you mean 'rounds'\?"),
        ({"rounds": 0}, r"rounds must be a whole number >= 1, got 0"),
        ({"rounds": 1.5}, r"rounds must be a whole number >= 1, got 1\.5"),
        ({"rounds": "many"}, r"rounds must be a whole number >= 1, got 'many'"),
        ({"rounds": True}, r"rounds must be a whole number >= 1, got True"),
        ({"k": 0}, r"k must be a whole number >= 1, got 0"),
        ({"points": -1}, r"points must be a whole number >= 1, got -1"),
        ({"figure": "one"}, r"figure must be a whole number >= 1, got 'one'"),
        ({"seeds": 0}, r"seeds must be a whole number >= 1, got 0"),
        ({"seeds": []}, r"seeds must be one or more distinct seeds, got \[\]"),
        ({"seeds": [1, 1]}, r"seeds must be one or more distinct seeds, got \[1, 1\]"),
        ({"seeds": [1, -1]}, r"seeds\[1\] must be a whole number >= 0, got -1"),
        ({"title": ""}, r"title must be a string, not empty, got ''"),
        ({"title": 7}, r"title must be a string, not empty, got 7"),
        ({"panels": []}, r"panels must be one or more tables \[\[panels\]\], got \[\]"),
        ({"panels": {}}, r"panels must be one or more tables"),
        ({"panels": [3]}, r"panels\[0\] must be a table, got 3"),
        ({"policies": []}, r"policies must be one or more tables"),
        ({"quick": {"seed": 1}}, r"unknown key 'seed' in quick; did you mean 'seeds'\?"),
        ({"quick": {"rounds": 0}}, r"quick\.rounds must be a whole number >= 1, got 0"),
        ({"quick": 3}, r"quick must be a table, got 3"),
    ],
)
def test_a_wrong_key_or_value_is_named(changes, message):
    with pytest.raises(InvalidConfig, match=message):
        tiny.experiment(**changes)


@pytest.mark.parametrize("key", ["title", "rounds", "k", "seeds", "panels", "policies"])
def test_a_missing_key_is_named(key):
    table = tiny.content()
    del table[key]
    with pytest.raises(InvalidConfig, match=f"missing key '{key}' in the experiment file"):
        parse(table)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ({"label": "x"}, r"missing key 'policy' in policies\[0\]"),
        ({"policy": "club_cascad"}, r"policies\[0\]\.policy: .* did you mean 'club_cascade'\?"),
        ({"policy": 3}, r"policies\[0\]\.policy must be a string"),
        ({"policy": "random", "label": ""}, r"policies\[0\]\.label must be a string"),
        ({"policy": "random", "lable": "x"}, r"unknown key 'lable' .* did you mean 'label'\?"),
        (tiny.policy(bta=1.0), r"unknown parameter 'bta' in policies\[0\]\.parameters.*'beta'\?"),
        (tiny.policy("known_clusters"), r"missing parameter 'partition'.*KnownClusters needs it"),
        ({"policy": "random", "parameters": 3}, r"policies\[0\]\.parameters must be a table"),
        (tiny.policy(beta=object()), r"policies\[0\]\.parameters\.beta must be a string, a number"),
        (tiny.policy(beta=[1, None]), r"policies\[0\]\.parameters\.beta\[1\] must be"),
    ],
)
def test_a_wrong_policy_is_named(policy, message):
    with pytest.raises(InvalidConfig, match=message):
        tiny.experiment(policies=[policy])


@pytest.mark.parametrize(
    ("panel", "message"),
    [
        ({"title": "x"}, r"missing key 'environment' in panels\[0\]"),
        ({"environment": "synthetic"}, r"missing key 'title' in panels\[0\]"),
        ({"title": "x", "environment": "sintetic"}, r"did you mean 'synthetic'\?"),
        (tiny.panel(n_user=3), r"unknown parameter 'n_user'.*did you mean 'n_users'\?"),
        ({"title": "x", "environment": "synthetic"}, r"missing parameter 'n_users'"),
    ],
)
def test_a_wrong_panel_is_named(panel, message):
    with pytest.raises(InvalidConfig, match=message):
        tiny.experiment(panels=[panel])


def test_titles_and_labels_are_distinct():
    with pytest.raises(InvalidConfig, match=r"panels\[1\]\.title must be distinct, got 'a' twice"):
        tiny.experiment(panels=[tiny.panel("a"), tiny.panel("a")])
    with pytest.raises(InvalidConfig, match=r"policies\[1\]\.label must be distinct"):
        tiny.experiment(policies=[tiny.policy(), tiny.policy()])


def test_quick_and_the_arguments_replace_rounds_and_seeds():
    table = tiny.content(quick={"rounds": 10})
    assert parse(table).rounds == 60
    assert parse(table, quick=True).rounds == 10
    assert parse(table, quick=True, changes={"seeds": 3}).seeds == (0, 1, 2)
    with pytest.raises(InvalidConfig, match=r"no \[quick\] table"):
        parse(tiny.content(), quick=True)
    with pytest.raises(InvalidConfig, match="rounds must be a whole number >= 1, got 0"):
        parse(table, changes={"rounds": 0})


def test_a_file_that_is_not_toml_is_named(tmp_path: Path):
    file = tmp_path / "bad.toml"
    file.write_text("rounds = = 3")
    with pytest.raises(InvalidConfig, match=r"bad\.toml is not a TOML file"):
        read_experiment(file)
    file.write_bytes(b"title = \xff")
    with pytest.raises(InvalidConfig, match=r"bad\.toml is not a TOML file"):
        read_experiment(file)
    file.write_text("rounds = 3")
    with pytest.raises(InvalidConfig, match=r"bad\.toml: missing key 'title'"):
        read_experiment(str(file))


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(
        UnknownName, match="unknown experiment 'sintetic'; did you mean 'synthetic'"
    ):
        read_experiment("sintetic")


@pytest.mark.parametrize("name", sorted(shipped()))
@pytest.mark.parametrize("quick", [False, True])
def test_shipped_files_are_whole(name: str, quick: bool):
    experiment = read_experiment(name, quick=quick)
    assert len(experiment.seeds) > 1
    assert len(experiment.panels) > 1 and len(experiment.policies) > 1


def test_only_figures_of_the_paper_have_a_number():
    assert read_experiment("synthetic").figure == 1
    assert read_experiment("glm").figure is None


def test_figure_1_is_the_papers():
    experiment = read_experiment("synthetic")
    worlds = [
        (panel.parameters["gap"], panel.parameters["n_clusters"]) for panel in experiment.panels
    ]
    assert worlds == [("orthogonal", 2), ("orthogonal", 5), (0.2, 2), (0.2, 5)]
    assert experiment.k == 4
    for panel in experiment.panels:
        sizes = [panel.parameters[name] for name in ("n_users", "n_items", "n_features")]
        assert sizes == [40, 200, 20]
