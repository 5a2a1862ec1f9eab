"""Catalogues and the lists shown of them."""

import numpy as np
import pytest

import clubcascade as cc


def test_catalogue_keeps_a_copy_that_nobody_can_write():
    items = np.eye(3)
    catalog = cc.Catalog(items)
    items[0, 0] = 0.5
    assert catalog.features[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        catalog.features[0, 0] = 0.5


@pytest.mark.parametrize(
    ("items", "ids", "words"),
    [
        (np.zeros((0, 2)), None, "at least one item"),
        (np.zeros((2, 0)), None, "at least one feature"),
        (np.zeros(3), None, "shape"),
        ([[3.0, 4.0]], None, r"norm 5 in row 0; divide all items"),
        ([[np.nan, 0.0]], None, "finite, got nan in row 0"),
        ([["a"]], None, "numbers"),
        (np.eye(2) * 1j, None, "real numbers, got complex128"),
        (np.eye(2), ["x"], "2 items, got 1"),
        (np.eye(2), ["x", "x"], "distinct"),
    ],
)
def test_bad_catalogues(items, ids, words):
    with pytest.raises(cc.errors.InvalidArgument, match=words):
        cc.Catalog(items, ids)


def test_slate_is_an_array_and_knows_its_rows():
    catalog = cc.Catalog(np.eye(3), ids="abc")
    slate = catalog[np.array([2, 0])]
    np.testing.assert_array_equal(np.asarray(slate), np.eye(3)[[2, 0]])
    assert [catalog.ids[row] for row in slate.rows] == ["c", "a"]
    with pytest.raises(cc.errors.InvalidItems, match=r"\[0, 2\]"):
        catalog[[3]]
    with pytest.raises(cc.errors.InvalidArgument, match="'z'"):
        catalog.index("z")


@pytest.mark.parametrize("shown", [np.array([1, 0]), ["a", "b"], cc.Catalog(np.eye(2))])
def test_what_is_shown_is_a_slate_and_no_row_numbers_or_ids(shown):
    with pytest.raises(cc.errors.InvalidItems, match=r"^shown must .*catalog\[ranking\]"):
        cc.C3UCB(n_features=2).update("ann", shown, 0)


def test_ragged_rows_are_refused_as_such():
    with pytest.raises(cc.errors.InvalidItems, match="^shown must be real numbers, got list"):
        cc.C3UCB(n_features=2).update("ann", [[1, 0], [1]], 0)


def test_an_id_is_no_row():
    with pytest.raises(cc.errors.InvalidItems, match=r"got 'a'; catalog\.index\(id\)"):
        cc.Catalog(np.eye(2), ids="ab")["a"]
