from __future__ import annotations

import numpy as np
import pytest

import clubcascade as cc
from clubcascade.errors import InvalidConfig
from clubcascade.experiment.cells import plan
from clubcascade.experiment.running import build
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


def test_values_of_the_environment_and_the_run():
    club, env = policy(
        "club_cascade",
        users="all",
        horizon="rounds",
        n_clusters="true",
        item_eigenvalue="true",
    )
    assert list(club.users) == list(range(6))
    assert (club.horizon, club.n_clusters) == (60, 2)
    assert club.item_eigenvalue == cc.theory.item_eigenvalue(env.catalog.features)
    assert list(policy("known_clusters", partition="true")[0].partition) == list(env.partition)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"click": "dcn"}, r"panels\[0\]\.parameters\.click: .*did you mean 'dcm'\?"),
        ({"click": {"stop": 1}}, r"click must be a click model's name"),
        ({"click": 3}, r"click must be a click model's name"),
        ({"click": {"model": "dcm", "stops": 1}}, r"unknown parameter 'stops'.*'stop'\?"),
        ({"click": {"model": "dcm", "stop": 2}}, r"click: stop must be probabilities"),
        ({"click": "dcm"}, r"click: .*stop"),
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
    with pytest.raises(InvalidConfig, match=r"policy 'known': partition = 'true', but"):
        build(plan(experiment)[0])
