"""Ids to numbers in blocks, against NumPy on the whole column."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clubcascade.datasets import codes
from clubcascade.datasets.codes import Codes

BLOCKS = st.lists(st.lists(st.sampled_from(["a", "b", "", "zz", "é", "10", "9"]), max_size=6))


@given(BLOCKS, st.sampled_from([0, 2, 100]))
def test_blocks_are_numbered_as_one_column(blocks, patience):
    column = Codes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codes, "_PATIENCE", patience)
        for block in blocks:
            column.add(pa.array(block, pa.string()))
    rows, ids = column.finish()
    whole = [text for block in blocks for text in block]
    assert [ids[row] for row in rows] == whole
    assert sorted(set(whole), key=str.encode) == list(ids) or set(whole) <= {"9", "10"}


@pytest.mark.parametrize(
    ("texts", "order"),
    [
        (["10", "9", "-3", "0"], ["-3", "0", "9", "10"]),
        (["10", "9", "x"], ["10", "9", "x"]),
        (["10", "09"], ["09", "10"]),
        (["2", "1000000000000000000000"], ["1000000000000000000000", "2"]),
        (["é", "z", "a"], ["a", "z", "é"]),
        ([], []),
    ],
)
def test_numbers_are_ordered_as_numbers_and_texts_as_texts(texts, order):
    column = Codes()
    column.add(pa.array(texts, pa.string()))
    rows, ids = column.finish()
    assert list(ids) == order
    assert rows.tolist() == [order.index(text) for text in texts]


@pytest.mark.parametrize("kind", [pa.int64(), pa.int16(), pa.large_string(), pa.uint64()])
def test_every_kind_of_id(kind):
    column = Codes()
    column.add(pa.array([3, 1, 3, 20]).cast(kind))
    rows, ids = column.finish()
    assert list(ids) == ["1", "3", "20"] and rows.tolist() == [1, 0, 1, 2]
    assert rows.dtype == np.int32
