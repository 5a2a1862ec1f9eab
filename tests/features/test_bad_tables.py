"""Bad tables: a sentence with the row and the column, or a default that is said."""

import gzip

import numpy as np
import pandas as pd
import polars as pl
import pytest

from clubcascade.errors import DataMissing, InvalidArgument, InvalidData
from clubcascade.features import from_clicks, from_table, read_log
from tests.features import made


@pytest.fixture
def written(tmp_path):
    def write(content, name="clicks.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


REFUSED = {
    "no such column": ("who,item\na,x\n", "clicks.csv has no column that looks like the user"),
    "two of one name": (
        "user,item,user\na,x,b\n",
        "clicks.csv must have columns of distinct names, got 'user' in columns 1 and 3",
    ),
    "no date": (
        "user,item,time\na,x,2024-01-01\nb,x,tomorrow\n",
        "must have times in column 'time', got 'tomorrow' in row 2",
    ),
    "month or day first": (
        "user,item,time\na,x,02/03/2024\n",
        "must have times in column 'time', got '02/03/2024' in row 1",
    ),
    "a header alone": ("user,item,time\n", "clicks.csv has no rows"),
    "an empty line": ("\n\n", "must begin with a line of column names"),
    "ids of blanks": ("user,item\n ,x\n", "clicks.csv has no row to use among 1"),
    "not UTF-8": (
        b"user,item\na,x\nb,caf\xe9\n",
        "must be UTF-8, got the byte 0xe9 in row 2, column 'item'",
    ),
    "binary": (b"\x00\x01\x02\x03", "must be text with one row a line, got binary data"),
    "a row too wide": (
        "user,item\na,x\nb,y,z\n",
        "clicks.csv cannot be read: row 2 has 3 columns, its first line 2",
    ),
    "carriage returns alone": ("user,item\ra,x\r", "must end its lines with a newline"),
    "UTF-16": ("user,item\na,x\n".encode("utf-16"), "got binary data"),
    "a page of the web": (
        "<html><body>404</body></html>",
        "has no column that looks like the user",
    ),
    "an open quote": (
        'user,item\nc,z\na,"x\nb,y\n',
        "clicks.csv cannot be read: row 2 has a quotation mark that does not close its cell",
    ),
}


@pytest.mark.parametrize(("content", "sentence"), REFUSED.values(), ids=REFUSED)
def test_refused(content, sentence, written):
    with pytest.raises(InvalidData) as error:
        read_log(written(content))
    assert sentence in str(error.value)


def test_an_empty_file_and_none(written, tmp_path):
    with pytest.raises(InvalidData, match="is empty"):
        read_log(written(""))
    with pytest.raises(DataMissing, match="no such file"):
        read_log(tmp_path / "nowhere.csv")
    with pytest.raises(InvalidData, match="path must end in one of .csv"):
        read_log(written("x", "clicks.xlsx"))
    with pytest.raises(InvalidArgument, match="clicks must be a path"):
        read_log(7)


def test_json_lines_that_are_none(written):
    path = written('{"user": "a", "item": "x"}\n{"user": \n', "clicks.jsonl")
    with pytest.raises(InvalidData, match="one JSON object a line, got .* in row 2"):
        read_log(path)


def test_a_late_line_is_named_as_well(written):
    path = written('{"user": "a", "item": "x"}\n' * 3000 + "{bad\n", "clicks.jsonl")
    with pytest.raises(InvalidData, match="one JSON object a line, got .* in row 3001"):
        read_log(path)


def test_a_line_of_many_names_is_read_whole(written):
    names = ",".join(f"column{n}" for n in range(20_000))
    with pytest.raises(InvalidData, match="has no column that looks like the user"):
        read_log(written(f"{names}\n"))


def test_pandas_columns_of_numbers_and_text():
    frame = pd.DataFrame({"user": [1, "a", None], "item": [1, 2, 3]})
    assert read_log(frame).users == ["1", "a"]
    with pytest.raises(InvalidData, match="column 'user', got a object in row 2"):
        read_log(pd.DataFrame({"user": ["a", object()], "item": [1, 2]}))


def test_parquet_that_is_none(written):
    with pytest.raises(InvalidData, match=r"clicks\.parquet cannot be read"):
        read_log(written("PAR1 and nothing", "clicks.parquet"))


@pytest.mark.parametrize("left", [0.9, 12])
def test_a_compressed_file_that_was_cut(left, written):
    whole = gzip.compress("".join(f"u{n * n},i{n}\n" for n in range(-1, 9000)).encode())
    cut = whole[: int(left * len(whole)) if left < 1 else left]
    with pytest.raises(InvalidData, match=r"clicks\.csv\.gz cannot be read: .*end"):
        read_log(written(cut, "clicks.csv.gz"), user="u1", item="i-1")


def test_two_columns_that_could_be_the_user(written):
    log = read_log(written("user_id,User,item\na,x,t\nb,y,t\n"))
    assert log.users == ["x", "y"]
    assert "users are those of column 'User', not of 'user_id'; to take another: user" in log.said
    assert not any("column" in s for s in read_log(written("user,item,time\na,x,3\n")).said)
    named = read_log(written("user_id,User,item\na,x,t\n"), user="user_id")
    assert not any("users are" in s for s in named.said)


def test_two_columns_of_one_name_in_a_frame():
    frame = pd.DataFrame([["a", "x", "y"]], columns=["user", "item", "item"])
    with pytest.raises(InvalidData, match="distinct names, got 'item' in columns 2 and 3"):
        read_log(frame)


def test_one_column_cannot_be_two_things(written):
    with pytest.raises(InvalidData, match="must be a column of its own, got 'user' twice"):
        read_log(written("user,item\na,x\n"), item="user")


def test_ids_that_differ_by_blanks_are_one_and_it_is_said(written):
    log = read_log(written("user,item\nann, tea\nann ,jam\n"))
    assert log.users == ["ann"]
    assert log.items == ["jam", "tea"]
    assert "ids of 2 rows had blanks around them, which were taken off" in log.said


def test_rows_without_something_are_counted(written):
    log = read_log(written("user,item,time\na,x,1\n,x,2\na,,3\nb,x,\n"))
    assert len(log) == 1
    assert "3 rows without a user, an item or a time: left out" in log.said


def test_repeated_pairs_count_once_at_their_first_time(written):
    log = read_log(written("user,item,time\na,x,5\na,y,4\na,x,3\n"))
    assert log.time.tolist() == [3, 4]
    assert "1 row repeating a user and an item: counted once" in log.said


def test_ratings_are_counted_only_on_request(written):
    path = written("user,item,rating\na,x,5\na,y,2\na,z,\n")
    assert len(read_log(path)) == 3
    assert any("whatever its 'rating'" in line for line in read_log(path).said)
    log = read_log(path, at_least=4)
    assert log.items == ["x"] or len(log) == 1
    with pytest.raises(InvalidData, match="none has 'rating' of at least 6"):
        read_log(path, at_least=6)


def test_ids_as_broken_numbers():
    with pytest.raises(InvalidData, match=r"'user', must hold ids .* got 1.5 in row 2"):
        read_log(pl.DataFrame({"user": [1.0, 1.5], "item": [1, 2]}))
    log = read_log(pl.DataFrame({"user": [1.0, 2.0, None], "item": [1, 2, 3]}))
    assert log.users == [1, 2]


# -- tables of items ------------------------------------------------------------------------------


def test_prices_that_are_none(written):
    path = written("item,price\na,3\nb,\nc,NaN\nd,5\ne,inf\n", "items.csv")
    maker = from_table(path)
    assert "price (number): 3 without a value count as the mean" in str(maker)
    assert np.isfinite(maker.vectors).all()
    named = written("item,price\na,3\nb,cheap\n", "items.csv")
    with pytest.raises(InvalidData, match="numbers in column 'price', got 'cheap' in row 2"):
        from_table(named, kinds={"price": "number"})


def test_words_for_no_value_leave_a_column_one_of_numbers(written):
    path = written("item,price\na,3\nb,N/A\nc,null\nd,5\ne,-\n", "items.csv")
    assert "price (number): 3 without a value count as the mean" in str(from_table(path))


COMMAS = {
    "decimal": (["3,50", "4", "1.250,75", "1.250", ""], [3.5, 4, 1250.75, 1250, np.nan]),
    "three digits": (["0,250", "1,250", "2"], [0.25, 1.25, 2]),
    "thousands": (["1,250", "12,000,000", "3.5"], [1250, 12e6, 3.5]),
    "both": (["1,250.75", "2,000"], [1250.75, 2000]),
}


@pytest.mark.parametrize(("cells", "numbers"), COMMAS.values(), ids=COMMAS)
def test_prices_with_commas_are_numbers(cells, numbers):
    rows = [{"item": n, "price": cell} for n, cell in enumerate(cells)]
    maker, plain = (
        from_table(rows),
        from_table([row | {"price": n} for row, n in zip(rows, numbers, strict=True)]),
    )
    assert "price (number): " in str(maker) and "comma" in str(maker)
    assert np.array_equal(maker.vectors, plain.vectors)
    assert np.array_equal(maker.transform(rows[1:2]), maker.vectors[1:2])  # as it was learned
    assert "price (number)" in str(plain) and "comma" not in str(plain)


def test_commas_that_are_in_no_number(written):
    assert from_table([{"item": n, "x": "1,2,3" if n % 2 else "3,7"} for n in range(20)]).kinds == {
        "x": "tags"
    }
    rows = "".join(f'{n},"{n},5"\n' for n in range(20))
    path = written(f'item,price\n{rows}x,"2,3,4"\n', "items.csv")
    with pytest.raises(InvalidData, match="numbers in column 'price', got '2,3,4' in row 21"):
        from_table(path)
    assert "values" in str(from_table(path, kinds={"price": "tags"}))


def test_a_word_among_numbers_is_named(written):
    rows = "".join(f"{n},{n}.5\n" for n in range(20))
    path = written(f"item,price\n{rows}x,cheap\n", "items.csv")
    with pytest.raises(InvalidData, match="'price', got 'cheap' in row 21; .*--kind price=cat"):
        from_table(path)
    assert from_table(path, kinds={"price": "category"}).n_features > 1
    sizes = "".join(f"{n},{'SML'[n % 3]}\n{n}x,{n}\n" for n in range(20))
    assert from_table(written(f"item,size\n{sizes}", "items.csv")).kinds == {"size": "category"}


def test_all_items_alike():
    maker = from_table([{"item": n, "kind": "tea", "price": 3} for n in range(5)])
    assert maker.said == [
        "kind (category): 'tea' for all: no feature",
        "price (number): the same for all: no feature",
        "all items are alike: nothing tells them apart",
    ]
    assert np.isfinite(maker.vectors).all()
    assert len({tuple(row) for row in maker.vectors.tolist()}) == 1


def test_a_category_of_100_000_values():
    frame = pl.DataFrame({"item": range(100_000), "code": [f"c{n}" for n in range(100_000)]})
    maker = from_table(frame)
    assert "none of 100,000 values comes back: no feature" in str(maker)
    frame = frame.with_columns(pl.Series("code", [f"c{n % 90_000}" for n in range(100_000)]))
    maker = from_table(frame, n_features=100)
    assert "the 50 most frequent of 90,000 values, 0% of all" in str(maker)
    assert maker.n_features == 51


@pytest.mark.parametrize(
    "values", [[1e308, -1e308, 0.0, 5.0], [[1e308, 1.0], [-1e308, 2.0], [0.0, 1.0], [3.0, 4.0]]]
)
def test_numbers_beyond_all_measure_count_as_empty(values):
    maker = from_table([{"item": n, "x": value} for n, value in enumerate(values)])
    assert "2 without a v" in str(maker)
    assert np.isfinite(maker.vectors).all()


@pytest.mark.parametrize("cell", ["[1, 2", '["a", "b"]', "[" * 100_000, "7"])
def test_a_vector_that_is_none_is_named(cell):
    rows = [{"item": 1, "v": "[1, 2]"}, {"item": 2, "v": cell}]
    with pytest.raises(InvalidData, match="vectors in column 'v', .* in row 2"):
        from_table(rows, kinds={"v": "vector"})


def test_lists_as_text_and_kinds_that_are_none():
    maker = from_table([{"item": n, "x": ["tea", f"n{n}"]} for n in range(9)], kinds={"x": "text"})
    assert maker.n_features > 1
    with pytest.raises(InvalidArgument, match="kinds must map columns to kinds, got"):
        from_table(made.shelf(), kinds=["price"])


def test_a_row_that_repeats_an_id():
    maker = from_table([{"item": "a", "price": 1}, {"item": " a", "price": 9}, {"item": "b"}])
    assert maker.ids == ["a", "b"]
    assert "1 rows repeating an id, the first 'a' in row 2" in str(maker)


def test_no_ids_and_no_rows(written):
    maker = from_table([{"price": 1}, {"price": 2}])
    assert maker.ids == [0, 1]
    assert "no column of ids" in str(maker)
    with pytest.raises(InvalidData, match=r"items.csv has no rows"):
        from_table(written("item,price\n", "items.csv"))


def test_new_items_without_any_known_column():
    maker = from_table(made.shelf())
    with pytest.raises(InvalidData, match="must have some of the columns title"):
        maker.transform([{"weight": 3}])


@pytest.mark.parametrize("n", [0, -1, 2.5, True, "many"])
def test_a_number_of_features_that_is_none(n):
    with pytest.raises(InvalidArgument, match="n_features must be a whole number >= 1"):
        from_clicks(made.clicks(), n_features=n)


def test_one_click_alone():
    maker = from_clicks([{"user": "a", "item": "x"}])
    assert np.isfinite(maker.vectors).all()
    assert maker.vectors.shape[0] == 1
