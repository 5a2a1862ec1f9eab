"""Frames as items: features by columns, ids by the index or a column, errors by name and row."""

from datetime import date
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import clubcascade as cc
from clubcascade.errors import InvalidArgument

COLUMNS = {"size": [0.25, 0.5, 0.0], "weight": [0.5, 0.0, 0.5], "stars": [0, 0, 0]}
FEATURES = np.array([[0.25, 0.5, 0.0], [0.5, 0.0, 0.0], [0.0, 0.5, 0.0]])
KINDS = [pd.DataFrame, pl.DataFrame, pa.table]


@pytest.mark.parametrize("kind", KINDS)
def test_columns_are_features(kind):
    catalog = cc.Catalog(kind(COLUMNS))
    np.testing.assert_array_equal(catalog.features, FEATURES)
    assert catalog.ids == range(3)
    assert cc.Catalog(kind(COLUMNS), ids=["a", "b", "c"]).ids == ["a", "b", "c"]
    more = catalog.add(kind(COLUMNS))
    assert more.ids == range(6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("numbers", [[True, False], [1, 0], [0.5, 0.0]])
def test_columns_of_any_numbers(kind, numbers):
    catalog = cc.Catalog(kind({"a": numbers, "b": [0.0, 1.0]}))
    np.testing.assert_array_equal(catalog.features[:, 0], np.array(numbers, float))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "ids", [["x", "y", "z"], [7, 3, 5], [date(2024, 1, day) for day in (1, 2, 3)]]
)
def test_a_column_of_ids(kind, ids):
    catalog = cc.Catalog(kind({"item": ids, **COLUMNS}), ids="item")
    assert catalog.ids == ids
    np.testing.assert_array_equal(catalog.features, FEATURES)
    assert catalog.index(ids[1]) == 1


def test_an_index_is_the_ids():
    frame = pd.DataFrame(COLUMNS, index=["x", "y", "z"])
    assert cc.Catalog(frame).ids == ["x", "y", "z"]
    assert cc.Catalog(frame, ids=[1, 2, 3]).ids == [1, 2, 3]
    assert cc.Catalog(pd.DataFrame(COLUMNS).iloc[[2, 0]]).ids == [2, 0]
    assert cc.Catalog(pd.DataFrame(COLUMNS).iloc[1:]).ids == [1, 2]
    pairs = pd.MultiIndex.from_tuples([("de", 1), ("de", 2), ("fr", 1)])
    assert cc.Catalog(frame.set_index(pairs)).ids == [("de", 1), ("de", 2), ("fr", 1)]
    uuids = [UUID(int=n) for n in range(3)]
    assert cc.Catalog(frame.set_index(pd.Index(uuids))).ids == uuids


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("columns", "ids", "words"),
    [
        ({"a": [0.5], "name": ["tea"]}, None, "items, column 'name', must be real numbers, got "),
        ({"a": [0.5], "day": [date(2024, 1, 1)]}, None, "items, column 'day', must be real"),
        ({"a": [0.5], "b": [[0.1, 0.2]]}, None, "items, column 'b', must"),
        ({"a": [0.5, 0.5], "b": [0.1, float("nan")]}, None, "got nan in column 'b', row 1"),
        ({"a": [0.5, 0.5], "b": [0.1, float("-inf")]}, None, "got -inf in column 'b', row 1"),
        ({"a": [0.5, 0.5], "b": [0.1, None]}, None, "column 'b', row 1|column 'b'.* in row 1"),
        ({"a": [0.5, 0.5], "b": [True, None]}, None, "column 'b', row 1|column 'b'.* in row 1"),
        ({"a": [0.5, 0.5], "b": ["x", "x"]}, "b", "ids must be distinct, got 'x' twice"),
        ({"a": [0.5, 0.5], "b": ["x", None]}, "b", "ids must.*(None|nan)"),
        ({"a": [0.5, 0.5]}, "a", "at least one column of features"),
        ({"a": [0.5, 0.5]}, "b", r"ids must be a column of items, one of \['a'\], got 'b'"),
        ({"a": [0.5, 0.5]}, ["x"], "ids must name 2 items, got 1"),
        ({"a": [0.5, 5.0]}, None, "norm 5 in row 1"),
        ({"a": []}, None, "at least one item"),
        ({}, None, "at least one column"),
    ],
)
def test_what_is_refused(kind, columns, ids, words):
    with pytest.raises(InvalidArgument, match=words):
        cc.Catalog(kind(columns), ids)


def test_names_twice():
    twice = pd.DataFrame([[0.1, 0.2]], columns=["a", "a"])
    table = pa.table([[0.1], [0.2]], names=["a", "a"])
    for frame in (twice, table):
        with pytest.raises(InvalidArgument, match="columns of distinct names, got 'a' twice"):
            cc.Catalog(frame)
    with pytest.raises(InvalidArgument, match="ids must be distinct, got 0 twice"):
        cc.Catalog(pd.DataFrame({"a": [0.1, 0.2]}, index=[0, 0]))
    with pytest.raises(InvalidArgument, match="ids must be hashable.*not NaN"):
        cc.Catalog(pd.DataFrame({"a": [0.1, 0.2]}, index=[0, np.nan]))


def test_nullable_and_lazy():
    frame = pd.DataFrame(
        {"a": pd.array([1, 0], dtype="Int64"), "b": pd.array([False, True], "boolean")}
    )
    np.testing.assert_array_equal(cc.Catalog(frame).features, np.eye(2))
    frame.loc[1, "a"] = pd.NA
    with pytest.raises(InvalidArgument, match=r"column 'a'.*row 1"):
        cc.Catalog(frame)
    with pytest.raises(InvalidArgument, match="got LazyFrame"):
        cc.Catalog(pl.DataFrame({"a": [0.5]}).lazy())
