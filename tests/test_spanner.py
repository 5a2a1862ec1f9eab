"""Barycentric spanners: every item is a combination with small coefficients, whatever the set."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clubcascade.core import Catalog
from clubcascade.errors import InvalidArgument, InvalidItems
from clubcascade.spanner import barycentric_spanner, coefficients
from tests.reference.problems import examples


def item_set(seed, n_items, d, rank, kind):
    """Items of a rank: spread out, nearly flat, or with zeros and duplicates among them."""
    rng = np.random.default_rng(seed)
    axes, _ = np.linalg.qr(rng.standard_normal((d, d)))
    sizes = np.zeros(d)
    sizes[:rank] = 1.0 if kind != "flat" else 10.0 ** -np.arange(rank)
    rows = rng.standard_normal((n_items, d)) * sizes @ axes
    if kind == "messy":
        rows[rng.random(n_items) < 0.3] = 0.0
        rows[rng.random(n_items) < 0.3] = rows[0]
    largest = np.linalg.norm(rows, axis=1).max()
    return rows / largest if largest else rows


SETS = st.builds(
    item_set,
    st.integers(0, 2**32 - 1),
    st.integers(1, 40),
    d := st.shared(st.integers(1, 8), key="d"),
    d.flatmap(lambda d: st.integers(0, d)),
    st.sampled_from(["even", "flat", "messy"]),
)


@examples(300)
@given(SETS, st.sampled_from([1.0, 1.1, 2.0, 10.0]))
def test_every_item_is_a_combination_with_small_coefficients(items, factor):
    chosen = barycentric_spanner(items, factor=factor)
    assert len(chosen) == np.linalg.matrix_rank(items)
    assert np.all(np.diff(chosen) > 0)
    share = np.linalg.lstsq(items[chosen].T, items.T)[0].T if len(chosen) else np.zeros((1, 0))
    np.testing.assert_allclose(share @ items[chosen], items if len(chosen) else 0.0, atol=1e-8)
    assert np.abs(share).max(initial=0.0) <= factor * (1 + 1e-6)


@examples(60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 3))
def test_an_exact_spanner_beats_every_exchange_of_one_item(seed, n_items, d):
    """No item can take the place of a chosen one and enlarge the volume."""
    items = item_set(seed, max(n_items, d), d, d, "even")
    chosen = barycentric_spanner(items)
    volume = abs(np.linalg.det(items[chosen]))
    for place in range(d):
        for item in range(len(items)):
            other = chosen.copy()
            other[place] = item
            assert abs(np.linalg.det(items[other])) <= volume * (1 + 1e-6)
    largest = max(
        abs(np.linalg.det(items[list(rows)])) for rows in combinations(range(len(items)), d)
    )
    assert volume >= largest * d ** (-d / 2) * (1 - 1e-6)  # Hadamard: coefficients are at most 1


def test_a_set_that_needs_exchanges():
    """The farthest items are not a spanner: an exact one and a loose one differ."""
    rng = np.random.default_rng(4)
    found = set()
    for _ in range(200):
        items = rng.standard_normal((12, 4))
        items /= np.linalg.norm(items, axis=1).max()
        exact, loose = barycentric_spanner(items), barycentric_spanner(items, factor=50.0)
        found.add(np.array_equal(exact, loose))
        assert np.abs(coefficients(items, exact)).max() <= 1 + 1e-8
    assert found == {True, False}


def test_coefficients_reproduce_the_items_of_a_thin_set():
    items = np.array([[0.6, 0.0, 0.8], [0.3, 0.0, 0.4], [0.0, 0.0, 0.0]])
    chosen = barycentric_spanner(items)
    assert chosen.tolist() == [0]
    np.testing.assert_allclose(coefficients(items, chosen)[:, 0], [1.0, 0.5, 0.0])


def test_nothing_spans_nothing():
    assert barycentric_spanner(np.zeros((3, 2))).size == 0


@pytest.mark.parametrize("factor", [0.9, np.nan, np.inf, "2"])
def test_bad_factors(factor):
    with pytest.raises(InvalidArgument, match="factor"):
        barycentric_spanner(np.eye(2), factor=factor)


@pytest.mark.parametrize(
    "items", [np.zeros((0, 2)), [[np.nan, 0.0]], [[3.0, 0.0]], "items", np.eye(2) * 1j]
)
def test_bad_items(items):
    with pytest.raises(InvalidItems, match="items"):
        barycentric_spanner(items)


def test_a_catalogue_is_told_where_its_matrix_is():
    with pytest.raises(InvalidItems, match=r"got Catalog: its matrix is \.features"):
        barycentric_spanner(Catalog(np.eye(2)))
