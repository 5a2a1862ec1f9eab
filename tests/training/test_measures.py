"""Precision, recall, NDCG and intervals, against a literal version."""

import math

import numpy as np
import pytest
from scipy import sparse

from clubcascade.errors import InvalidArgument
from clubcascade.features import read_log
from clubcascade.training.measures import Held, Worth, interval, last_part, top_k, worth
from clubcascade.training.table import OURS, POPULARITY, WorthTable


def literal(scores, before, after, k):
    left = [item for item in range(len(scores)) if not before[item]]
    shown = sorted(left, key=lambda item: (-scores[item], item))[:k]
    hits = [bool(after[item]) for item in shown]
    gain = sum(hit / math.log2(place + 2) for place, hit in enumerate(hits))
    ideal = sum(1 / math.log2(place + 2) for place in range(min(k, int(after.sum()))))
    return sum(hits) / k, sum(hits) / after.sum(), gain / ideal, shown


@pytest.mark.parametrize("k", [1, 3, 12, 20])
def test_measures_are_those_of_the_definition(k):
    rng = np.random.default_rng(0)
    before = (rng.random((20, 12)) < 0.2).astype(np.float32)
    after = ((rng.random((20, 12)) < 0.3) & (before == 0)).astype(np.float32)
    scores = rng.random((20, 12)).round(1)  # with ties
    held = Held.of(sparse.csr_array(before), sparse.csr_array(after), 1000, 0)
    found = worth(held, lambda users: scores[users], k)
    shown = set()
    for place, user in enumerate(held.users):
        *right, own = literal(scores[user], before[user], after[user], k)
        got = [found.values[name][place] for name in ("precision", "recall", "ndcg")]
        np.testing.assert_allclose(got, right)
        shown |= set(own)
    assert found.shown >= len(shown) / 12


def test_only_users_with_both_parts_are_judged_and_few_are_drawn():
    before = sparse.csr_array(np.array([[1.0, 0], [0, 0], [1, 0], [0, 1]]))
    after = sparse.csr_array(np.array([[0.0, 1], [1, 0], [0, 0], [1, 0]]))
    assert Held.of(before, after, 10, 0).users.tolist() == [0, 3]
    assert len(Held.of(before, after, 1, 0).users) == 1


def test_ties_go_to_the_lower_place():
    scores = np.zeros((1, 50))
    scores[0, 30] = 1.0
    assert top_k(scores, 3).tolist() == [[30, 0, 1]]


def test_intervals_cover():
    rng = np.random.default_rng(3)
    inside = 0
    for seed in range(60):
        low, high = interval(rng.random(80), seed)
        inside += low <= 0.5 <= high
    assert inside >= 50
    assert math.isnan(interval(np.zeros(0))[0])


def table(ours, popular, **others):
    found = {OURS: ours, POPULARITY: popular, **others}
    return WorthTable.of(
        10, {name: Worth({m: v for m in ("precision", "recall", "ndcg")}, 0.5)
             for name, v in found.items()}
    )  # fmt: skip


def test_the_sentence_is_honest():
    rng = np.random.default_rng(0)
    base = rng.random(400)
    assert "better than popularity: NDCG@10" in table(base + 0.1, base).sentence
    worse = table(base - 0.1, base, ALS=base + 0.2).sentence
    assert worse.startswith("Popularity is better than these lists")
    assert worse.endswith("Better than these lists: ALS.")
    same = table(base + 0.1 * rng.normal(size=400), base).sentence
    assert "do not differ clearly" in same


def test_the_table_survives_its_state():
    one = table(np.ones(5), np.zeros(5))
    again = WorthTable.restore(one.state())
    assert str(again) == str(one)
    assert again["popularity"].ndcg[0] == 0.0
    assert "precision@10" in str(one) and "50.0%" in str(one)


ROWS = [
    {"user": user, "item": item, "time": time}
    for time, (user, item) in enumerate(["a1", "b1", "a2", "a3", "b2", "a4", "a5", "b3", "c1"])
]


def test_the_last_part_of_the_log_and_of_each_user():
    log = read_log(ROWS)
    assert np.flatnonzero(last_part(log, 0.3)).tolist() == [7, 8]
    held = last_part(log, 0.4, "user")
    assert [(log.users[u], t) for u, t in zip(log.user[held], log.time[held], strict=True)] == [
        ("a", 5), ("a", 6), ("b", 7),
    ]  # fmt: skip


def test_without_times_the_part_is_drawn():
    log = read_log([{"user": row["user"], "item": row["item"]} for row in ROWS])
    held = last_part(log, 0.4, seed=3)
    assert np.bincount(log.user[held], minlength=3).tolist() == [2, 1, 0]
    assert any(not np.array_equal(held, last_part(log, 0.4, seed=n)) for n in range(9))


@pytest.mark.parametrize(("share", "split"), [(0, "log"), (1, "log"), (0.2, "week")])
def test_a_part_that_is_none(share, split):
    with pytest.raises(InvalidArgument):
        last_part(read_log(ROWS), share, split)
