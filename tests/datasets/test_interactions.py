import numpy as np
import pytest

from clubcascade import errors
from clubcascade.datasets.ids import Ids
from clubcascade.datasets.interactions import assemble

GOOD = {
    "indptr": [0, 2, 2, 3],
    "indices": [0, 2, 1],
    "user_ids": Ids.of(["a", "b", "c"]),
    "item_ids": Ids.of(["x", "y", "z"]),
}


def made(**changes):
    return assemble("some", source={}, **GOOD | changes)


def test_the_matrix_and_its_numbers():
    data = made()
    assert data.clicks.toarray().tolist() == [[1, 0, 1], [0, 0, 0], [0, 1, 0]]
    assert data.clicks.dtype == np.bool_
    assert (data.n_users, data.n_items, data.n_clicks, data.density) == (3, 3, 3, 3 / 9)


def test_the_fingerprint_is_that_of_the_content_alone():
    """A constant: it must be the same on every machine and in every version of this format."""
    assert made().fingerprint == made().fingerprint
    assert made().fingerprint.startswith("563fa2045a97dff15fc76f04e1dc291e")
    others = [
        made(indices=[0, 1, 1]),
        made(indptr=[0, 1, 2, 3]),
        made(user_ids=Ids.of(["a", "b", "d"])),
        made(item_ids=Ids.of(["x", "y", "zz"])),
        made(user_ids=Ids.of(["ab", "", "c"])),
        made(item_ids=Ids.of(["x", "y", "z", "more"])),
    ]
    assert len({made().fingerprint, *(other.fingerprint for other in others)}) == 7


def test_it_cannot_be_changed():
    data = made()
    with pytest.raises(AttributeError):
        data.name = "other"
    with pytest.raises(ValueError, match="read-only"):
        data.clicks.data[0] = False


def test_what_people_do_with_the_matrix_works():
    clicks = made().clicks
    assert clicks.sum() == 3
    assert clicks[[2, 0]][:, [1, 2]].toarray().tolist() == [[1, 0], [0, 1]]
    assert (clicks.astype(float) @ np.ones(3)).tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    "changes",
    [
        {"indptr": [0, 2, 3]},
        {"indptr": [0, 2, 1, 3]},
        {"indptr": [1, 2, 2, 3]},
        {"indptr": [0, 2, 2, 4]},
        {"indices": [2, 0, 1]},
        {"indices": [0, 0, 1]},
        {"indices": [0, 3, 1]},
        {"indices": [-1, 2, 1]},
        {"user_ids": Ids.of([]), "indptr": [0], "indices": []},
    ],
)
def test_parts_that_do_not_fit_are_refused(changes):
    with pytest.raises(errors.InvalidData, match="does not fit together"):
        made(**changes)
