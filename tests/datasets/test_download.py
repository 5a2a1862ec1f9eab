"""Downloads from a server with every trouble a server can make."""

import errno
import os

import pytest

from clubcascade import errors
from clubcascade.datasets import download
from clubcascade.datasets.download import fetch
from tests.datasets.server import Files, serving

BODY = bytes(range(256)) * 5000
NAME = "ml.zip"


@pytest.fixture
def files(monkeypatch):
    monkeypatch.setattr(download, "PAUSE", 0.0)
    return Files({NAME: BODY}).with_md5(NAME)


def get(files, tmp_path, **options):
    with serving(files) as url:
        return fetch(f"{url}{NAME}", tmp_path / "downloads" / NAME, **options)


def left(tmp_path):
    return sorted(path.name for path in tmp_path.rglob("*") if path.is_file())


def test_a_file_is_fetched_whole(files, tmp_path):
    seen = []
    path = get(files, tmp_path, progress=lambda *step: seen.append(step))
    assert path.read_bytes() == BODY
    assert left(tmp_path) == [NAME]
    assert seen[-1] == ("fetching", len(BODY), len(BODY)) and len(seen) > 2
    assert files.asked == [None]


def test_what_is_there_is_not_fetched_again(files, tmp_path):
    get(files, tmp_path)
    get(files, tmp_path)
    assert len(files.asked) == 1


@pytest.mark.parametrize("cuts", [1, 4])
def test_it_goes_on_by_itself_where_it_was_cut_off(files, tmp_path, cuts):
    files.cuts, files.cut_after = cuts, 100_000
    assert get(files, tmp_path).read_bytes() == BODY
    assert files.asked == [None, *(f"bytes={100_000 * n}-" for n in range(1, cuts + 1))]


def test_the_same_command_goes_on_where_it_was_cut_off(files, tmp_path):
    files.cuts, files.cut_after = 5, 100_000
    with pytest.raises(errors.DownloadFailed, match="cut off after 500,000 bytes.*goes on from"):
        get(files, tmp_path)
    assert left(tmp_path) == [f"{NAME}.part"]
    assert get(files, tmp_path).read_bytes() == BODY
    assert files.asked[-1] == "bytes=500000-"
    assert left(tmp_path) == [NAME]


def test_a_server_that_cannot_resume_starts_anew(files, tmp_path):
    files.ranges, files.cuts, files.cut_after = False, 1, 100_000
    assert get(files, tmp_path).read_bytes() == BODY


def test_a_server_that_resumes_elsewhere_is_not_believed(files, tmp_path):
    files.cuts, files.cut_after, files.shift = 1, 100_000, 5
    with pytest.raises(errors.DownloadFailed, match=r"not resumed where .* delete .*\.part"):
        get(files, tmp_path)


def test_a_part_that_is_all_of_it_is_taken(files, tmp_path):
    (tmp_path / "downloads").mkdir()
    (tmp_path / "downloads" / f"{NAME}.part").write_bytes(BODY)
    assert get(files, tmp_path).read_bytes() == BODY


def test_a_part_that_is_too_long_is_thrown_away(files, tmp_path):
    (tmp_path / "downloads").mkdir()
    (tmp_path / "downloads" / f"{NAME}.part").write_bytes(BODY + b"more")
    assert get(files, tmp_path).read_bytes() == BODY


@pytest.mark.parametrize("given", [True, False])
def test_a_wrong_checksum_leaves_nothing(files, tmp_path, given):
    files.content[NAME] = BODY[:-1] + b"!"
    wanted = "0" * 32 if given else None
    with pytest.raises(errors.DownloadFailed, match="wrong checksum: its MD5 must be") as caught:
        get(files, tmp_path, checksum=wanted)
    assert not given or wanted in str(caught.value)
    assert left(tmp_path) == []


def test_without_a_published_checksum_the_length_is_checked(files, tmp_path):
    del files.content[f"{NAME}.md5"]
    assert get(files, tmp_path).read_bytes() == BODY


def test_a_file_that_is_not_there(files, tmp_path):
    del files.content[NAME]
    with pytest.raises(errors.DownloadFailed, match="cannot be fetched: 404 Not Found"):
        get(files, tmp_path)
    assert left(tmp_path) == []


def test_no_server(tmp_path):
    with pytest.raises(errors.DownloadFailed, match="cannot be reached"):
        fetch("http://127.0.0.1:9/ml.zip", tmp_path / NAME)
    assert left(tmp_path) == []


@pytest.mark.parametrize("url", ["ftp://x/y", "file:///etc/hosts", "ml.zip", ""])
def test_only_the_web(tmp_path, url):
    with pytest.raises(errors.InvalidArgument, match="url must start with https://"):
        fetch(url, tmp_path / NAME)


def test_a_full_disk_names_the_file_and_keeps_what_came(files, tmp_path, monkeypatch):
    real = os.fsync

    def full(_handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(download.os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device.*ml\.zip\.part"):
        get(files, tmp_path)
    monkeypatch.setattr(download.os, "fsync", real)
    assert left(tmp_path) == [f"{NAME}.part"]
    assert get(files, tmp_path).read_bytes() == BODY
