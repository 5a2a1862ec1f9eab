"""What was prepared before still opens, and the same files still have the same fingerprints."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from clubcascade import datasets
from tests.datasets.made import csv_text, movielens_zip, pairs, pools_file, yelp_files

KEPT = Path(__file__).with_name("prepared_format_1.npz")
ARRAYS = ("indptr", "indices", "user_letters", "user_ends", "item_letters", "item_ends")
FINGERPRINTS = {
    "interactions": "adb4540247f44446b6ad44cf2f98975363cafb3eaa3c85471bc380d967143a2b",
    "liked": "0b84c74d5b8cbd10e6adfddc999ae6d99954fc8ee00b001a9ce379ae415c53f2",
    "texts": "5393e8b0b281400450335f756f218a84d40512c130a2d7e28dfd541f2da78aba",
    "movielens": "adb4540247f44446b6ad44cf2f98975363cafb3eaa3c85471bc380d967143a2b",
    "yelp": "92336a873b0c6e1f4c6808d66e8cf9883c4516a083e90949d07fc1c7407c06b8",
    "pools": "b2289e97fa73536cffd4278bfc249906eede74c43ad8f738e0132588fd0bda16",
}
TEXTS = 'user,item\nzoë,"a,b"\nann,007\n10,7\n9,7\nann,007\n,7\n'


def prepare(kind, folder):
    """Prepare one small made-up source of every kind."""
    source, kept = folder / "source", folder / "data"
    source.mkdir(exist_ok=True)
    if kind == "yelp":
        for name, text in yelp_files().items():
            (source / name).write_text(text)
        return datasets.prepare_yelp(source, folder=kept)
    if kind == "pools":
        clicks = np.random.default_rng(1).random((7, 5)) < 0.4
        return datasets.prepare_pools(pools_file(source / "pool.npz", clicks), folder=kept)
    if kind == "movielens":
        if not (source / "ml.zip").exists():  # a zip knows the time at which it was made
            (source / "ml.zip").write_bytes(movielens_zip())
        return datasets.prepare_movielens(path=source / "ml.zip", folder=kept)
    file = source / f"{kind}.csv"
    file.write_text(TEXTS if kind == "texts" else csv_text())
    options = {"at_least": 3.0, "time": "timestamp"} if kind == "liked" else {}
    return datasets.prepare_interactions(file, folder=kept, **options)


@pytest.mark.parametrize("kind", FINGERPRINTS)
def test_the_fingerprint_of_every_kind_of_source(tmp_path, kind):
    done = prepare(kind, tmp_path)
    assert done.data.fingerprint == FINGERPRINTS[kind]
    assert not prepare(kind, tmp_path).fresh


def test_a_prepared_file_of_before_still_opens():
    data = datasets.find(KEPT)
    assert data.fingerprint == FINGERPRINTS["texts"]
    assert pairs(data) == {("zoë", "a,b"), ("ann", "007"), ("10", "7"), ("9", "7")}
    assert data.source["incomplete"] == 1


def test_a_file_prepared_now_has_the_arrays_of_before(tmp_path):
    path = prepare("texts", tmp_path).path
    with zipfile.ZipFile(KEPT) as before, zipfile.ZipFile(path) as now:
        assert now.namelist() == before.namelist()
        headers = [json.loads(archive.read("header.json")) for archive in (before, now)]
        for header in headers:
            for key in ("prepared", "command"):
                del header["source"][key]
        assert headers[0] == headers[1]
        for name in ARRAYS:
            assert now.read(f"{name}.npy") == before.read(f"{name}.npy")
