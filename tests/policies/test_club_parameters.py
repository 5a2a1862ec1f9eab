"""The parameters of CLUB-cascade: refused at once, or taken from the theorem."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import clubcascade as cc
from clubcascade.errors import InvalidArgument
from clubcascade.policies._legacy import upgraded


def test_policies_are_validated_at_once():
    for changes, words in (
        ({"alpha": -1.0}, r"alpha must be a number in \[0, inf\], got -1.0"),
        ({"alpha": float("nan")}, "alpha"),
        ({"beta": float("inf")}, "beta"),
        ({"beta": "much"}, "beta"),
        ({"reg": 0.0}, r"reg must be a number in \[1e-06, 1e\+09\], got 0.0"),
        ({"n_features": 0}, "n_features must be a whole number >= 1, got 0"),
        ({"n_features": 2.5}, "n_features"),
        ({"start": "star"}, "start must be one of"),
        ({"start": "random"}, "edge_probability"),
        ({"edge_probability": 0.5}, "complete"),
        ({"start": "random", "edge_probability": 1.5}, "edge_probability"),
        ({"users": [1, 1]}, "distinct"),
        ({"seed": -1}, "seed"),
    ):
        with pytest.raises(cc.errors.InvalidArgument, match=words):
            cc.ClubCascade(**({"n_features": 3} | changes))


def test_club_cascade_has_at_most_ten_parameters():
    assert len(cc.ClubCascade(n_features=1).params) <= 10


@pytest.mark.parametrize("kind", [cc.ClubCascade, cc.ClubCascadeGLM, cc.C3UCBGLM])
def test_parameters_of_earlier_versions_say_where_they_are_now(kind):
    for name, place in kind.moved_parameters.items():
        words = f"^{name} is no parameter of {kind.__name__} any more: "
        with pytest.raises(cc.errors.InvalidArgument, match=words + re.escape(place)):
            kind(n_features=3, **{name: 1})
        with pytest.raises(cc.errors.InvalidArgument, match=words):
            kind(n_features=3).set_params(**{name: 1})


def test_what_is_named_instead_exists():
    for kind in (cc.ClubCascade, cc.ClubCascadeGLM):
        for place in kind.moved_parameters.values():
            for path in re.findall(r"clubcascade\.([\w.]+)", place):
                found = cc
                for part in path.split("."):
                    found = getattr(found, part)


def test_two_levels_below_policy_at_most():
    for kind in cc.POLICIES.values():
        chain = [each for each in kind.__mro__ if issubclass(each, cc.Policy)]
        assert len(chain) <= 3, chain  # the policy, its frame, Policy


def test_a_subclass_may_have_a_parameter_of_a_moved_name():
    class Mine(cc.ClubCascade):
        def __init__(self, *, n_features, delta=0.1):
            super().__init__(n_features=n_features)
            self.delta = delta

    assert Mine(n_features=3, delta=0.5).delta == 0.5
    with pytest.raises(InvalidArgument, match="horizon is no parameter of Mine any more"):
        Mine(n_features=3, horizon=9)


@pytest.mark.slow
def test_the_graph_is_read_while_users_join():
    policy = cc.ClubCascade(n_features=3, alpha=1.0)
    stop = threading.Event()

    def read():
        while not stop.is_set():
            policy.graph.edges()

    with ThreadPoolExecutor(2) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        for user in range(300):
            policy.update(user, np.eye(3), 0)
        stop.set()
        for reader in readers:
            reader.result()
    assert len(policy.clusters()) >= 1


@pytest.mark.parametrize("name", ["start", "users", "discounts"])
def test_an_array_that_is_no_list_is_refused(name):
    with pytest.raises(InvalidArgument, match=f"{name} must be"):
        cc.ClubCascade(n_features=3, **{name: np.array("a")})


def test_a_model_of_another_package_is_left_as_it_is():
    model = "their_glm", {"n_features": 3, "delta": 0.7}, {"users": []}
    assert upgraded(*model) == model
