"""Lazy lists of a catalogue are exactly the lists of full scoring, whatever happened before."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clubcascade.core import Catalog
from clubcascade.kernels import ranking
from clubcascade.kernels import ridge as models_kernels
from clubcascade.kernels.lazy_topk import rank_lazily
from clubcascade.learners.lazy_indexes import LazyIndexes, ScoreCache
from clubcascade.learners.models import Models
from tests.reference.problems import examples


def full_scores(models, g, bonus, items):
    mean, width = np.empty(len(items)), np.empty(len(items))
    a = models.arrays
    every = np.arange(len(items))
    ranking.score_items(a["weights"][g], a["inverse"][g], items, every, mean, width)
    return mean + bonus * width


def best(scores, k):
    return np.lexsort((np.arange(len(scores)), -scores))[:k]


@examples(60)
@given(
    d=st.integers(1, 6),
    n=st.integers(1, 150),
    n_models=st.integers(1, 4),
    seed=st.integers(0, 2**32 - 1),
    data=st.data(),
)
def test_lazy_list_is_the_full_list(d, n, n_models, seed, data):
    rng = np.random.default_rng(seed)
    items = rng.standard_normal((n, d))
    items /= np.maximum(np.linalg.norm(items, axis=1, keepdims=True), 1.0)
    items[rng.random(n) < 0.1] = 0.0
    if n > 3:
        items[n // 2] = items[0]
    catalog = Catalog(items)
    models = Models(d, 1.0, capacity=n_models)
    for g in range(n_models):
        models.clear(g)
    shelves = LazyIndexes()
    for _ in range(40):
        g = int(rng.integers(n_models))
        k = data.draw(st.integers(1, min(n, 12))) if rng.random() < 0.2 else min(n, 4)
        bonus = float(rng.choice([0.0, 0.3, 1.0]))
        rows, scores = np.empty(k, np.int64), np.empty(k)
        index = shelves.get(catalog, catalog._rows, k, n_models)
        rank_lazily(models.struct, g, bonus, index, rows, scores)
        expected = full_scores(models, g, bonus, items)
        np.testing.assert_array_equal(rows, best(expected, k))
        np.testing.assert_array_equal(scores, expected[rows])
        loose_rows, loose_scores = np.empty(k, np.int64), np.empty(k)
        a = models.arrays
        ranking.rank_fully(
            a["weights"][g],
            a["inverse"][g],
            bonus,
            items,
            np.arange(n),
            loose_rows,
            loose_scores,
        )
        np.testing.assert_array_equal(rows, loose_rows)
        np.testing.assert_array_equal(scores, loose_scores)
        for row in rows[: rng.integers(k) + 1]:
            models_kernels.observe(models.struct, g, items[row], float(rng.random() < 0.3))
        models_kernels.settle(models.struct, g)
        if rng.random() < 0.1:
            models.clear(g)


def test_more_models_than_slots_share_them():
    rng = np.random.default_rng(3)
    items = rng.standard_normal((300, 4)) / 8
    catalog = Catalog(items)
    models = Models(4, 1.0, capacity=9)
    index = ScoreCache.new(items, longest=8, n_models=2).index()
    for g in range(9):
        models.clear(g)
    for _ in range(200):
        g = int(rng.integers(9))
        rows, scores = np.empty(4, np.int64), np.empty(4)
        rank_lazily(models.struct, g, 0.5, index, rows, scores)
        np.testing.assert_array_equal(rows, best(full_scores(models, g, 0.5, catalog._rows), 4))
        for row in rows:
            models_kernels.observe(models.struct, g, items[row], float(rng.random() < 0.3))
        models_kernels.settle(models.struct, g)


@pytest.mark.parametrize("seed", range(5))
def test_a_new_item_of_an_edited_catalogue_is_scored(seed):
    """Whatever was remembered of its place: among hundreds of items a bar is set before it comes.

    Few items would all be scored at once. The strong new items come late, so that only their
    bound lets them in; what is remembered of the others' scores is still of use.
    """
    rng = np.random.default_rng(seed)
    items = rng.uniform(-0.2, 0.2, (500, 4))
    models = Models(4, 1.0, capacity=3)
    shelves, catalog = LazyIndexes(), Catalog(items)
    items[:, 3] = 0.0
    strong = np.array([[0.9, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])  # by its mean, by its width
    weak = np.full((1, 4), -0.3)

    def rank(catalog, g):
        rows, scores = np.empty(4, np.int64), np.empty(4)
        index = shelves.get(catalog, catalog._rows, 4, 3)
        rank_lazily(models.struct, g, 1.5, index, rows, scores)
        expected = full_scores(models, g, 1.5, catalog._rows)
        np.testing.assert_array_equal(rows, best(expected, 4))
        np.testing.assert_array_equal(scores, expected[rows])
        return rows.tolist()

    for g in range(3):
        models.clear(g)
        for _ in range(300):
            x = items[rng.integers(500)]
            models_kernels.observe(models.struct, g, x, float(x[:2].sum() > 0.0))
        models_kernels.settle(models.struct, g)
        rank(catalog, g)
    more = catalog.add(strong)
    assert all({500, 501} <= set(rank(more, g)) for g in range(3))
    places = [450, 480]
    other = catalog.replace(places, strong)
    assert all({450, 480} <= set(rank(other, g)) for g in range(3))
    gone = other.replace(places[:1], weak)
    assert all(450 not in rank(gone, g) for g in range(3))
    fewer = more.remove(np.arange(100))
    assert all({400, 401} <= set(rank(fewer, g)) for g in range(3))
