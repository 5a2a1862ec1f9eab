import io

import pytest

from clubcascade import datasets, errors
from clubcascade.datasets import yelp
from tests.datasets.made import (
    RESTAURANT_PAIRS,
    business_text,
    pairs,
    review_text,
    tar_bytes,
    yelp_files,
    zip_bytes,
)

REVIEW, BUSINESS = "yelp_academic_dataset_review.json", "yelp_academic_dataset_business.json"


@pytest.fixture
def place(tmp_path):
    folder = tmp_path / "yelp"
    folder.mkdir()
    for name, text in yelp_files().items():
        (folder / name).write_text(text)
    return folder


def packed(tmp_path, name):
    tar = tar_bytes(yelp_files(), "w:gz" if name.endswith(("gz", "tgz")) else "w")
    content = zip_bytes({"Yelp JSON/yelp_dataset.tar": tar}) if name == "nested.zip" else tar
    if name == "plain.zip":
        content = zip_bytes({f"Yelp JSON/{member}": text for member, text in yelp_files().items()})
    (tmp_path / name).write_bytes(content)
    return tmp_path / name


def prepared(paths, tmp_path):
    return datasets.prepare_yelp(paths, folder=tmp_path / "data")


def check(done):
    data = done.data
    assert pairs(data) == RESTAURANT_PAIRS
    assert data.name == "yelp"
    assert (data.source["rows"], data.source["others"], data.source["used"]) == (7, 3, 4)
    assert "Yelp" in data.source["terms"]


def test_a_folder(place, tmp_path):
    check(prepared(place, tmp_path))


@pytest.mark.parametrize("order", [1, -1])
def test_the_files_one_by_one_in_any_order(place, tmp_path, order):
    check(prepared([place / REVIEW, place / BUSINESS][::order], tmp_path))


@pytest.mark.parametrize("name", ["yelp.tar", "yelp.tgz", "yelp.tar.gz", "plain.zip", "nested.zip"])
def test_an_archive(tmp_path, name):
    check(prepared(packed(tmp_path, name), tmp_path))


def test_a_folder_with_the_archive(tmp_path):
    (tmp_path / "yelp").mkdir()
    packed(tmp_path / "yelp", "yelp.tar")
    check(prepared(tmp_path / "yelp", tmp_path))


def test_all_forms_have_one_fingerprint(place, tmp_path):
    first = prepared(place, tmp_path).data
    again = datasets.prepare_yelp(packed(tmp_path, "yelp.tgz"), name="b", folder=tmp_path / "data")
    assert again.data.fingerprint == first.fingerprint


def test_the_same_files_are_not_read_twice(place, tmp_path, monkeypatch):
    first = prepared(place, tmp_path)
    monkeypatch.setattr(yelp, "read_reviews", None)
    assert not prepared([place / BUSINESS, place / REVIEW], tmp_path).fresh
    assert first.fresh


def test_many_blocks_are_the_same_as_one(place, tmp_path, monkeypatch):
    reviews = [(f"u{n % 50}", ["b-pizza", "b-old", "b-shop"][n % 3]) for n in range(500)]
    (place / REVIEW).write_text(review_text(reviews))
    whole = datasets.prepare_yelp(place, name="whole", folder=tmp_path).data
    cut = yelp.whole_lines
    monkeypatch.setattr(yelp, "whole_lines", lambda stream: cut(stream, 700))
    blocks = datasets.prepare_yelp(place, name="blocks", folder=tmp_path).data
    assert blocks.fingerprint == whole.fingerprint
    assert pairs(blocks) == {(u, b) for u, b in reviews if b != "b-shop"}


def test_lines_longer_than_a_block():
    text = b"x" * 50 + b"\n" + b"y" * 5
    assert list(yelp.whole_lines(io.BytesIO(text), 7)) == [b"x" * 50 + b"\n", b"y" * 5]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({REVIEW: "", BUSINESS: business_text()}, "review.json is empty"),
        ({REVIEW: review_text(), BUSINESS: ""}, "business.json is empty"),
        ({REVIEW: review_text()[:-40], BUSINESS: business_text()}, "review.json cannot be read"),
        ({REVIEW: review_text(), BUSINESS: business_text()[:-40]}, "business.json cannot be read"),
        ({REVIEW: "not json\n", BUSINESS: business_text()}, "review.json cannot be read"),
        ({REVIEW: review_text(), BUSINESS: "[1]\n"}, "no business_id in line 1"),
        ({REVIEW: '{"a": 1}\n', BUSINESS: business_text()}, "no row to use among"),
        (
            {REVIEW: review_text(), BUSINESS: '{"business_id": "b-pizza"}\n'},
            "no business of the category 'Restaurants'",
        ),
        ({REVIEW: review_text()}, "must be a folder with Yelp's files"),
        ({}, "holds nothing. Yelp gives its data set away at https://"),
    ],
)
def test_bad_files_are_refused_and_nothing_is_left(tmp_path, files, words):
    folder = tmp_path / "yelp"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    with pytest.raises(errors.InvalidData, match=words):
        prepared(folder, tmp_path)
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("name", ["yelp.tar", "yelp.tgz", "plain.zip", "nested.zip"])
def test_an_archive_cut_short_is_refused(tmp_path, name):
    file = packed(tmp_path, name)
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 3])
    with pytest.raises(errors.InvalidData, match=f"{name}"):
        prepared(file, tmp_path)
    assert not (tmp_path / "data").exists()


def test_an_archive_without_the_files(tmp_path):
    (tmp_path / "other.tar").write_bytes(tar_bytes({"a.json": "{}"}))
    with pytest.raises(errors.InvalidData, match=r"must lead to Yelp's review file"):
        prepared(tmp_path / "other.tar", tmp_path)


def test_what_is_not_yelp(tmp_path):
    (tmp_path / "some.csv").write_text("user,item\n")
    with pytest.raises(errors.InvalidData, match="path must be a folder, an archive"):
        prepared(tmp_path / "some.csv", tmp_path)
    with pytest.raises(errors.DataMissing, match="no such file"):
        prepared(tmp_path / "gone", tmp_path)
    with pytest.raises(errors.InvalidData, match="at least one"):
        prepared([], tmp_path)
