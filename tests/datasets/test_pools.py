import numpy as np
import pytest

from clubcascade import datasets, errors
from clubcascade.datasets.pools import read_pools
from tests.datasets.made import pools_file

CLICKS = np.array([[1, 0, 1], [0, 0, 0]])


@pytest.mark.parametrize("kind", [bool, int, np.uint8, float])
def test_every_way_to_write_0_and_1_is_the_same(tmp_path, kind):
    data = read_pools(pools_file(tmp_path / f"{kind.__name__}.npz", CLICKS.astype(kind)))
    assert data.clicks.toarray().tolist() == CLICKS.tolist()
    assert list(data.item_ids) == ["0", "1", "2"]
    bits = read_pools(pools_file(tmp_path / "bits.npz", CLICKS.astype(bool)))
    assert data.fingerprint == bits.fingerprint


def test_the_order_is_kept(tmp_path):
    data = read_pools(pools_file(tmp_path / "eye.npz", np.eye(12)))
    assert data.clicks.toarray().tolist() == np.eye(12).tolist()


def test_by_name_and_by_path_it_is_the_same(tmp_path):
    file = pools_file(tmp_path / "some.npz", CLICKS)
    done = datasets.prepare_pools(file, name="yelp", folder=tmp_path / "data")
    named = datasets.find("yelp", tmp_path / "data")
    assert done.fresh and named.name == "yelp"
    assert named.fingerprint == datasets.find(file).fingerprint == done.data.fingerprint
    assert named.source["kind"] == "pools" and named.source["file"] == "some.npz"
    assert named.source["checksum"].startswith("sha256:")


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"matrix": np.eye(2)}, "must hold an array 'clicks', users x items; it holds matrix"),
        ({"clicks": np.ones(3)}, r"must have shape \(users, items\), got \(3,\)"),
        ({"clicks": np.ones((0, 3))}, r"must have shape \(users, items\), got \(0, 3\)"),
        ({"clicks": np.full((2, 2), 3)}, "must be of 0 and 1, got 3"),
        ({"clicks": np.full((2, 2), np.nan)}, "must be of 0 and 1, got nan"),
        ({"clicks": np.array([["a"]])}, "must be of 0 and 1, got dtype"),
        ({"clicks": np.array([[None]])}, "allow_pickle"),
    ],
)
def test_other_arrays_are_refused(tmp_path, arrays, words):
    np.savez(tmp_path / "some.npz", **arrays)
    with pytest.raises(errors.InvalidData, match=words):
        datasets.prepare_pools(tmp_path / "some.npz", folder=tmp_path / "data")
    assert not (tmp_path / "data").exists()


def test_a_file_cut_short_is_refused(tmp_path):
    file = pools_file(tmp_path / "some.npz", np.eye(40))
    file.write_bytes(file.read_bytes()[:500])
    with pytest.raises(errors.InvalidData, match="must be a whole .npz file"):
        datasets.prepare_pools(file, folder=tmp_path / "data")
