"""Once, and never half."""

import errno
import os
import zipfile

import pytest

from clubcascade import datasets, errors
from clubcascade.datasets import ratings, store
from tests.datasets.made import RATINGS, csv_text


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "some.csv"
    path.write_text(csv_text())
    return path


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "data"


def test_the_same_input_is_not_prepared_twice(file, folder, monkeypatch):
    first = datasets.prepare_interactions(file, folder=folder)
    stamp = first.path.stat().st_mtime_ns
    monkeypatch.setattr(ratings, "read_clicks", None)  # would fail
    file.rename(file.with_name("moved.csv"))
    again = datasets.prepare_interactions(file.with_name("moved.csv"), name="some", folder=folder)
    assert (first.fresh, again.fresh) == (True, False)
    assert again.data.fingerprint == first.data.fingerprint
    assert again.path.stat().st_mtime_ns == stamp


def test_other_content_or_other_options_are_prepared_anew(file, folder):
    first = datasets.prepare_interactions(file, folder=folder)
    other = datasets.prepare_interactions(file, folder=folder, at_least=3)
    assert other.fresh and other.data.fingerprint != first.data.fingerprint
    file.write_text(csv_text(rows=[*RATINGS, (99, 99, 1)]))
    assert datasets.prepare_interactions(file, folder=folder, at_least=3).fresh


@pytest.mark.parametrize("content", [b"", b"nonsense", None])
def test_a_damaged_or_older_file_is_replaced(file, folder, content, monkeypatch):
    first = datasets.prepare_interactions(file, folder=folder)
    if content is None:
        monkeypatch.setattr(store, "FORMAT", store.FORMAT + 1)
        with pytest.raises(errors.InvalidData, match="prepare it again: clubcascade data inter"):
            datasets.find("some", folder)
    else:
        first.path.write_bytes(content)
    again = datasets.prepare_interactions(file, folder=folder)
    assert again.fresh
    assert datasets.find("some", folder).fingerprint == first.data.fingerprint


@pytest.mark.parametrize("room", [0, 100, 2000])
def test_a_full_disk_leaves_what_was_there(file, folder, monkeypatch, room):
    first = datasets.prepare_interactions(file, folder=folder)
    before = first.path.read_bytes()
    left = room

    class FullDisk(zipfile.ZipFile):
        def __init__(self, stream, mode="r", *arguments):
            super().__init__(stream if mode == "r" else _Full(stream), mode, *arguments)

    class _Full:
        def __init__(self, stream):
            self._stream = stream

        def __getattr__(self, name):
            return getattr(self._stream, name)

        def write(self, piece):
            nonlocal left
            left -= len(piece)
            if left < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return self._stream.write(piece)

    file.write_text(csv_text(rows=[*RATINGS, (99, 99, 1)]))
    monkeypatch.setattr(store.zipfile, "ZipFile", FullDisk)
    with pytest.raises(OSError, match=r"No space left on device.*some\.npz"):
        datasets.prepare_interactions(file, folder=folder)
    monkeypatch.undo()
    assert first.path.read_bytes() == before
    assert os.listdir(folder) == ["some.npz"]


def test_progress_reaches_the_end(file, folder):
    seen = []
    datasets.prepare_interactions(file, folder=folder, progress=lambda *step: seen.append(step))
    size = file.stat().st_size
    assert ("checksum", size, size) in seen
    assert ("reading", size, size) in seen
    assert all(0 < done <= total == size for _, done, total in seen)


def test_where_it_comes_from_is_kept(file, folder):
    datasets.prepare_interactions(file, folder=folder)
    source = datasets.find("some", folder).source
    assert source["kind"] == "interactions" and source["file"] == "some.csv"
    assert (source["rows"], source["used"], source["incomplete"]) == (6, 6, 0)
    assert source["terms"] and source["prepared"]
