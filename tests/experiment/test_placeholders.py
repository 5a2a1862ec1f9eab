from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import clubcascade as cc
from clubcascade.errors import InvalidConfig
from clubcascade.experiment.cells import plan, trials
from clubcascade.experiment.config import read_experiment
from clubcascade.experiment.running import build
from clubcascade.policies._legacy import upgraded_entry
from tests.experiment import tiny


def world(**changes):
    return build(plan(tiny.experiment(panels=[tiny.panel(**changes)]))[0])[1]


def policy(name, **parameters):
    return build(plan(tiny.experiment(policies=[tiny.policy(name, "x", **parameters)]))[0])


def test_click_models_are_named():
    assert world(click="cascade").click.stop.tolist() == [1.0]
    assert world(click={"model": "dcm", "stop": [0.8, 0.5]}).click.stop.tolist() == [0.8, 0.5]
    assert isinstance(world().click, cc.click.Cascade)


def test_arrivals_by_a_law():
    weights = np.array([n**-2.0 for n in range(1, 7)])
    cumulated = world(arrivals={"zipf": 2.0})._shares
    np.testing.assert_allclose(cumulated, weights.cumsum() / weights.sum())
    assert world(arrivals=[1, 1, 1, 1, 1, 2]).arrivals == [1, 1, 1, 1, 1, 2]


def test_change_points_are_rounds_or_shares_of_the_run():
    assert world(changes={"at": 0.5, "users": "new"}).changes.at == (30,)
    assert world(changes={"at": [0.25, 0.9]}).changes.at == (15, 54)
    assert world(changes={"at": [10, 40]}).changes.at == (10, 40)
    content = tiny.tuned_content() | {"panels": [tiny.panel(changes={"at": [0.5]})]}
    experiment = tiny.parsed(content)
    at = {"alpha": 0.1}
    trial = trials(experiment, experiment.panels[0], experiment.policies[0], None, at)[0]
    assert build(trial)[1].changes.at == (15,)  # of 30 rounds
    assert trial.world != plan(experiment)[0].world
    assert experiment.panels[0].parameters["changes"] == {"at": [0.5]}


def test_values_of_the_environment_and_the_run():
    club, env = policy("club_cascade", users="all")
    assert list(club.users) == list(range(6))
    assert list(policy("known_clusters", partition="true")[0].partition) == list(env.partition)


def test_constants_of_the_paper():
    theorem = {"theorem": 2}
    club, env = policy("club_cascade", users="all", alpha=theorem, beta=theorem, reg=3.0)
    eigenvalue = cc.theory.item_eigenvalue(env.catalog.features)
    assert club.alpha == cc.theory.alpha(env.n_features, eigenvalue)
    assert club.beta == cc.theory.beta(env.n_features, 60, 2, 3.0)
    named, _ = policy("club_cascade", alpha={"theorem": 2, "item_eigenvalue": 0.05})
    assert named.alpha == cc.theory.alpha(env.n_features, 0.05)
    sparse = {"start": "random", "edge_probability": {"smallest_share": 0.5}}
    assert policy("club_cascade", users="all", **sparse)[0].edge_probability == (
        cc.theory.edge_probability(6, 2, 0.5, 0.1)
    )
    theorem = {"theorem": 4}
    glm, _ = policy("club_cascade_glm", users="all", alpha=theorem, beta=theorem)
    slope = glm.link.slope
    assert glm.alpha == cc.theory.alpha_glm(env.n_features, eigenvalue, slope)
    assert glm.beta == cc.theory.beta_glm(env.n_features, 60, 2, eigenvalue, slope)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": {"theorem": 3}}, r"alpha must be a number or \{theorem = 2\}.*got"),
        ({"alpha": {}}, r"alpha must be a number or \{theorem = 2\}"),
        ({"beta": {"theorem": 2, "horizont": 5}}, "unknown parameter 'horizont'.*'horizon'"),
        ({"beta": {"theorem": 2, "horizon": 0}}, "beta: horizon must be a whole number >= 1"),
        ({"beta": {"theorem": 4}}, "beta: 'link'"),
        (
            {"start": "random", "edge_probability": {}},
            "missing parameter 'smallest_share' in edge_",
        ),
    ],
)
def test_constants_that_cannot_be_worked_out(parameters, message):
    with pytest.raises(InvalidConfig, match=message):
        policy("club_cascade", **parameters)


def test_a_policy_around_another_one_is_built_with_sizes_and_seeds():
    inner = {"name": "club_cascade", "users": "all", "alpha": {"theorem": 2}}
    spanner = {"name": "spanner_exploration", "policy": inner}
    found, env = policy("alpha_schedule", steps=[[9, 0.5]], policy=spanner)
    assert isinstance(found, cc.AlphaSchedule) and isinstance(found.policy, cc.SpannerExploration)
    assert found.n_features == env.n_features and len(found.users) == 6
    assert found.base.seed == policy("club_cascade")[0].seed > 0
    assert found.base.alpha > 2.0 and found.policy.share == 0.3


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"policy": {"name": "club"}}, r"policies\[0\]\.parameters\.policy\.name: unknown policy"),
        ({"policy": {}}, r"parameters\.policy\.name: unknown policy 'None'"),
        ({"policy": {"name": "club_cascade", "alfa": 1}}, r"unknown parameter 'alfa'.*'alpha'"),
        ({"policy": {"name": "club_cascade", "ask": 1}}, r"policy: ask is no parameter of ClubCas"),
        ({}, "missing parameter 'policy'"),
    ],
)
def test_a_policy_inside_is_checked_as_the_file_is_read(parameters, message):
    with pytest.raises(InvalidConfig, match=message):
        policy("spanner_exploration", **parameters)


def test_parameters_that_have_moved_say_where_they_are():
    with pytest.raises(InvalidConfig, match=r"parameters: horizon is no parameter of ClubCascade"):
        policy("club_cascade", horizon=500)


@pytest.mark.parametrize("name", ["relax", "ask", "spanner", "bound", "start", "glm"])
def test_saved_experiments_of_an_earlier_version_are_those_of_today(name):
    """The file of a result folder, every value stated, with the parameters of before."""
    earlier = read_experiment(Path(__file__).parent / "earlier" / f"{name}.toml")
    today = {contender.label: contender for contender in read_experiment(name).policies}
    assert len(earlier.policies) > 4
    for contender in earlier.policies:
        now, then = today[contender.label], contender.parameters
        assert contender.policy == now.policy
        p = then.get("edge_probability")
        if isinstance(p, dict):
            assert p.pop("delta") == 0.1  # stated then, a default now
        assert then == now.parameters


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"click": "dcn"}, r"panels\[0\]\.parameters\.click: .*did you mean 'dcm'\?"),
        ({"click": {"stop": 1}}, r"click must be a click model's name"),
        ({"click": 3}, r"click must be a click model's name"),
        ({"click": {"model": "dcm", "stops": 1}}, r"unknown parameter 'stops'.*'stop'\?"),
        ({"click": {"model": "dcm", "stop": 2}}, r"click: stop must be probabilities"),
        ({"click": "dcm"}, r"click: .*stop"),
        ({"changes": 0.5}, r"parameters\.changes must be a table"),
        ({"changes": {"at": 0.5, "swich": 1}}, r"unknown parameter 'swich'.*'switch'\?"),
        ({"changes": {"at": [0]}}, r"changes: at must be a whole number >= 1, got 0"),
        ({"changes": {"at": [0.5, 0.4]}}, r"changes: at must be ascending"),
        ({"arrivals": {"zip": 1}}, r"unknown law 'zip' .*did you mean 'zipf'\?"),
        ({"arrivals": {"zipf": -1}}, r"exponent of arrivals must be a number in \[0, 20\], got -1"),
        ({"arrivals": {}}, r"arrivals must be \{\"zipf\": exponent\}, got \{\}"),
    ],
)
def test_a_name_that_stands_for_nothing_is_an_error(changes, message):
    with pytest.raises(InvalidConfig, match=message):
        tiny.experiment(panels=[tiny.panel(**changes)])


def test_clicks_are_named_by_text():
    with pytest.raises(InvalidConfig, match=r"clicks must be a data set's name or path, got 3"):
        tiny.experiment(panels=[tiny.pool(3)])


def test_the_true_clusters_of_a_pool_are_not_known(tmp_path):
    np.savez(tmp_path / "a.npz", clicks=np.ones((20, 12), bool))
    known = tiny.policy("known_clusters", "known", partition="true")
    experiment = tiny.experiment(panels=[tiny.pool(str(tmp_path / "a.npz"))], policies=[known])
    with pytest.raises(InvalidConfig, match=r"policy 'known': partition needs the true clusters"):
        build(plan(experiment)[0])


STATED = {"link": "logistic", "reg": 4.0, "solver": "exact", "horizon": "rounds"}


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        (
            "club_cascade_glm",
            {"delta": 0.1, "n_clusters": "true", "item_eigenvalue": 0.37},
            {
                "alpha": {"theorem": 4, "item_eigenvalue": 0.37},
                "beta": {"theorem": 4, "item_eigenvalue": 0.37},
            },
        ),
        (
            "club_cascade_glm",
            {"delta": 0.1, "n_clusters": 3, "item_eigenvalue": "true", "alpha": 0.6},
            {"alpha": 0.6, "beta": {"theorem": 4, "n_clusters": 3}},
        ),
        (
            "c3_ucb_glm",
            {"item_eigenvalue": "true"},
            {"beta": {"theorem": 4, "n_clusters": 1}},
        ),
        ("multiple_glm", {"n_clusters": 9}, {"beta": {"theorem": 4, "n_clusters": 9}}),
        ("known_clusters_glm", {"partition": "true"}, {"beta": {"theorem": 4}}),
    ],
)
def test_constants_of_a_saved_experiment_with_a_link(name, given, expected):
    same_name, params = upgraded_entry(name, STATED | given)
    assert same_name == name
    assert {each: params[each] for each in ("alpha", "beta") if each in params} == expected
    assert not params.keys() & {"horizon", "n_clusters", "item_eigenvalue", "delta"}
