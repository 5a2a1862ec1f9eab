from __future__ import annotations

import copy
import tomllib
from datetime import date
from pathlib import Path

import pytest

from clubcascade.errors import ClubCascadeError, InvalidConfig, UnknownName
from clubcascade.experiment.cells import plan
from clubcascade.experiment.config import parse, read_experiment
from clubcascade.experiment.files import read_content, shipped
from clubcascade.experiment.provenance import provenance
from clubcascade.experiment.results import experiment_text
from clubcascade.experiment.running import build
from clubcascade.experiment.schema import Experiment
from clubcascade.experiment.tuners import settled, tuners
from tests.experiment import tiny


def test_reads_what_is_written_in_the_file():
    experiment = tiny.experiment(seeds=[5, 3], figure=2)
    assert (experiment.rounds, experiment.k, experiment.step(60)) == (60, 2, 3)
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
        ({"seeds": 0}, r"seeds must be a number of seeds in \[1, 100000\], or distinct.*, got 0"),
        ({"seeds": 10**9}, r"seeds must be a number of seeds in .*, got 1000000000"),
        ({"seeds": []}, r"seeds must be a number of seeds in .*, or distinct seeds, got \[\]"),
        ({"seeds": [1, 1]}, r"seeds must be distinct, got \[1, 1\]"),
        ({"seeds": "two"}, r"seeds must be a number of seeds in .*, got 'two'"),
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
        ({"measure": "regrets"}, r"measure must be one of .*'regrets'; did you mean 'regret'\?"),
        ({"tune": {"seeds": 2}}, r"must come together, got the table alone"),
        ({"tune": {"seeds": 2, "budget": 0}}, r"tune\.budget must be a whole number >= 1, got 0"),
        ({"tune": {"seeds": [3, 3]}}, r"tune\.seeds must be distinct, got \[3, 3\]"),
        ({"quick": {"tune": {"seed": 2}}}, r"unknown key 'seed' in quick\.tune"),
        ({"all_panels": 3}, r"all_panels must be a table, got 3"),
        ({"all_panel": {}}, r"unknown key 'all_panel' .*did you mean 'all_panels'\?"),
        ({"tune": {"seed": 2}}, r"unknown key 'seed' in tune; did you mean 'seeds'\?"),
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
        (tiny.policy() | {"tune": {"beta": [1]}}, r"got 'C3-UCB' without a \[tune\] table"),
        (tiny.policy() | {"tune": {"bta": [1]}}, r"unknown parameter 'bta' in policies\[0\]\.tune"),
        (tiny.policy() | {"tune": {"beta": 1}}, r"tune\.beta must be a list of values, got 1"),
        (tiny.policy() | {"sweep": {"beta": []}}, r"sweep\.beta must be a list of values"),
        (tiny.policy() | {"sweep": {}}, r"sweep must be lists of values by parameter"),
        (tiny.policy() | {"sweep": {"beta": [None]}}, r"sweep\.beta\[0\] must be a string"),
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
        (tiny.panel() | {"rounds": 0}, r"panels\[0\]\.rounds must be a whole number >= 1"),
        (tiny.panel() | {"k": "x"}, r"panels\[0\]\.k must be a whole number >= 1"),
        (tiny.panel() | {"policies": []}, r"policies must be one or more distinct strings"),
        (tiny.panel() | {"policies": ["CLUV"]}, r"panels\[0\]: unknown policy .*'CLUB'\?"),
        (tiny.panel() | {"tuned": {"x": {}}}, r"panels\[0\]: unknown policy 'x'"),
        (tiny.panel() | {"policies": ["CLUB"] * 2}, r"panels\[0\]\.policies must be distinct"),
        (tiny.panel() | {"tuned": {"a": {}, "b": 3}}, r"tuned\.b must be a table of parameters"),
        (tiny.panel() | {"parameters": 3}, r"panels\[0\]\.parameters must be a table, got 3"),
        (tiny.panel() | {"tuned": 3}, r"tuned must be a table of parameters by label"),
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


def test_panels_have_their_own_length_unless_all_are_given_another():
    table = tiny.content(panels=[tiny.panel() | {"rounds": 7, "k": 1}], quick={"rounds": 10})
    for changes, rounds in (({}, 7), ({"quick": True}, 10), ({"changes": {"rounds": 5}}, 5)):
        experiment = parse(table, **changes)
        assert experiment.rounds_of(experiment.panels[0]) == rounds
        assert experiment.k_of(experiment.panels[0]) == 1
    assert parse(table, changes={"seeds": 1}).panels[0].rounds == 7


def test_a_sweep_is_a_line_for_every_point():
    sweep = tiny.policy("c3_ucb", "C3") | {"sweep": {"beta": [0.1, 1], "reg": [2.0]}}
    lines = tiny.experiment(policies=[sweep]).policies
    assert [line.label for line in lines] == ["C3, beta=0.1, reg=2.0", "C3, beta=1, reg=2.0"]
    assert [line.parameters["beta"] for line in lines] == [0.1, 1]


def test_tuning_has_no_seed_of_the_results():
    table = tiny.tuned_content() | {"seeds": [50, 3]}
    with pytest.raises(InvalidConfig, match="must not be seeds of the experiment, got 50 in both"):
        parse(table)


def test_tuning_has_its_own_seeds_and_length():
    table = tiny.tuned_content() | {"tune": {"seeds": 2}}
    experiment = parse(table)
    assert not set(experiment.tune.seeds) & set(range(10_000)) and experiment.tune.rounds is None
    assert experiment.tune.budget == 48
    table["quick"] = {"rounds": 10, "tune": {"seeds": [9], "rounds": 5, "budget": 3}}
    assert parse(table) == experiment
    quick = parse(table, quick=True).tune
    assert (quick.seeds, quick.rounds, quick.budget) == ((9,), 5, 3)
    table["quick"] = {"tune": {"rounds": 5}}
    quick = parse(table, quick=True).tune
    assert (quick.seeds, quick.rounds) == (experiment.tune.seeds, 5)
    table["quick"] = {"tune": {"round": 5}}
    with pytest.raises(InvalidConfig, match=r"unknown key 'round' in quick\.tune"):
        parse(table, quick=True)


@pytest.mark.parametrize(
    ("changes", "first"),
    [
        ({}, False),
        ({"quick": True}, True),
        ({"changes": {"rounds": 59}}, True),
        ({"changes": {"rounds": 60, "seeds": 2}}, False),
        ({"changes": {"seeds": 1}}, True),
        ({"changes": {"rounds": 99, "seeds": 5}}, False),
    ],
)
def test_a_run_knows_whether_it_is_a_first_look(changes, first):
    short = tiny.panel("short") | {"rounds": 30}
    table = tiny.content(quick={"seeds": 1}, panels=[tiny.panel(), short])
    experiment = parse(table, **changes)
    assert experiment.first_look == first
    assert (experiment.full.rounds, experiment.full.seeds) == (60, 2)
    assert provenance(experiment, [])["first_look"] == first
    saved = parse(tomllib.loads(experiment_text(experiment)))
    assert saved.first_look == first
    assert not parse(
        tomllib.loads(experiment_text(saved)), changes={"rounds": 99, "seeds": 5}
    ).first_look


def test_the_longest_panel_counts():
    short = tiny.experiment(panels=[tiny.panel() | {"rounds": 30}])
    assert (short.full.rounds, short.longest, short.first_look) == (30, 30, False)
    with pytest.raises(InvalidConfig, match=r"full\.rounds must be a whole number >= 1, got 0"):
        tiny.experiment(full={"rounds": 0, "seeds": 1})


def test_a_file_that_is_not_toml_is_named(tmp_path: Path):
    file = tmp_path / "bad.toml"
    file.write_text("rounds = = 3")
    with pytest.raises(InvalidConfig, match=r"bad\.toml: not a TOML file: "):
        read_experiment(file)
    file.write_bytes(b"title = \xff")
    with pytest.raises(InvalidConfig, match=r"bad\.toml: not a TOML file: "):
        read_experiment(file)
    file.write_text("rounds = 3")
    with pytest.raises(InvalidConfig, match=r"bad\.toml: missing key 'title'"):
        read_experiment(str(file))


def test_panels_share_what_all_panels_says():
    small = {"title": "small", "parameters": {"n_items": 9}}
    shared = tiny.panel() | {"rounds": 7}
    large, small = tiny.experiment(all_panels=shared, panels=[tiny.panel("large"), small]).panels
    assert (large.rounds, large.parameters["n_items"]) == (7, 12)
    assert (small.environment, small.parameters["n_items"], small.rounds) == ("synthetic", 9, 7)
    assert small.parameters["gap"] == 0.5


def test_a_file_extends_another(tmp_path: Path):
    base = tmp_path / "base.toml"
    base.write_text(experiment_text(tiny.experiment(figure=2)) + "[quick]\nrounds = 9\nseeds = 1\n")
    file = tmp_path / "deep" / "file.toml"
    file.parent.mkdir()
    file.write_text('extends = "../base.toml"\ntitle = "mine"\n[quick]\nrounds = 5\n')
    read = read_experiment(file, quick=True)
    assert (read.title, read.rounds, read.seeds, read.figure) == ("mine", 5, (0,), None)
    assert read_experiment(file).panels == read_experiment(base).panels
    file.write_text('extends = "synthetic"\nrounds = 50\n')
    assert read_experiment(file).policies == read_experiment("synthetic").policies


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ('"file.toml"', r"file\.toml: extends must be another file, .*got 'file\.toml'"),
        ("3", r"file\.toml: extends must be another file, by name or path, got 3"),
        ('["synthetic"]', r"file\.toml: extends must be another file, .*got \['synthetic'\]"),
        ('"\\u0000.toml"', r"file\.toml: extends must be another file"),
        ('"' + "a" * 300 + '.toml"', r"file\.toml: extends must be another file"),
        ('"syntetic"', r"extends: unknown experiment 'syntetic'.*'synthetic'\?"),
        ('"nowhere.toml"', r"extends must be .*got 'nowhere\.toml'"),
        ('""', r"extends: unknown experiment ''"),
    ],
)
def test_a_wrong_extends_is_named(tmp_path: Path, name, message):
    file = tmp_path / "file.toml"
    file.write_text(f"extends = {name}\n")
    with pytest.raises(InvalidConfig, match=message):
        read_experiment(file)


def test_files_that_extend_each_other_are_named(tmp_path: Path):
    (tmp_path / "a.toml").write_text('extends = "b.toml"')
    (tmp_path / "b.toml").write_text('extends = "a.toml"')
    with pytest.raises(InvalidConfig, match=r"extends must be another file, .*got '[ab]\.toml'"):
        read_experiment(tmp_path / "a.toml")


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(
        UnknownName, match="unknown experiment 'sintetic'; did you mean 'synthetic'"
    ):
        read_experiment("sintetic")


PAPER = {"synthetic": 1, "yelp": 2, "movielens": 3, "ctr": 4, "multiple": 5}
GRIDS = {"grid", "grid_real", "newcomers", "newcomers_real", "panels", "panels_real"}
TUNED = {*PAPER, *GRIDS}
ON_DATA = {"yelp", "movielens", "ctr", "multiple", "grid_real", "newcomers_real", "panels_real"}


@pytest.mark.parametrize("name", sorted(shipped()))
@pytest.mark.parametrize("quick", [False, True])
def test_shipped_files_are_whole(name: str, quick: bool):
    experiment = read_experiment(name, quick=quick)
    assert experiment.figure == PAPER.get(name)
    if quick:
        rounds = max(experiment.rounds_of(panel) for panel in experiment.panels)
        assert rounds * len(experiment.seeds) <= 40_000
    else:
        assert experiment.rounds >= (100_000 if name in PAPER else 20_000)
        assert len(experiment.seeds) >= 3
    assert bool(experiment.tune) == (name in TUNED)


BETA = (0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0)
REG = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
ALPHA = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, float("inf"))


@pytest.mark.parametrize("name", sorted(PAPER))
def test_every_policy_is_tuned_over_the_same_ranges(name: str):
    experiment = read_experiment(name)
    assert experiment.tune.budget == 48
    assert experiment.tune.rounds == (100_000 if name == "synthetic" else 50_000)
    assert len(experiment.tune.seeds) == (4 if name == "synthetic" else 2)
    for contender in experiment.policies:
        lines = dict(contender.tune)
        if contender.policy == "cascade_lin_ucb":
            sigma, c = lines.pop("sigma"), lines.pop("c")
            assert [s**2 for s in sigma] == pytest.approx(REG, rel=1e-3)
            assert min(c) * max(sigma) <= min(BETA) and max(c) * min(sigma) >= max(BETA) * 0.99
        elif contender.policy == "cascade_lin_ts" and lines:
            sigma = lines.pop("sigma")
            assert sigma[0] <= min(BETA) and sigma[-1] >= max(REG) ** 0.5 and len(sigma) <= 48
        assert lines.pop("beta", BETA) == BETA and lines.pop("reg", REG) == REG
        assert lines == ({"alpha": ALPHA} if "alpha" in lines else {})


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("name", ["relax", "ask"])
def test_a_first_look_lasts_until_something_is_to_be_seen(name: str, quick: bool):
    experiment = read_experiment(name, quick=quick)
    turns = []
    for contender in experiment.policies:
        turns += [step[0] for step in contender.parameters.get("steps", [])]
        turns += [contender.parameters[key] for key in ("rounds",) if key in contender.parameters]
    assert len(turns) >= 3
    assert all(experiment.rounds_of(panel) > 1.5 * max(turns) for panel in experiment.panels)


@pytest.mark.parametrize("name", sorted(shipped()))
def test_every_number_of_a_shipped_file_is_marked(name: str):
    text = shipped()[name].read_text(encoding="utf-8")
    assert "our choice" in text
    assert ("paper:" in text) or name not in PAPER


@pytest.mark.parametrize("name", sorted(set(shipped()) - ON_DATA))
def test_shipped_worlds_and_policies_can_be_built(name: str):
    experiment = read_experiment(name, quick=True, seeds=1)
    for cell in plan(settled(experiment, tuners(experiment), start=True)):
        build(cell)


def test_the_grids_are_run_on_seeds_of_their_own():
    used = {seed for name in set(shipped()) - GRIDS for seed in seeds_of(read_experiment(name))}
    for name in GRIDS:
        grid = read_experiment(name)
        assert len(grid.seeds) == 20 and not used & set(seeds_of(grid))
        untuned = [c.label for c in grid.policies if not c.tune]
        assert untuned == ["CohortCascade", "HierTS", "HierTS + memory"]
        written = read_content(shipped()[name])["policies"]
        assert written[0]["policy"] == "cohort_cascade" and "parameters" not in written[0]


def seeds_of(experiment: Experiment) -> tuple[int, ...]:
    return experiment.seeds + (experiment.tune.seeds if experiment.tune else ())


def test_figures_2_and_3_are_the_papers():
    for name, rule in (("yelp", "most"), ("movielens", "random")):
        experiment = read_experiment(name)
        sizes = [(p.parameters["n_users"], p.parameters["n_items"]) for p in experiment.panels]
        assert sizes == [(40, 200), (40, 1000), (200, 200), (200, 1000)]
        for panel in experiment.panels:
            assert panel.parameters["clicks"] == name and panel.parameters["rule"] == rule
            sizes = [panel.parameters[key] for key in ("pool", "history", "n_features")]
            assert sizes == [1000, 100, 20]


def test_figures_4_and_5_share_their_runs_with_2_and_3():
    prints = {"yelp": "y", "movielens": "m"}

    def keys(name):
        experiment = read_experiment(name)
        searches = tuners(experiment, prints)
        cells = [cell for search in searches for cell in search.batch]
        cells += plan(settled(experiment, searches, start=True), prints)
        return {cell.key: cell for cell in cells}

    before = keys("yelp") | keys("movielens")
    assert set(keys("ctr")) <= set(before)
    new = {
        cell.panel.parameters["n_users"]
        for key, cell in keys("multiple").items()
        if key not in before
    }
    assert new == {900}


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


@pytest.mark.parametrize("name", sorted(shipped()))
def test_the_policy_to_use_by_default_is_shown_beside_the_others(name):
    experiment = read_experiment(name)
    written = read_content(shipped()[name])["policies"]
    ours = [policy for policy in written if policy["policy"] == "cohort_cascade"]
    assert ours and all(set(policy.get("parameters", {})) <= {"link"} for policy in ours)
    for panel in experiment.panels:
        played = panel.policies or tuple(contender.label for contender in experiment.policies)
        assert any(policy["label"] in played for policy in ours), panel.title


WRONG = [
    None,
    -1,
    1.5,
    True,
    " ",
    [],
    [[]],
    {},
    {"a": 1},
    [{}],
    float("nan"),
    10**400,
    date(2020, 1, 1),
]


def places(content, path=()):
    """The paths of all values of an experiment file."""
    pairs = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in pairs:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


@pytest.mark.parametrize("wrong", WRONG, ids=lambda value: repr(value)[:12])
def test_whatever_stands_at_a_key_the_error_is_a_sentence_of_ours(wrong):
    shared = {"parameters": {"arrivals": {"zipf": 1.0}, "click": {"model": "dcm", "stop": 0.5}}}
    table = tiny.tuned_content() | {"quick": {"tune": {"seeds": 1}}, "all_panels": shared}
    table["panels"][0] |= {"policies": ["CLUB", "C3"], "tuned": {"C3": {"beta": 1.0}}}
    refused = 0
    for path in list(places(table)):
        broken = copy.deepcopy(table)
        inner = broken
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = wrong
        try:
            parse(broken)
        except ClubCascadeError as error:
            refused += 1
            assert "$" not in str(error) and "Expected `" not in str(error)
    assert refused > 20


def test_what_is_wrong_in_a_file_that_is_extended_is_named(tmp_path: Path):
    (tmp_path / "base.toml").write_text("rounds = ")
    (tmp_path / "file.toml").write_text('extends = "base.toml"\n')
    with pytest.raises(InvalidConfig, match=r"file\.toml: extends base\.toml: not a TOML file"):
        read_experiment(tmp_path / "file.toml")


def test_files_extend_one_another_a_few_times_only(tmp_path: Path):
    for n in range(40):
        (tmp_path / f"{n}.toml").write_text(f'extends = "{n + 1}.toml"\n')
    (tmp_path / "40.toml").write_text("")
    with pytest.raises(InvalidConfig, match="extends must end after 10 files"):
        read_experiment(tmp_path / "0.toml")


@pytest.mark.parametrize("measure", ["loss", 3, ["regret"]])
def test_a_measure_that_is_none_is_refused(measure):
    content = read_content(shipped()["synthetic"]) | {"measure": measure}
    with pytest.raises(InvalidConfig, match=r"measure must be one of .*got"):
        parse(content)
