"""The commands of ``clubcascade data``, as people and scripts call them."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from typer.testing import CliRunner

from clubcascade import datasets
from clubcascade.cli.app import app
from clubcascade.datasets import download
from tests.datasets.made import csv_text, movielens_zip, pools_file, yelp_files
from tests.datasets.server import Files, serving

SMALL = "ml-latest-small.zip"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A folder of prepared data of our own, and no waiting between connections."""
    monkeypatch.setenv("CLUBCASCADE_DATA", str(tmp_path / "home"))
    monkeypatch.setattr(download, "PAUSE", 0.0)
    return tmp_path / "home"


def call(*arguments: object):
    return CliRunner().invoke(app, ["data", *map(str, arguments)])


def refused(result, *words):
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1 and result.stderr.startswith("clubcascade: ")
    assert "Traceback" not in result.output
    for each in words:
        assert each in result.stderr
    return True


def test_interactions(tmp_path, home):
    file = tmp_path / "ratings.csv"
    file.write_text(csv_text() + "1,10,5,2000\n,10,5,2001\n")
    result = call("interactions", "--path", file)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "ratings: 6 clicks of 4 users on 3 items, density 0.5",
        "  left out: 1 row without a user or an item",
        "  counted once: 1 row repeating a user and an item",
        "  terms: those of whoever made the file",
        f"wrote {home / 'ratings.npz'}",
    ]
    assert result.stderr == ""
    again = call("interactions", "--path", file)
    assert again.stdout.splitlines()[-1] == f"was there already: {home / 'ratings.npz'}"


def test_interactions_with_every_option(tmp_path):
    file = tmp_path / "file.csv"
    file.write_text(csv_text("a,b,c,d"))
    options = ["--user", "a", "--item", "b", "--rating", "c", "--at-least", 3, "--time", "d"]
    result = call("interactions", "--path", file, *options, "--name", "mine")
    assert "mine: 4 clicks" in result.stdout
    assert "left out: 2 rows with a lower rating or none" in result.stdout
    assert "times: 1000 to 1005" in result.stdout
    assert datasets.find("mine").source["options"]["at_least"] == 3


def test_pools_yelp_and_a_local_movielens(tmp_path):
    pools_file(tmp_path / "pool.npz", np.eye(4))
    assert (
        "yelp: 4 clicks" in call("pools", "--path", tmp_path / "pool.npz", "--name", "yelp").stdout
    )
    for name, text in yelp_files().items():
        (tmp_path / name).write_text(text)
    result = call("yelp", "--path", tmp_path, "--name", "restaurants")
    assert "restaurants: 3 clicks of 3 users on 2 items" in result.stdout
    assert "left out: 3 rows of other businesses" in result.stdout
    (tmp_path / "ml.zip").write_bytes(movielens_zip("ml-1m"))
    result = call("movielens", "--path", tmp_path / "ml.zip")
    assert "movielens-1m: 6 clicks" in result.stdout
    assert "the file has 6 ratings; this edition was published with 1,000,209" in result.stdout


def test_the_list(tmp_path, home):
    assert call("list").stdout.splitlines() == [
        f"nothing is prepared in {home}",
        "begin with: clubcascade data movielens",
    ]
    file = pools_file(tmp_path / "pool.npz", np.eye(1200))
    call("pools", "--path", file, "--name", "yelp")
    lines = call("list").stdout.splitlines()
    assert lines[1].split() == [
        "name",
        "users",
        "items",
        "clicks",
        "density",
        "made",
        "from",
        "when",
    ]
    row = r"yelp +1,200 +1,200 +1,200 +0\.0008333 +pools: pool\.npz +\d{4}-\d\d-\d\d \d\d:\d\d"
    assert re.fullmatch(row, lines[3].strip())
    assert lines[-1] == f"in {home}"


def test_the_list_shows_what_cannot_be_used(tmp_path, home):
    file = pools_file(tmp_path / "pool.npz", np.eye(3))
    call("pools", "--path", file, "--name", "older")
    with zipfile.ZipFile(home / "older.npz") as archive:
        header = json.loads(archive.read("header.json"))
    (home / "older.npz").unlink()
    with zipfile.ZipFile(home / "older.npz", "w") as archive:
        archive.writestr("header.json", json.dumps(header | {"format": 0}))
    (home / "broken.npz").write_bytes(b"half")
    pools_file(home / "foreign.npz", np.eye(3))
    result = call("list")
    assert result.exit_code == 0
    text = " ".join(result.stdout.split())
    assert "got format 0" in text and "clubcascade data pools --path" in text
    assert "broken" in text and "foreign" in text
    refused(call("pools", "--path", home / "gone.npz"), "no such file")


# -- fetching -----------------------------------------------------------------------------------


@pytest.fixture
def files():
    return Files({SMALL: movielens_zip()}).with_md5(SMALL)


def fetched(files, *options):
    with serving(files) as url:
        return call("movielens", "latest-small", "--url", url, *options)


def test_movielens_is_fetched(files):
    result = fetched(files, "--accept-terms")
    assert result.exit_code == 0
    assert "movielens-latest-small: 6 clicks" in result.stdout
    assert "may redistribute it only under the same terms" in result.stdout


def test_the_terms_are_shown_and_must_be_accepted(files):
    result = fetched(files)
    assert result.exit_code == 2
    assert "belongs to GroupLens" in result.stderr and "README.html" in result.stderr
    assert result.stderr.splitlines()[-1].endswith("read its terms and give --accept-terms")
    assert files.asked == []


def test_what_is_there_needs_no_terms_and_no_network(files):
    fetched(files, "--accept-terms")
    result = call("movielens", "latest-small", "--url", "http://127.0.0.1:9/")
    assert result.exit_code == 0 and result.stderr == ""


def test_a_download_that_is_cut_off_goes_on(files, home):
    files.cuts, files.cut_after = 5, 50
    assert refused(
        fetched(files, "--accept-terms"), "cut off after 250 bytes", "goes on from there"
    )
    assert fetched(files, "--accept-terms").exit_code == 0
    assert sorted(path.name for path in home.rglob("*.*")) == [SMALL, "movielens-latest-small.npz"]


def test_a_wrong_checksum(files, home):
    files.content[SMALL] += b"more"
    assert refused(fetched(files, "--accept-terms"), "wrong checksum", "fetches it anew")
    assert not any(path.is_file() for path in home.rglob("*"))


def test_no_network_and_no_file(home):
    result = call("movielens", "--accept-terms", "--url", "http://127.0.0.1:9/")
    assert refused(result, "cannot be reached", "clubcascade data movielens 20m --path ml-20m.zip")
    assert not home.exists()


def on_a_terminal(answer, *arguments):
    """Run the command with a terminal, and answer what it asks."""
    command = [sys.executable, "-m", "clubcascade", "data", *arguments]
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        text, answered = b"", False
        while select.select([ours], [], [], 60)[0]:
            try:
                piece = os.read(ours, 1 << 16)
            except OSError:  # the other side is closed
                break
            text += piece
            if b"accept these terms?" in text and not answered:
                answered = True
                os.write(ours, answer)
        os.close(ours)
    return process.returncode, text.decode()


@pytest.mark.parametrize(("answer", "code"), [(b"y\n", 0), (b"n\n", 2), (b"\n", 2)])
def test_someone_at_a_terminal_is_asked(files, answer, code):
    with serving(files) as url:
        found, text = on_a_terminal(answer, "movielens", "latest-small", "--url", url)
    assert found == code
    assert "belongs to GroupLens" in text
    assert (len(files.asked) == 1) == (code == 0)
    assert ("fetching" in text) == (code == 0)  # the progress bar


# -- wrong use ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["movielens", "19m"], "unknown edition of MovieLens '19m'"),
        (["movielens", "--path", "gone.zip"], "no such file"),
        (["yelp", "--path", "gone"], "no such file"),
        (["interactions", "--path", "gone.csv"], "no such file"),
        (["interactions", "--path", "."], "path must be a file, got the folder"),
        (["pools", "--path", "."], "path must be a file, got the folder"),
        (["movielens", "--accept-terms", "--url", "ftp://x"], "url must start with https://"),
    ],
)
def test_wrong_use_is_one_line(arguments, words, tmp_path, monkeypatch, home):
    monkeypatch.chdir(tmp_path)
    assert refused(call(*arguments), words)
    assert not home.exists()


@pytest.mark.parametrize(
    "arguments",
    [["movie"], ["yelp"], ["interactions"], ["pools"], ["interactions", "--at-least", "much"]],
)
def test_wrong_options_exit_with_2(arguments):
    result = call(*arguments)
    assert result.exit_code == 2 and "Traceback" not in result.output


def test_a_full_disk_is_one_line(tmp_path, monkeypatch, home):
    file = tmp_path / "ratings.csv"
    file.write_text(csv_text())

    def full(_handle):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("clubcascade.datasets.files.os.fsync", full)
    result = call("interactions", "--path", file)
    assert refused(result, "No space left on device", "ratings.npz")
    assert list(home.iterdir()) == []


def test_without_arrow_it_says_how_to_get_it(tmp_path):
    (tmp_path / "some.csv").write_text(csv_text())
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from clubcascade.cli.app import app\n"
        f"app(['data', 'interactions', '--path', {str(tmp_path / 'some.csv')!r}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert 'pip install "clubcascade[experiments]"' in done.stderr


def test_the_help_loads_no_arrow():
    code = "import sys, clubcascade.cli.app; print('pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False\n"
