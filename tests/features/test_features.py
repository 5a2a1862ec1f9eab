"""Features of items: vectors of norm at most 1 that say who is alike, also for new items."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from clubcascade import features
from clubcascade.errors import InvalidArgument, InvalidData, ModelFileError
from tests.features import made


def norms(rows):
    return np.linalg.norm(rows, axis=1)


def same_kind_is_nearer(maker, ids, vectors):
    kinds = np.array([int(each[1:]) % 3 for each in ids])
    own = maker.transform([{"item": each} for each in ids]) if vectors is None else vectors
    unit = own / np.maximum(norms(own), 1e-12)[:, None]
    alike = unit @ unit.T
    same = kinds[:, None] == kinds[None, :]
    np.fill_diagonal(alike, np.nan)
    return np.nanmean(alike[same]) > np.nanmean(alike[~same]) + 0.2


# -- from clicks ----------------------------------------------------------------------------------


def test_clicks_tell_kinds_apart_and_vectors_are_short():
    maker = features.from_clicks(made.clicks(), n_features=6)
    assert norms(maker.vectors).max() == pytest.approx(1.0)
    assert maker.n_features == 6
    assert same_kind_is_nearer(maker, maker.ids, maker.vectors)
    assert "320 clicks of 40 users on 30 items: 5 directions" in str(maker)


def test_the_last_feature_is_the_share_of_clicks():
    maker = features.from_clicks(made.clicks(), n_features=4)
    rows = made.clicks()
    counts = np.array([sum(row["item"] == each for row in rows) for each in maker.ids])
    share = maker.vectors[:, -1]
    np.testing.assert_allclose(share / share.max(), counts / counts.max())


def test_an_item_without_clicks_has_zeros():
    maker = features.from_clicks(made.clicks())
    assert not maker.transform(["new"]).any()
    assert maker.transform(["i3"]).any()


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "jsonl", "pandas", "polars", "arrow"])
def test_every_form_of_a_table_gives_the_same(kind, tmp_path):
    rows = made.clicks()
    frame = pl.DataFrame(rows)
    path = tmp_path / f"clicks.{kind}"
    if kind == "csv":
        frame.write_csv(path)
    elif kind == "tsv":
        frame.write_csv(path, separator="\t")
    elif kind == "parquet":
        frame.write_parquet(path)
    elif kind == "jsonl":
        path.write_text("\n".join(json.dumps(row) for row in rows))
    table = {
        "pandas": lambda: pd.DataFrame(rows),
        "polars": lambda: frame,
        "arrow": lambda: pa.Table.from_pylist(rows),
    }.get(kind, lambda: path)()
    maker = features.from_clicks(table, n_features=5)
    np.testing.assert_allclose(maker.vectors, features.from_clicks(rows, n_features=5).vectors)
    assert maker.ids == sorted(maker.ids)


def test_whole_numbers_are_ids_as_numbers_and_found_as_text():
    rows = [{"user": 1, "item": n} for n in (3, 20, 100)]
    maker = features.from_clicks(rows, n_features=2)
    assert maker.ids == [3, 20, 100]
    assert maker.transform(["20"]).any() and maker.transform([20]).any()


def test_progress_is_told(tmp_path):
    told = []
    path = made.write_csv(tmp_path / "clicks.csv", made.clicks())
    features.from_clicks(path, progress=lambda *step: told.append(step))
    assert told[-1] == ("reading clicks.csv", 320, 320)


# -- from a table ---------------------------------------------------------------------------------


def test_kinds_are_guessed_shown_and_can_be_named():
    maker = features.from_table(made.shelf())
    assert maker.kinds == {"title": "text", "category": "category", "price": "number"}
    assert "category (category): 3 values" in str(maker)
    named = features.from_table(made.shelf(), kinds={"price": "category", "title": "ignore"})
    assert named.kinds["price"] == "category"
    assert "not used: title" in str(named)
    with pytest.raises(InvalidArgument, match=r"kinds must name columns .* got 'prize'"):
        features.from_table(made.shelf(), kinds={"prize": "number"})
    with pytest.raises(InvalidArgument, match="must be one of 'number'.* got 'money'"):
        features.from_table(made.shelf(), kinds={"price": "money"})


def test_a_table_tells_kinds_apart_and_new_items_have_vectors():
    maker = features.from_table(made.shelf())
    assert norms(maker.vectors).max() <= 1 + 1e-12
    assert same_kind_is_nearer(maker, maker.ids, maker.vectors)
    new = maker.transform([{"title": "tea of the north", "category": "tea", "price": 1e9}])
    assert norms(new)[0] <= 1 + 1e-12
    alike = maker.vectors @ new[0]
    assert alike[::3].mean() > max(alike[1::3].mean(), alike[2::3].mean())


def test_the_vectors_are_those_of_transform():
    maker = features.from_table(made.shelf(), n_features=5)
    assert maker.n_features == 5
    np.testing.assert_allclose(maker.transform(made.shelf()), maker.vectors)
    clicks = features.from_clicks(made.clicks())
    both = features.combine(clicks, maker)
    np.testing.assert_allclose(both.transform(made.shelf()), both.vectors)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["a|b", "b", "c|a", ""], "tags"),
        (["red, blue", "blue", "red", "red, green"], "tags"),
        ([["a", "b"], ["b"], [], None], "tags"),
        (['["a", "b"]', '["b"]', "[]", '["a"]'], "tags"),
        ([[0.1, 0.2], [0.3, 0.4], None, [0.5, 0.1]], "vector"),
        (["[0.1, 0.2]", "[0.3, 0.4]", "[0.5, 0.5]", "[1, 2]"], "vector"),
        ([1.5, None, 2.0, 3.0], "number"),
        (["1.5", "", "-2", "3e4"], "number"),
        ([True, False, True, True], "category"),
        (["2024-01-01", "2024-02-01", "2024-03-01", None], "time"),
        (["a long story of tea", "another long story", "jam for all", "x y z v"], "text"),
    ],
)
def test_columns_of_every_kind(values, kind):
    rows = pl.DataFrame({"item": range(4), "column": pl.Series(values, strict=False)})
    maker = features.from_table(rows)
    assert maker.kinds == {"column": kind}
    assert maker.n_features > 1
    assert len({tuple(row) for row in maker.vectors.round(9).tolist()}) > 1


def test_vectors_of_ones_own_are_reduced():
    rng = np.random.default_rng(0)
    flat = rng.normal(size=(50, 3)) @ rng.normal(size=(3, 300))
    maker = features.from_table(pl.DataFrame({"item": range(50), "embedding": flat}), n_features=9)
    assert "3 of 300 directions, 100% of the variance" in str(maker)
    assert maker.n_features == 4
    with pytest.raises(InvalidData, match=r"vectors of 300 numbers in column 'embedding', got 2"):
        maker.transform([{"embedding": [1.0, 2.0]}])


# -- both -----------------------------------------------------------------------------------------


def test_new_items_get_click_features_from_their_row():
    shelf = made.shelf(33)  # the last three were never clicked
    both = features.combine(
        features.from_clicks(made.clicks(), n_features=6), features.from_table(shelf)
    )
    assert "3 items of the table have no click" in str(both)
    assert norms(both.vectors).max() == pytest.approx(1.0)
    clicked = both.vectors[:30, :5]
    new = both.transform([{"item": "i999", "category": "tea", "title": "tea", "price": 3}])
    alike = clicked @ new[0, :5]
    assert alike[::3].mean() > max(alike[1::3].mean(), alike[2::3].mean())


def test_clicked_items_that_the_table_lacks_are_kept_and_counted():
    both = features.combine(
        features.from_clicks(made.clicks()), features.from_table(made.shelf(20))
    )
    assert len(both.ids) == 30
    assert "10 clicked items are not in the table: kept" in str(both)


# -- files ----------------------------------------------------------------------------------------


def every_maker():
    clicks = features.from_clicks(made.clicks(), n_features=5)
    rows = [
        row | {"tags": ["a", "b"][: n % 3], "own": [n / 7, 1.0, 2.0 + n % 2], "on": "2024-01-01"}
        for n, row in enumerate(made.shelf())
    ]
    table = features.from_table(rows, n_features=12)
    return rows, {"clicks": clicks, "table": table, "both": features.combine(clicks, table)}


@pytest.mark.parametrize("kind", ["clicks", "table", "both"])
def test_saved_and_loaded_it_is_the_same(kind, tmp_path):
    rows, makers = every_maker()
    maker = makers[kind]
    maker.save(tmp_path / "features.cc")
    again = features.load(tmp_path / "features.cc")
    assert (again.ids, str(again)) == (maker.ids, str(maker))
    np.testing.assert_array_equal(again.vectors, maker.vectors)
    np.testing.assert_array_equal(again.transform(rows), maker.transform(rows))


def test_a_file_that_does_not_fit_together_is_refused(tmp_path):
    _, makers = every_maker()
    path = tmp_path / "features.cc"
    for change in (
        {"vectors": np.full((30, 5), np.nan)},
        {"vectors": np.zeros((29, 5))},
        {"ids": [1] * 30},
        {"vectors": 2 * np.ones((30, 5))},
    ):
        maker = features.from_clicks(made.clicks(), n_features=5)
        state = maker.state() | change
        maker.state = lambda state=state: state
        maker.save(path)
        with pytest.raises(ModelFileError, match="must fit together"):
            features.load(path)
    makers["table"].components = np.zeros((3, 3))
    makers["table"].save(path)
    with pytest.raises(ModelFileError, match="components must fit the columns"):
        features.load(path)


def test_a_title_with_commas_is_a_text():
    rows = [
        {"id": n, "title": f"{('Shirt', 'Skirt')[n % 2]}, blue, M", "tags": "hot, new"}
        for n in range(30)
    ]
    kinds = features.from_table(rows).kinds
    assert kinds["title"] == "text" and kinds["tags"] == "tags"
