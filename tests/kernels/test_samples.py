"""Distinct items and counts per item, against dictionaries."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clubcascade.kernels import samples
from clubcascade.learners.likelihoods import make_store
from tests.reference.problems import examples


def make_counts(n):
    places = {name: np.zeros(n, np.int64) for name in ("begin", "size", "room")}
    entries = {name: np.zeros(4, np.int64) for name in ("ids", "observations", "clicks")}
    return samples.ItemCounts.make(**places, **entries, n_entries=0), list(places.values())


def read(counts, places, g):
    begin, size, _ = places
    ids, observations, clicks = samples.lists(counts)
    part = slice(begin[g], begin[g] + size[g])
    assert (np.diff(ids[part]) > 0).all(), "a list must be in the order of its items"
    entries = zip(
        ids[part].tolist(), observations[part].tolist(), clicks[part].tolist(), strict=True
    )
    return {item: (seen, clicked) for item, seen, clicked in entries}


@examples(60)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 30), st.booleans()), max_size=300))
def test_counts_are_those_of_a_dictionary(notes):
    counts, places = make_counts(6)
    expected = [{} for _ in range(6)]
    for g, item, click in notes:
        samples.count(counts, g, item, int(click))
        seen, clicked = expected[g].get(item, (0, 0))
        expected[g][item] = (seen + 1, clicked + click)
    for g in range(6):
        assert read(counts, places, g) == expected[g]
    which = np.array([0, 2, 4])
    samples.gather(counts, which, 31, counts, 5)
    observations, clicks = Counter(), Counter()
    for g in which.tolist():
        for item, (seen, clicked) in expected[g].items():
            observations[item] += seen
            clicks[item] += clicked
    assert read(counts, places, 5) == {
        item: (observations[item], clicks[item]) for item in observations
    }
    for g in range(5):
        assert read(counts, places, g) == expected[g], "another list was touched"


@examples(30)
@given(st.lists(st.integers(0, 400), max_size=500), st.integers(1, 5))
def test_items_are_numbered_as_they_first_come(story, d):
    rng = np.random.default_rng(7)
    table = rng.standard_normal((401, d))
    store = make_store(d)
    numbers = {}
    for row in story:
        expected = numbers.setdefault(row, len(numbers))
        assert samples.number(store, table[row]) == expected
    assert np.array_equal(samples.items_of(store), table[list(numbers)].reshape(-1, d))
    again = make_store(d, samples.items_of(store))
    assert all(samples.number(again, table[row]) == numbers[row] for row in story)


def test_negative_zero_is_zero():
    store = make_store(2)
    assert samples.number(store, np.array([0.0, 1.0])) == 0
    assert samples.number(store, np.array([-0.0, 1.0])) == 0
    assert samples.number(store, np.array([0.0, -1.0])) == 1


def test_a_full_store_grows_and_knows_its_items_still():
    """Also in the order of their numbers, and those that came last before it grew."""
    store = make_store(2)
    items = np.random.default_rng(3).standard_normal((300, 2))
    for _ in range(2):
        assert [samples.number(store, x) for x in items] == list(range(300))
    np.testing.assert_array_equal(samples.items_of(store), items)
