import errno
import os

import pytest

from clubcascade.datasets import files
from clubcascade.datasets.files import written


def test_a_file_is_there_when_it_is_whole(tmp_path):
    path = tmp_path / "deep" / "file.npz"
    with written(path) as stream:
        stream.write(b"whole")
        assert not path.exists()
    assert path.read_bytes() == b"whole"
    assert os.listdir(path.parent) == ["file.npz"]


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), OSError(5, "broken")])
def test_what_goes_wrong_leaves_the_old_file(tmp_path, error):
    path = tmp_path / "file.npz"
    path.write_bytes(b"old")
    with pytest.raises(type(error)), written(path) as stream:
        stream.write(b"half")
        raise error
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file.npz"]


def test_a_full_disk_names_the_file(tmp_path, monkeypatch):
    def full(_handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "fsync", full)
    path = tmp_path / "file.npz"
    with (
        pytest.raises(OSError, match=r"No space left.*file\.npz") as caught,
        written(path) as stream,
    ):
        stream.write(b"half")
    assert caught.value.errno == errno.ENOSPC
    assert os.listdir(tmp_path) == []


def test_what_a_killed_process_left_is_removed_after_a_while(tmp_path):
    old, young = tmp_path / ".file.npz.aa.tmp", tmp_path / ".file.npz.bb.tmp"
    for left in (old, young):
        left.write_bytes(b"half")
    os.utime(old, (0, 0))
    with written(tmp_path / "file.npz") as stream:
        stream.write(b"whole")
    assert sorted(os.listdir(tmp_path)) == [".file.npz.bb.tmp", "file.npz"]
