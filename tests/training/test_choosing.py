"""The choice of a setting, and the ways to make lists that it is compared with."""

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from clubcascade.features import ClickLog
from clubcascade.training import rivals
from clubcascade.training.choosing import Setting, _weakest, lengths_for
from clubcascade.training.measures import Held

STRENGTHS = (0.25, 0.5, 1.0)


class Sums:
    """NDCG by the precision of sums at full strength."""

    def __init__(self, ndcg):
        self.ndcg = lambda precision, k: ndcg(precision)


@pytest.mark.parametrize(
    ("ndcg", "strength", "precision"),
    [
        (lambda p: 0.2 if p >= 16.0 else 0.1, 0.25, 256.0),  # much precision wanted: little weight
        (lambda p: 0.2 if p == 2.0 else 0.1, 0.5, 1.0),  # at 1/4 no precision gives 2
        (lambda p: 0.2 if p == 1.0 else 0.1, 1.0, 1.0),  # at 1/4 only the weakest gives 1
        (lambda p: 1.0 / (1.0 + p), 1.0, 0.25),  # as weak as possible: all the weight
    ],
)
def test_past_clicks_weigh_as_little_as_is_good_enough(ndcg, strength, precision):
    best = Setting(9, 0.2, 0.0, 1.0, max(ndcg(p) for p in (16.0, 2.0, 1.0, 0.25)))
    found = _weakest(best, Sums(ndcg), STRENGTHS, 10)
    assert (found.strength, found.precision) == (strength, precision)


@pytest.mark.parametrize(
    ("users", "items", "more", "lengths"),
    [
        (1000, 1000, 0, (9, 17, 33)),
        (1_000_000, 1000, 0, (9,)),
        (200_000, 1000, 0, (9, 17)),
        (200_000, 1000, 10, (9,)),
        (10_000_000, 1000, 17, (9,)),  # never none
        (1000, 12, 0, (9,)),
        (1000, 3, 0, (3,)),
        (1, 1000, 0, (2,)),
    ],
)
def test_vectors_are_short_where_users_are_many(users, items, more, lengths):
    log = ClickLog(range(users), range(items), np.zeros(1, int), np.zeros(1, int), None)
    assert lengths_for(log, None, more) == lengths
    assert lengths_for(log, 7, more) == (7,)


def test_popularity_in_the_favourite_category():
    clicks = sparse.csr_array(np.array([[1, 1, 0, 0, 0], [0, 0, 0, 1, 0], [1, 0, 0, 1, 0.0]]))
    scores = rivals.favourite(clicks, pl.Series(["tea", "tea", "tea", "jam", None]), tags=False)
    order = np.argsort(-scores(np.array([0, 1])), axis=1, kind="stable")
    assert order[0].tolist() == [0, 1, 2, 3, 4]  # tea first, by popularity
    assert order[1].tolist() == [3, 0, 1, 2, 4]  # jam first
    tags = rivals.favourite(clicks, pl.Series(["a|b", "b", "b", "c", "c"]), tags=True)
    assert np.argsort(-tags(np.array([0])), axis=1, kind="stable")[0, :3].tolist() == [0, 1, 2]


def test_als_takes_the_setting_that_is_best_on_held_out_clicks(monkeypatch):
    clicks = sparse.csr_array(np.eye(4)[:, [0, 1, 2, 3]])
    tune = Held(clicks, sparse.csr_array(np.roll(np.eye(4), 1, axis=1)), np.arange(4))
    tried = []

    def fake(matrix, setting):
        tried.append(setting["factors"])
        right = np.roll(np.eye(4), 1, axis=1) * setting["factors"]
        return lambda users: right[users] if setting["factors"] == 8 else -right[users]

    monkeypatch.setattr(rivals, "_als", fake)
    rivals.als(clicks, tune, 1, {"factors": (4, 8, 16)})
    assert tried == [4, 8, 16, 8]
