"""Prepared files: read back exactly, refused when damaged or of another format."""

import json
import zipfile

import numpy as np
import pytest

from clubcascade import errors
from clubcascade.datasets import store
from clubcascade.datasets.ids import Ids
from clubcascade.datasets.interactions import assemble


@pytest.fixture
def data():
    ids = Ids.of(["ann", "", "zoë\n"]), Ids.of(["x", "y"])
    source = {
        "kind": "made",
        "file": "made.csv",
        "command": "clubcascade data interactions --path made.csv",
    }
    return assemble("some", [0, 1, 3, 3], [1, 0, 1], *ids, source=source)


def rewritten(path, change):
    """Change the members of a prepared file."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def test_it_comes_back(data, tmp_path):
    path = tmp_path / "some.npz"
    store.write(data, path)
    again = store.read(path)
    assert (again.name, again.fingerprint, again.source) == (
        data.name,
        data.fingerprint,
        data.source,
    )
    assert (again.clicks != data.clicks).nnz == 0
    assert list(again.user_ids) == ["ann", "", "zoë\n"] and list(again.item_ids) == ["x", "y"]
    assert store.read(path) is again
    header = store.read_header(path)
    assert header["counts"] == {"users": 3, "items": 2, "clicks": 3}
    with np.load(path) as plain:
        assert plain["indices"].tolist() == [1, 0, 1]


def test_a_changed_file_is_read_again(data, tmp_path):
    path = tmp_path / "some.npz"
    store.write(data, path)
    first = store.read(path)
    other = assemble("some", [0, 2], [0, 1], Ids.of(["ann"]), Ids.of(["x", "y"]), {})
    store.write(other, path)
    assert store.read(path).fingerprint == other.fingerprint != first.fingerprint


@pytest.mark.parametrize("number", [0, 2, "1", None])
def test_another_format_is_refused_with_the_command(data, tmp_path, number):
    path = tmp_path / "some.npz"
    store.write(data, path)

    def change(members):
        header = json.loads(members["header.json"])
        header["format"] = number
        members["header.json"] = json.dumps(header)

    rewritten(path, change)
    with pytest.raises(errors.InvalidData) as caught:
        store.read(path)
    assert f"format {store.FORMAT}, got format {number!r}" in str(caught.value)
    assert str(caught.value).endswith(
        "prepare it again: clubcascade data interactions --path made.csv"
    )


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.9, 0.999])
def test_a_file_cut_short_is_refused(data, tmp_path, share):
    path = tmp_path / "some.npz"
    store.write(data, path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(errors.InvalidData, match=r"some\.npz"):
        store.read(path)


def test_every_changed_byte_of_the_arrays_is_noticed(data, tmp_path):
    path = tmp_path / "some.npz"
    store.write(data, path)
    content = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        members = [archive.read(name) for name in archive.namelist()]
    for member in members:
        start = content.index(member)
        for place in range(start, start + len(member), 13):
            path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
            with pytest.raises(errors.InvalidData):
                store.read(path)


def break_header(members):
    members["header.json"] = b"[]"


def drop_array(members):
    del members["item_ends.npy"]


def lengthen_array(members):
    members["indices.npy"] += b"more"


def wrong_array(members):
    members["user_ends.npy"] = members["item_ends.npy"]


@pytest.mark.parametrize("change", [break_header, drop_array, lengthen_array, wrong_array])
def test_what_is_no_prepared_file_is_refused(data, tmp_path, change):
    path = tmp_path / "some.npz"
    store.write(data, path)
    rewritten(path, change)
    with pytest.raises(errors.InvalidData):
        store.read(path)
