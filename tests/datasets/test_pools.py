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


def test_ratings_of_users_who_rated_everything_become_clicks(tmp_path):
    ratings = np.array([[5.0, 4.9, -10], [np.nan, 9, 9], [7, 7, 5]], np.float32)
    file = tmp_path / "ratings.npz"
    np.savez(file, ratings=ratings, titles=np.array(["a", "b", "c"]))
    done = datasets.prepare_pools(file, name="jester", at_least=5, folder=tmp_path / "data")
    assert done.data.clicks.toarray().tolist() == [[1, 0, 0], [1, 1, 1]]
    assert "--at-least 5" in done.data.source["command"]
    again = datasets.prepare_pools(file, name="jester", at_least=5, folder=tmp_path / "data")
    other = datasets.prepare_pools(file, name="jester", at_least=6, folder=tmp_path / "data")
    assert not again.fresh and other.fresh
    assert other.data.clicks.toarray().tolist() == [[0, 0, 0], [1, 1, 0]]


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"clicks": CLICKS}, "must hold an array 'ratings', users x items; it holds clicks"),
        ({"ratings": np.ones(3)}, r"must be numbers, users x items, got float64 of \(3,\)"),
        ({"ratings": np.array([["a"]])}, "must be numbers"),
        ({"ratings": np.full((2, 2), np.nan)}, "a user who rated every item, got none"),
    ],
)
def test_other_ratings_are_refused(tmp_path, arrays, words):
    np.savez(tmp_path / "some.npz", **arrays)
    with pytest.raises(errors.InvalidData, match=words):
        datasets.prepare_pools(tmp_path / "some.npz", at_least=3, folder=tmp_path / "data")
    with pytest.raises(errors.InvalidArgument, match="at_least must be a number"):
        datasets.prepare_pools(tmp_path / "some.npz", at_least="3", folder=tmp_path / "data")
