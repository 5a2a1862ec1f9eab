import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clubcascade import errors
from clubcascade.datasets.clicks import Clicks
from tests.datasets.made import pairs

SOURCE = {"file": "some.csv"}
ROWS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=40)


def gathered(rows, blocks=1, **options):
    clicks = Clicks()
    for part in np.array_split(np.arange(len(rows)), blocks):
        users, items = ([rows[n][side] for n in part] for side in (0, 1))
        clicks.add(pa.array(users), pa.array(items))
    return clicks.finish("some", dict(SOURCE), **options)


@given(ROWS, st.integers(1, 4), st.randoms(use_true_random=False))
def test_the_order_of_the_file_and_its_blocks_do_not_matter(rows, blocks, random):
    data = gathered(rows)
    assert pairs(data) == {(str(u), str(i)) for u, i in rows}
    assert data.n_clicks == len(set(rows))
    shuffled = random.sample(rows, len(rows)) + [rows[0]]
    assert gathered(shuffled, blocks).fingerprint == data.fingerprint


@given(ROWS, st.sets(st.integers(0, 9)))
def test_only_the_wanted_items_are_kept(rows, wanted):
    kept = {(str(u), str(i)) for u, i in rows if i in wanted}
    only = {str(i) for i in wanted}
    if not kept:
        with pytest.raises(errors.InvalidData, match=f"no row to use among {len(rows)}"):
            gathered(rows, only=only)
        return
    data = gathered(rows, only=only)
    assert pairs(data) == kept
    assert set(data.user_ids) == {u for u, _ in kept}
    assert set(data.item_ids) == {i for _, i in kept}
    assert data.source["others"] == sum(i not in wanted for _, i in rows)


def test_rows_without_a_user_or_an_item_are_counted_and_left_out():
    clicks = Clicks()
    clicks.add(pa.array(["a", None, "", "b"]), pa.array(["x", "x", "x", None]))
    data = clicks.finish("some", dict(SOURCE))
    assert pairs(data) == {("a", "x")}
    assert (data.source["rows"], data.source["incomplete"], data.source["used"]) == (4, 3, 1)


@pytest.mark.parametrize(
    "users",
    [
        pa.array([1.0, 20.0, None]),
        pa.array([1, 20, None]),
        pa.array(["1", "20", None]),
        pa.array(["1", "20", None]).dictionary_encode(),
    ],
)
def test_a_number_is_the_same_id_however_it_was_stored(users):
    clicks = Clicks()
    clicks.add(users, pa.array(["x", "y", "z"]))
    assert pairs(clicks.finish("some", dict(SOURCE))) == {("1", "x"), ("20", "y")}


def test_nothing_at_all():
    with pytest.raises(errors.InvalidData, match=r"some.csv has no rows"):
        Clicks().finish("some", dict(SOURCE))
