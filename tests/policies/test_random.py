"""Random: all lists equally likely, nothing learned."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np

import clubcascade as cc

ITEMS = np.eye(4)


def lists(policy, n, items, k):
    return [tuple(policy.recommend("alice", items, k).tolist()) for _ in range(n)]


def test_all_lists_are_equally_likely():
    for items in (ITEMS, cc.Catalog(ITEMS)):
        found = Counter(lists(cc.Random(seed=5), 6000, items, 2))
        assert set(found) == set(permutations(range(4), 2))
        # twelve lists, 500 of each expected, standard deviation 21
        assert all(abs(count - 500) < 100 for count in found.values())


def test_the_seed_decides_and_feedback_does_not():
    one, same, other = cc.Random(seed=1), cc.Random(seed=1), cc.Random(seed=2)
    for _ in range(5):
        same.update("alice", ITEMS[:2], 1)
    drawn = lists(one, 20, ITEMS, 3)
    assert drawn == lists(same, 20, ITEMS, 3)
    assert drawn != lists(other, 20, ITEMS, 3)
