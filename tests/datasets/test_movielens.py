import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clubcascade import datasets, errors
from clubcascade.datasets import editions, movielens
from clubcascade.datasets.editions import EDITIONS, terms_of
from tests.datasets.made import (
    EXPECTED,
    RATINGS,
    csv_text,
    dat_text,
    movielens_zip,
    pairs,
    zip_bytes,
)
from tests.datasets.server import Files, serving

SMALL = "ml-latest-small.zip"


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def parquet(path):
    users, items, stars = zip(*RATINGS, strict=True)
    pq.write_table(pa.table({"user": users, "item": items, "rating": stars}), path)


FORMS = {
    "ml-20m.zip": lambda path: write(path, movielens_zip("ml-20m")),
    "renamed.zip": lambda path: write(path, movielens_zip("ml-20m")),
    "dat.zip": lambda path: write(path, zip_bytes({"ml-1m/ratings.dat": dat_text()})),
    "ratings.csv": lambda path: write(path, csv_text()),
    "ratings.dat": lambda path: write(path, dat_text()),
    "ratings.parquet": parquet,
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_is_the_same_data_set(tmp_path, name):
    FORMS[name](tmp_path / name)
    done = datasets.prepare_movielens("1m", path=tmp_path / name, folder=tmp_path / "data")
    assert pairs(done.data) == EXPECTED
    assert done.data.name == "movielens-1m"
    assert done.data.fingerprint.startswith("adb4540247f44446b6ad44cf2f989753")
    assert done.data.source["expected"] == 1_000_209
    assert "GroupLens" in done.data.source["terms"]


@pytest.mark.parametrize(
    ("folder", "edition"), [("ml-20m", "20m"), ("ml-latest-small", "latest-small"), ("ml-1m", "1m")]
)
def test_an_archive_says_which_edition_it_is(tmp_path, folder, edition):
    file = write(tmp_path / "some.zip", movielens_zip(folder))
    done = datasets.prepare_movielens(path=file, folder=tmp_path / "data")
    assert done.data.name == f"movielens-{edition}"


@pytest.mark.parametrize("name", ["ratings.csv", "ratings.dat", "ratings.parquet"])
def test_a_table_says_it_by_its_number_of_ratings(tmp_path, name, monkeypatch):
    edition = EDITIONS["25m"]
    known = editions.Edition(edition.title, edition.archive, len(RATINGS), None, "")
    monkeypatch.setitem(EDITIONS, "25m", known)
    FORMS[name](tmp_path / name)
    done = datasets.prepare_movielens(path=tmp_path / name, folder=tmp_path / "data")
    assert done.data.name == "movielens-25m"


def test_a_file_of_no_known_edition_must_be_called_one(tmp_path):
    file = write(tmp_path / "ratings.csv", csv_text())
    with pytest.raises(errors.InvalidData, match=r"got 6 ratings.*data movielens 20m --path"):
        datasets.prepare_movielens(path=file, folder=tmp_path / "data")
    file = write(tmp_path / "some.zip", movielens_zip("ml-99m"))
    with pytest.raises(errors.InvalidData, match="got a folder 'ml-99m'"):
        datasets.prepare_movielens(path=file, folder=tmp_path / "data")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (movielens_zip()[:300], "cannot be read.*not a zip"),
        (zip_bytes({"a.txt": "x"}), "must hold one ratings.csv or ratings.dat, got 0; it holds a"),
        (zip_bytes({"ml-1m/ratings.csv": ""}), "is empty"),
        (zip_bytes({"ml-1m/ratings.csv": "userId,rating\n1,2\n"}), "looks like the item"),
        (zip_bytes({"ml-1m/ratings.dat": "1::2\n"}), "Expected 7 columns, got 3"),
    ],
)
def test_bad_archives_are_refused_and_nothing_is_left(tmp_path, content, words):
    file = write(tmp_path / "some.zip", content)
    with pytest.raises(errors.InvalidData, match=words):
        datasets.prepare_movielens("1m", path=file, folder=tmp_path / "data")
    assert not (tmp_path / "data").exists()


def test_a_damaged_archive_is_refused(tmp_path):
    good = movielens_zip(rows=[(n, n * 7 % 11, 3) for n in range(5000)])
    middle = good.index(b"ratings.csv") + 3000
    bad = good[:middle] + b"\x00\xff\x00" + good[middle + 3 :]
    file = write(tmp_path / "some.zip", bad)
    with pytest.raises(errors.InvalidData, match=r"some\.zip cannot be read"):
        datasets.prepare_movielens("1m", path=file, folder=tmp_path / "data")


# -- fetched ------------------------------------------------------------------------------------


@pytest.fixture
def files():
    return Files({SMALL: movielens_zip()}).with_md5(SMALL)


def fetched(files, tmp_path, edition="latest-small", accept_terms=True):
    with serving(files) as url:
        return datasets.prepare_movielens(
            edition, accept_terms=accept_terms, url=url, folder=tmp_path
        )


def test_it_is_fetched_once(files, tmp_path):
    first, again = fetched(files, tmp_path), fetched(files, tmp_path)
    assert pairs(first.data) == EXPECTED
    assert (first.fresh, again.fresh, len(files.asked)) == (True, False, 1)
    assert again.data.fingerprint == first.data.fingerprint


def test_an_archive_that_was_kept_is_not_fetched_again(files, tmp_path):
    first = fetched(files, tmp_path)
    first.path.unlink()
    assert fetched(files, tmp_path).fresh
    assert len(files.asked) == 1


def test_nothing_is_fetched_before_the_terms_are_accepted(files, tmp_path):
    with pytest.raises(errors.InvalidArgument, match="accept_terms must be true before MovieLens"):
        fetched(files, tmp_path, accept_terms=False)
    assert files.asked == [] and list(tmp_path.iterdir()) == []


def test_a_fixed_edition_must_have_the_checksum_that_is_known(tmp_path):
    files = Files({"ml-1m.zip": movielens_zip("ml-1m")}).with_md5("ml-1m.zip")
    with pytest.raises(errors.DownloadFailed, match="must be c4d9eecfca2ab87c1945afe126590906"):
        fetched(files, tmp_path, "1m")
    assert not any(path.is_file() for path in tmp_path.rglob("*"))


def test_what_cannot_be_fetched_can_be_given(files, tmp_path):
    files.content.clear()
    with pytest.raises(errors.DownloadFailed) as caught:
        fetched(files, tmp_path)
    assert str(caught.value).endswith(
        "With the file at hand: clubcascade data movielens latest-small --path ml-latest-small.zip"
    )


def test_the_default_is_the_papers(tmp_path):
    with pytest.raises(errors.InvalidArgument, match="MovieLens 20M"):
        datasets.prepare_movielens(folder=tmp_path)
    assert next(iter(EDITIONS)) == movielens.PAPERS == "20m"


def test_an_unknown_edition(tmp_path):
    with pytest.raises(errors.UnknownName, match="unknown edition of MovieLens '2m'"):
        datasets.prepare_movielens("2m", folder=tmp_path)


@pytest.mark.parametrize("edition", EDITIONS.values(), ids=lambda edition: edition.folder)
def test_the_terms_say_what_counts(edition):
    terms = terms_of(edition)
    for words in (edition.title, "research", "acknowledge", "redistribute", "commercial"):
        assert words in terms
