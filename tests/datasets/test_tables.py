"""The same ratings in every form of table are the same data set."""

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clubcascade import datasets, errors
from clubcascade.datasets import tables
from tests.datasets.made import EXPECTED, RATINGS, csv_text, dat_text, pairs


def parquet(path, kind):
    users, items, ratings = zip(*RATINGS, strict=True)
    columns = {"user": pa.array(users).cast(kind), "item": pa.array(items).cast(kind)}
    pq.write_table(pa.table(columns | {"rating": pa.array(ratings)}), path)


FORMS = {
    "plain.csv": lambda path: path.write_text(csv_text()),
    "windows.csv": lambda path: path.write_bytes(
        b"\xef\xbb\xbf" + csv_text().replace("\n", "\r\n").encode()
    ),
    "semicolons.csv": lambda path: path.write_text(csv_text().replace(",", ";")),
    "tabs.tsv": lambda path: path.write_text(csv_text().replace(",", "\t")),
    "bars.txt": lambda path: path.write_text(csv_text().replace(",", "|")),
    "colons.dat": lambda path: path.write_text("user::item::rating::time\n" + dat_text()),
    "quoted.csv": lambda path: path.write_text(
        csv_text().replace("userId", '"userId"').replace("\n1,", '\n"1",')
    ),
    "no_newline_at_the_end.csv": lambda path: path.write_text(csv_text().rstrip("\n")),
    "packed.csv.gz": lambda path: path.write_bytes(gzip.compress(csv_text().encode())),
    "numbers.parquet": lambda path: parquet(path, pa.int32()),
    "floats.parquet": lambda path: parquet(path, pa.float64()),
    "texts.parquet": lambda path: parquet(path, pa.string()),
    "large_texts.pq": lambda path: parquet(path, pa.large_string()),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_is_the_same_data_set(tmp_path, name):
    file = tmp_path / name
    FORMS[name](file)
    data = datasets.prepare_interactions(file, folder=tmp_path / "data").data
    assert pairs(data) == EXPECTED
    assert list(data.user_ids) == ["1", "2", "3", "10"]
    assert data.fingerprint.startswith("adb4540247f44446b6ad44cf2f989753")


def test_quoted_texts_may_hold_commas_and_lines(tmp_path):
    file = tmp_path / "some.csv"
    file.write_text('user,text,item\n"a,1","one\ntwo, ""three""",x\nb,,y\n')
    data = datasets.prepare_interactions(file, folder=tmp_path / "data").data
    assert pairs(data) == {("a,1", "x"), ("b", "y")}


def test_ids_that_stop_being_numbers_after_a_while(tmp_path, monkeypatch):
    """Types are not guessed from the first block."""
    monkeypatch.setattr(tables, "_BLOCK", 1000)
    file = tmp_path / "some.csv"
    rows = [f"{n},{n % 7}" for n in range(5_000)] + ["ann,007", "bob,7"]
    file.write_text("user,item\n" + "\n".join(rows))
    data = datasets.prepare_interactions(file, folder=tmp_path / "data").data
    assert data.n_users == 5_002
    assert {"ann", "bob", "0", "4999"} <= set(data.user_ids)
    assert list(data.item_ids) == ["0", "007", "1", "2", "3", "4", "5", "6", "7"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("some.csv", b"", "is empty"),
        ("some.parquet", b"", "is empty"),
        ("some.csv", b"\n\n\n", "is empty"),
        ("some.csv", b"user,item\n", "has no rows"),
        ("some.csv", b"user,item\n,\n", "no row to use among 1"),
        ("some.csv", b"user,item\na,b\nc\n", "Expected 2 columns, got 1"),
        ("some.csv", b"user,item\nJos\xe9,b\n", "invalid UTF8"),
        ("some.csv", b"who,what\na,b\n", "no column that looks like the user"),
        ("some.csv", b"user,what\na,b\n", "looks like the item.*Columns found: 'user', 'what'"),
        ("some.parquet", b"PAR1 nonsense", "cannot be read"),
        ("some.csv.gz", b"\x1f\x8bnonsense", "cannot be read"),
        ("some.csv.gz", gzip.compress(csv_text().encode() * 99)[:-30], "cannot be read"),
        ("some.xlsx", b"PK", "path must end in .csv"),
    ],
)
def test_bad_files_are_refused_and_nothing_is_left(tmp_path, name, content, words):
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(errors.InvalidData, match=words):
        datasets.prepare_interactions(file, folder=tmp_path / "data")
    assert not (tmp_path / "data").exists()
