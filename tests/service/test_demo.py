"""The demo's story is true: genres are in the vectors, and who clicks what follows from them."""

import numpy as np
import pytest

import clubcascade as cc
from clubcascade.evaluation import ABTest
from clubcascade.service import demo


@pytest.fixture(scope="module")
def audience():
    return demo.Audience()


def list_rate(chances, rows):
    return 1 - np.prod(1 - chances[list(rows)])


def test_songs_of_a_genre_are_alike(audience):
    norms = np.linalg.norm(audience.features, axis=1)
    assert norms.max() <= 1.0 and audience.features.shape == (demo.N_ITEMS, demo.N_FEATURES)
    alike = (audience.features @ audience.features.T) / np.outer(norms, norms)
    genre = np.array([about["genre"] for about in audience.about])
    same = genre[:, None] == genre[None, :]
    assert alike[same].mean() > 0.85 and alike[~same].mean() < 0.4
    assert len(set(audience.names)) == len({a["title"] for a in audience.about}) == demo.N_ITEMS


def test_click_rates_are_those_of_a_product(audience):
    rng = np.random.default_rng(1)
    people = [audience.chances(f"listener {n}") for n in range(1, 201)]
    best = np.mean([list_rate(p, np.argsort(-p)[: demo.K]) for p in people])
    popular = np.argsort(-np.mean(people, axis=0))[: demo.K]
    shown = np.mean([list_rate(p, popular) for p in people])
    chance = np.mean([list_rate(p, rng.permutation(demo.N_ITEMS)[: demo.K]) for p in people])
    assert 0.06 < chance < 0.12 < shown < 0.18 and 0.28 < best < 0.36


def test_newcomers_arrive():
    audience = demo.Audience(3)
    seen = [audience.visit() for _ in range(10_000)]
    assert 60 < audience.listeners - demo.FIRST < 140
    assert {int(name.split()[1]) for name in seen} == set(range(1, audience.listeners + 1))
    for _ in range(2**17):
        audience.visit()
    assert audience.listeners == demo.MOST


def test_the_model_finds_out_and_beats_the_popular_list(tmp_path):
    audience = demo.Audience(5)
    with cc.Recommender(tmp_path, n_features=demo.N_FEATURES) as shop:
        demo.stock(shop, audience)
        running = shop.experiments[demo.EXPERIMENT]
        policies = {name: shop.model(name).policy.fresh() for name in running.models}
        catalog = shop.model().catalog
        arms = running.arm_of
    clicks, test = {name: [] for name in policies}, ABTest(list(demo.ARMS))
    for _ in range(9_000):
        listener = audience.visit()
        arm, model, _ = arms(listener)
        rows = policies[model].recommend(listener, catalog, demo.K)
        click = audience.click(listener, tuple(catalog.ids[row] for row in rows))
        for policy in policies.values():
            policy.update(listener, catalog[rows], click)
        clicks[model].append(click is not None)
        test.add(arm, listener, click is not None)
    late = {name: np.mean(one[len(one) // 2 :]) for name, one in clicks.items()}
    assert 0.09 < late["popular"] < 0.17 and 0.2 < late["default"] < 0.32, late
    assert test.verdict().decision == "better", str(test.verdict())
    groups = [[audience.taste(one) for one in group] for group in policies["default"].clusters()]
    of_one_taste = sum(max(map(tastes.count, tastes)) for tastes in groups)
    assert of_one_taste > 0.6 * sum(map(len, groups))
