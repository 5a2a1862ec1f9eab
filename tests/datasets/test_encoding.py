"""Ids to numbers in blocks, against Python on the whole column."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clubcascade.datasets import clicks
from clubcascade.datasets.clicks import Clicks

BLOCKS = st.lists(
    st.lists(st.sampled_from(["a", "b", "zz", "é", "10", "9"]), max_size=6), min_size=1
)


def ids_of(*blocks):
    """The ids of users that come in blocks; each user clicks one item."""
    found = Clicks()
    for block in blocks:
        found.add(block, pa.array(["x"] * len(block)))
    return list(found.finish("some", {"file": "some.csv"}).user_ids)


@given(BLOCKS, st.sampled_from([1, 2, 100]))
def test_blocks_are_encoded_as_one_column(blocks, unify):
    rows = [(text, text) for block in blocks for text in block]
    found = Clicks()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clicks, "_UNIFY", unify)
        for block in blocks:
            found.add(pa.array(block, pa.string()), pa.array(block, pa.string()))
    if not rows:
        return
    data = found.finish("some", {"file": "some.csv"})
    users, items = data.clicks.nonzero()
    assert {(data.user_ids[u], data.item_ids[i]) for u, i in zip(users, items, strict=True)} == {
        *rows
    }
    assert data.source["used"] == len(rows)


@pytest.mark.parametrize(
    ("texts", "order"),
    [
        (["10", "9", "-3", "0"], ["-3", "0", "9", "10"]),
        (["10", "9", "x"], ["10", "9", "x"]),
        (["10", "09"], ["09", "10"]),
        (["2", "1000000000000000000000"], ["1000000000000000000000", "2"]),
        (["é", "z", "a"], ["a", "z", "é"]),
    ],
)
def test_numbers_are_ordered_as_numbers_and_texts_as_texts(texts, order):
    assert ids_of(pa.array(texts, pa.string())) == order
    assert ids_of(*(pa.array([text]) for text in texts)) == order


@pytest.mark.parametrize("kind", [pa.int64(), pa.int16(), pa.large_string(), pa.uint64()])
def test_every_kind_of_id(kind):
    assert ids_of(pa.array([3, 1, 3, 20]).cast(kind)) == ["1", "3", "20"]
