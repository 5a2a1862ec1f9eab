"""The paper's synthetic settings, and what is refused."""

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.special import expit, ndtr

import clubcascade as cc
from clubcascade.environments import Matrix, Synthetic, draws

SIZES = {"n_users": 40, "n_clusters": 5, "n_items": 200, "n_features": 20}


@pytest.mark.parametrize("gap", ["orthogonal", 0.2, 0.5, 1.0, 0.0, 1.5])
@pytest.mark.parametrize("items", ["fixed", "fresh"])
def test_settings_of_the_paper(gap, items):
    env = Synthetic(**SIZES, gap=gap, items=items, seed=3)
    distance = np.sqrt(2) if gap == "orthogonal" else gap
    norms = np.linalg.norm(env.weights, axis=1)
    np.testing.assert_allclose(norms, 1.0)
    between = np.linalg.norm(env.weights[:, None] - env.weights[None], axis=2)
    np.testing.assert_allclose(between[~np.eye(5, dtype=bool)], distance, atol=1e-7)
    if gap == 0.2:
        assert env.weights[0] @ env.weights[1] == pytest.approx(0.98)
    chances = env.weights @ env.catalog.features.T
    assert chances.min() >= 0.0
    assert chances.max() <= 1.0 + 1e-12
    assert set(env.partition.tolist()) == set(range(5))
    user, offered = env.next_user()
    assert len(offered) == 200


def test_mirrored_items_have_the_law_of_rejected_ones():
    env = Synthetic(n_users=2, n_clusters=2, n_items=4000, n_features=4, seed=1)
    rng = np.random.default_rng(2)
    draws = rng.standard_normal((40_000, 4))
    draws /= np.linalg.norm(draws, axis=1, keepdims=True)
    kept = draws[(draws @ env.weights.T >= 0).all(axis=1)]
    ours = env.catalog.features
    np.testing.assert_allclose(ours.mean(axis=0), kept.mean(axis=0), atol=0.04)
    np.testing.assert_allclose(ours.T @ ours / 4000, kept.T @ kept / len(kept), atol=0.03)


def test_clicks_come_with_the_probabilities():
    env = Synthetic(n_users=3, n_clusters=2, n_items=6, n_features=4, seed=1)
    env.reset(8)
    clicked = np.zeros((3, 6))
    rounds = np.zeros(3)
    for _ in range(6000):
        user, _ = env.next_user()
        rounds[user] += 1
        clicked[user] += [bool(env.respond(user, np.array([row])).clicks) for row in range(6)]
    np.testing.assert_allclose(clicked / rounds[:, None], env.attraction[env.kind], atol=0.06)
    np.testing.assert_allclose(rounds / 6000, 1 / 3, atol=0.04)


def test_weighted_arrivals():
    env = Synthetic(**SIZES | {"n_users": 5}, arrivals=[4, 1, 0, 1, 2], seed=1)
    users = np.bincount([env.next_user()[0] for _ in range(8000)], minlength=5)
    np.testing.assert_allclose(users / 8000, np.array([4, 1, 0, 1, 2]) / 8, atol=0.03)


def test_fresh_items_differ_between_rounds_and_never_repeat_within_one():
    env = Synthetic(**SIZES, items="fresh", seed=1)
    _, first = env.next_user()
    _, second = env.next_user()
    assert not np.array_equal(first, second)
    assert len(np.unique(first, axis=0)) == len(first)


def test_best_list_of_the_dependent_click_model():
    env = Matrix([[0.9, 0.5, 0.1]], np.eye(3), click=cc.click.DCM([0.2, 0.9]))
    env.next_user()
    lists = [np.array([a, b]) for a in range(3) for b in range(3) if a != b]
    values = [env.value(0, ranking) for ranking in lists]
    assert env.best_value(0, 2) == pytest.approx(max(values))
    assert lists[int(np.argmax(values))].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n_users": 0}, "n_users"),
        ({"n_clusters": 41}, "n_clusters"),
        ({"n_clusters": 25}, "at most n_features, 20"),
        ({"n_items": 0}, "n_items"),
        ({"gap": -0.1}, "gap"),
        ({"gap": 3.0}, "gap"),
        ({"gap": "wide"}, "gap"),
        ({"items": "stale"}, "items must be one of"),
        ({"arrivals": [1, 2]}, "40 weights"),
        ({"arrivals": [-1.0] * 40}, "weights >= 0"),
        ({"arrivals": "often"}, "arrivals"),
        ({"cluster_sizes": [1, 2]}, "cluster_sizes"),
        ({"seed": -3}, "seed"),
        ({"personal": -0.1}, "personal must be a number in"),
        ({"n_users": 9000, "personal": 0.1, "items": "fresh"}, "9000 kinds of users x 16384 items"),
    ],
)
def test_bad_settings(changes, words):
    with pytest.raises(cc.errors.InvalidArgument, match=words):
        Synthetic(**(SIZES | changes))


@pytest.mark.parametrize(
    ("attraction", "words"),
    [
        (np.zeros((0, 3)), "shape"),
        (np.zeros((2, 2)), "3 items"),
        ([[0, 0, 2]], "got 2.0"),
        ([[0, np.nan, 0]], "got nan"),
        ([0.1, 0.2, 0.3], "shape"),
    ],
)
def test_bad_matrices(attraction, words):
    with pytest.raises(cc.errors.InvalidArgument, match=words):
        Matrix(attraction, np.eye(3))


def test_ceiling_is_the_share_of_users_who_like_anything():
    env = Matrix([[0, 1], [0, 0]], np.eye(2), arrivals=[3, 1])
    assert env.ceiling == pytest.approx(0.75)


def test_lists_must_be_rows_of_the_round():
    env = Synthetic(**SIZES, seed=1)
    with pytest.raises(cc.errors.ClubCascadeError, match="next_user"):
        env.respond(0, [0])
    user, _ = env.next_user()
    for ranking in ([200], [-1], []):
        with pytest.raises(cc.errors.InvalidArgument, match="ranking"):
            env.respond(user, np.array(ranking, dtype=int))


@pytest.mark.parametrize("items", ["fixed", "fresh"])
@pytest.mark.parametrize("link", ["logistic", "probit"])
def test_worlds_with_a_link(link, items):
    env = Synthetic(**SIZES, link=link, scale=2.0, items=items, seed=3)
    np.testing.assert_allclose(np.linalg.norm(env.weights, axis=1), 2.0)
    features = env.catalog.features
    np.testing.assert_allclose(np.linalg.norm(features, axis=1), 1.0)
    mu = {"logistic": expit, "probit": ndtr}[link]
    np.testing.assert_allclose(env.attraction, mu(env.weights @ features.T))
    assert env.attraction.min() < 0.3 and env.attraction.max() > 0.7
    moment = features.T @ features / len(features)
    np.testing.assert_allclose(moment, np.eye(20) / 20, atol=0.03)


def test_a_world_with_an_own_link():
    link = cc.Link(lambda z: 0.1 + 0.4 * z, lambda z: 0.4, name="line")
    env = Synthetic(**SIZES, link=link, seed=3)
    expected = np.clip(0.1 + 0.4 * env.weights @ env.catalog.features.T, 0, 1)
    np.testing.assert_allclose(env.attraction, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"scale": 2.0}, "scale must be 1 in a world without a link, got 2.0"),
        ({"link": "logistic", "scale": 0.0}, "scale must be a number in"),
        ({"link": 3}, "link must be one of"),
    ],
)
def test_wrong_links_of_a_world(parameters, message):
    with pytest.raises(cc.errors.InvalidArgument, match=message):
        Synthetic(**SIZES, **parameters)


WORLDS = [
    ({}, 184.94397372127625),
    ({"gap": 0.5}, 237.2042462160669),
    ({"gap": 0.0}, 180.46800254587413),
    ({"gap": 0.2, "items": "fresh"}, 16671.10762540072),
    ({"cluster_sizes": [16, 8, 4, 2, 1]}, 184.94397372127625),
    ({"link": "logistic", "scale": 2.0}, 497.19413724534525),
    ({"n_clusters": 1, "gap": 1.0}, 35.70799418382759),
]
"""The sum of the probabilities of worlds, which a later version must draw again."""


@pytest.mark.parametrize(("changes", "total"), WORLDS)
def test_worlds_stay_what_they_were(changes, total):
    env = Synthetic(**(SIZES | changes), seed=7)
    assert env.attraction.sum() == pytest.approx(total, rel=1e-12)
    first = [2, 1, 0, 0, 1, 0, 2, 1] if "cluster_sizes" in changes else [2, 3, 0, 0, 3, 0, 4, 3]
    assert env.partition[:8].tolist() == ([0] * 8 if "n_clusters" in changes else first)


@pytest.mark.parametrize("items", ["fixed", "fresh"])
def test_every_user_alone(items):
    sizes = SIZES | {"n_users": 60, "n_clusters": 60}
    env = Synthetic(**sizes, gap="random", items=items, seed=3)
    assert sorted(env.partition.tolist()) == list(range(60))
    features = env.catalog.features
    np.testing.assert_allclose(np.linalg.norm(env.weights, axis=1), 1.0)
    np.testing.assert_allclose(np.linalg.norm(features, axis=1), 1.0)
    chances = env.weights @ features.T
    assert chances.min() >= -1e-12 and chances.max() <= 1.0 + 1e-12
    cosines = (env.weights @ env.weights.T)[~np.eye(60, dtype=bool)]
    assert 0.3 < cosines.mean() < 0.45 and cosines.std() > 0.05
    assert 0.15 < chances.mean() < 0.25  # as many are liked as in the other worlds
    assert np.sort(chances, axis=1)[:, -4].min() > 0.3  # everybody likes a whole list


def test_items_of_random_worlds_have_three_topics_each_alike_often():
    topics = draws.axes(6, np.random.default_rng(1))
    items = draws.topic_items(4000, topics, np.random.default_rng(2), np.zeros((0, 6)))
    parts = items @ topics.T
    there = abs(parts) > 1e-9
    assert (there.sum(axis=1) == 3).all() and parts.min() > -1e-12
    np.testing.assert_allclose(there.mean(axis=0), 0.5, atol=0.03)


def test_random_weights_with_a_link_are_on_the_whole_sphere():
    env = Synthetic(**SIZES | {"n_clusters": 40}, gap="random", link="logistic", scale=3.0, seed=3)
    np.testing.assert_allclose(np.linalg.norm(env.weights, axis=1), 3.0)
    assert abs(env.weights.mean(axis=0)).max() < 1.0
    assert env.attraction.min() < 0.3 and env.attraction.max() > 0.7


@pytest.mark.parametrize("items", ["fixed", "fresh"])
@pytest.mark.parametrize("gap", ["orthogonal", 0.5, "random"])
def test_a_personal_part(gap, items):
    plain = Synthetic(**SIZES, gap=gap, items=items, seed=3)
    env = Synthetic(**SIZES, gap=gap, items=items, personal=0.1, seed=3)
    np.testing.assert_array_equal(env.partition, plain.partition)
    assert env.kind.tolist() == list(range(40)) and env.attraction.shape[0] == 40
    np.testing.assert_allclose(np.linalg.norm(env.weights, axis=1), 1.0)
    moved = np.linalg.norm(env.weights - plain.weights[env.partition], axis=1)
    assert moved.min() > 0.0 and moved.max() <= 0.1005  # a part along the weights is scaled away
    assert moved.mean() == pytest.approx(0.1 * np.sqrt(19 / 20), rel=0.05)
    chances = env.weights @ env.catalog.features.T
    assert chances.min() >= -1e-12
    np.testing.assert_allclose(env.attraction, chances, atol=1e-12)  # nothing is clipped


def test_a_personal_part_with_a_link():
    plain = Synthetic(**SIZES, link="probit", scale=2.0, seed=3)
    env = Synthetic(**SIZES, link="probit", scale=2.0, personal=0.3, seed=3)
    np.testing.assert_array_equal(env.catalog.features, plain.catalog.features)
    np.testing.assert_allclose(np.linalg.norm(env.weights, axis=1), 2.0)
    np.testing.assert_allclose(env.attraction, ndtr(env.weights @ env.catalog.features.T))


def test_too_large_a_personal_part_is_refused():
    sizes = {"n_users": 300, "n_clusters": 1, "n_items": 9, "n_features": 3}
    with pytest.raises(cc.errors.InvalidArgument, match="gap and personal leave no room"):
        Synthetic(**sizes, personal=50.0)


def test_a_seed_draws_the_same_items_on_other_processors():
    """With the linear algebra of an old processor and of this one, to the last bit."""
    code = (
        "import hashlib, clubcascade as cc\n"
        "for gap in ('orthogonal', 0.2, 'random'):\n"
        "    env = cc.environments.Synthetic(n_users=30, n_clusters=5, n_items=200, n_features=20,"
        " gap=gap, seed=3)\n"
        "    print(hashlib.sha256(env.catalog.features.tobytes()).hexdigest())\n"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"OPENBLAS_CORETYPE": kind, "NPY_DISABLE_CPU_FEATURES": off},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for kind, off in (("Prescott", ""), ("Haswell", ""), ("Prescott", "AVX512F AVX512_SKX"))
    }
    assert len(found) == 1
