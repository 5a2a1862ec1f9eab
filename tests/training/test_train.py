"""From two tables to lists, and what they are worth."""

import numpy as np
import polars as pl
import pytest

import clubcascade as cc
from clubcascade import training
from clubcascade.errors import InvalidArgument, InvalidData
from tests.features import made

QUICK = {"n_features": 5, "als": False}


@pytest.fixture(scope="module")
def model():
    return cc.train(made.clicks(60), made.shelf(33), **QUICK)


def kind_of(item):
    return int(item[1:]) % 3


def test_lists_are_of_the_users_kind_and_new(model):
    for user in range(6):
        shown = model.recommend(f"u{user}", k=3)
        unseen = [
            n for n in range(30) if n % 3 == user % 3 and f"i{n}" not in model.seen(f"u{user}")
        ]
        right = sum(kind_of(item) == user % 3 for item in shown)
        assert right >= min(2, len(unseen))
        assert not set(shown) & set(model.seen(f"u{user}"))
    repeated = model.recommend("u0", k=3, exclude_seen=False)
    assert set(repeated) & set(model.seen("u0"))


def test_it_is_better_than_popularity_and_says_so(model):
    ours, popular = model.worth["clubcascade"], model.worth["popularity"]
    assert ours.ndcg[0] > popular.ndcg[0]
    assert model.worth["popularity in category"].ndcg[0] > popular.ndcg[0]
    assert "better than popularity" in model.worth.sentence
    assert [row.name for row in model.worth.rows] == [
        "clubcascade", "popularity", "popularity in category", "random",
    ]  # fmt: skip


def test_cohorts_come_out(model):
    assert isinstance(model.policy, cc.CohortCascade)
    largest = max(model.policy.clusters(), key=len)
    kinds = [int(user[1:]) % 3 for user in largest]
    assert max(np.bincount(kinds)) > 0.8 * len(kinds)
    assert any("cohorts of 60 users" in line for line in model.said)


def test_titles_and_columns_are_kept(model):
    assert model.items.title("i4") == "jam of the south number 4"
    assert model.items["i4"]["category"] == "jam"
    assert len(model.items) == len(model.catalog) == 33
    with pytest.raises(InvalidArgument, match="item must be one of the 33 known, got 'i77'"):
        model.items["i77"]


def test_nobody_knows_the_user(model):
    counts = pl.DataFrame(made.clicks(60)).group_by("item").len().sort("len", descending=True)
    shown = model.recommend("nobody", k=3)
    number = dict(counts.iter_rows())
    assert [number[item] for item in shown] == counts["len"][:3].to_list()


def test_k_and_users_that_are_none(model):
    assert len(model.recommend("u1", k=1000)) == 33 - len(model.seen("u1"))
    with pytest.raises(InvalidArgument, match="k must be a whole number >= 1, got 0"):
        model.recommend("u1", k=0)
    with pytest.raises(InvalidArgument, match="user"):
        model.recommend(["u1"])


def test_it_learns_on_and_takes_new_items(tmp_path):
    model = cc.train(made.clicks(), made.shelf(), judge=False, **QUICK)
    new = {"item": "i99", "title": "tea of the south", "category": "tea", "price": "3"}
    assert model.add_items([new]) == ["i99"]
    assert model.items.title("i99") == "tea of the south"
    assert "i99" in model.recommend("u0", k=40)  # u0 likes tea
    teas, jams = (
        np.mean([model.scores(f"u{user}")[-1] for user in range(kind, 40, 3)]) for kind in (0, 1)
    )
    assert teas > jams
    with pytest.raises(InvalidArgument, match="new ids, got 'i99' in row 1"):
        model.add_items([new])
    with pytest.raises(InvalidArgument, match="must have a column of ids"):
        model.add_items([{"title": "tea"}])
    for _ in range(20):
        model.update("newcomer", ["i1", "i99"], click=1)
    assert model.seen("newcomer") == ["i99"]
    assert model.recommend("newcomer", k=1, exclude_seen=False, explore=True)
    model.save(tmp_path / "shop.cc")
    again = training.load(tmp_path / "shop.cc")
    assert again.recommend("newcomer", 5) == model.recommend("newcomer", 5)
    assert again.seen("newcomer") == ["i99"]
    assert again.items["i99"] == model.items["i99"]


@pytest.mark.parametrize("policy", ["multiple_lin_ucb", cc.C3UCB])
def test_other_policies(policy):
    model = cc.train(made.clicks(), made.shelf(), policy=policy, **QUICK)
    name = policy if isinstance(policy, str) else policy.registry_name()
    assert model.policy.registry_name() == name
    assert len(model.recommend("u0", 5)) == 5
    assert model.worth["clubcascade"].ndcg[0] >= 0.0


def test_without_a_table_and_without_times():
    rows = [{"user": row["user"], "item": row["item"]} for row in made.clicks(60)]
    model = cc.train(rows, **QUICK)
    assert any("no column of times" in line for line in model.said)
    assert any("drawn at random" in line for line in model.said)
    assert model.items.title("i3") == "i3"
    assert model.worth["clubcascade"].ndcg[0] > model.worth["popularity"].ndcg[0]


def test_features_and_weight_are_chosen_on_clicks_held_out():
    model = cc.train(made.clicks(60), made.shelf(), als=False)
    (line,) = [line for line in model.said if line.startswith("chosen: ")]
    assert "features from clicks" in line and "what was not clicked weighs" in line
    assert cc.train(made.clicks(60), made.shelf(), als=False).said == model.said


def test_past_clicks_weigh_as_told():
    half, whole = (
        cc.train(made.clicks(60), judge=False, weight=0.5, strength=s, **QUICK) for s in (0.5, 1.0)
    )
    np.testing.assert_allclose(
        2 * half.policy.statistics("u3")[0], whole.policy.statistics("u3")[0]
    )
    assert "past clicks 0.5 times those on later lists" in half.said[-2]


def test_als_is_a_rival_where_it_is_installed():
    pytest.importorskip("implicit")  # no wheels but for Linux on x86-64
    with pytest.raises(InvalidArgument, match="als must name settings of ALS, got .*factor"):
        cc.train(made.clicks(60), n_features=5, als={"factor": [4]})
    grid = {"factors": [4], "regularization": [1.0], "alpha": [1.0, 5.0]}
    model = cc.train(made.clicks(60), n_features=5, als=grid)
    assert model.worth["ALS"].ndcg[0] > model.worth["random"].ndcg[0]


# -- bad input ------------------------------------------------------------------------------------


def test_items_that_the_table_lacks_are_counted_and_kept():
    model = cc.train(made.clicks(), made.shelf(20), judge=False, **QUICK)
    assert any("10 of 30 clicked items are not in the table" in line for line in model.said)
    assert len(model.items) == 30
    assert model.items["i25"]["title"] is None
    assert model.items.title("i25") == "i25"


def test_ids_that_are_never_the_same_are_asked_about():
    shelf = [row | {"item": f"x{row['item']}"} for row in made.shelf()]
    model = cc.train(made.clicks(), shelf, judge=False, **QUICK)
    assert any("30 of 30 clicked items" in line and "the same?" in line for line in model.said)


def test_numbers_and_text_as_ids_of_one_item():
    rows = [{"user": row["user"], "item": int(row["item"][1:])} for row in made.clicks()]
    shelf = [row | {"item": f" {row['item'][1:]} "} for row in made.shelf()]
    model = cc.train(rows, shelf, judge=False, **QUICK)
    assert len(model.items) == 30
    assert model.items.title(4) == model.items.title("4") == "jam of the south number 4"


def test_new_ids_are_numbers_where_the_old_ones_are():
    rows = [{"user": row["user"], "item": int(row["item"][1:])} for row in made.clicks()]
    shelf = [row | {"item": int(row["item"][1:])} for row in made.shelf()]
    model = cc.train(rows, shelf, judge=False, **QUICK)
    assert model.add_items([{"item": "77", "category": "tea"}]) == [77]
    assert model.items.row("77") == model.items.row(77) == 30


def test_the_column_of_ids_can_be_named(tmp_path):
    shelf = [{"sort": row["category"], "bar code": row["item"]} for row in made.shelf()]
    model = cc.train(made.clicks(), shelf, item_id="bar code", judge=False, **QUICK)
    assert model.items.ids == [f"i{n}" for n in range(30)]
    assert list(model.items["i4"]) == ["sort"]
    assert model.add_items([{"bar code": "new", "sort": "tea"}]) == ["new"]
    with pytest.raises(InvalidData, match="'code'"):
        cc.train(made.clicks(), shelf, item_id="code", judge=False, **QUICK)


def test_one_user():
    rows = [{"user": "ann", "item": f"i{n}", "time": n} for n in range(12)]
    model = cc.train(rows, made.shelf(), **QUICK)
    assert any("there is one user" in line for line in model.said)
    assert model.worth.sentence.startswith("One user alone was judged")
    assert len(model.recommend("ann", 5)) == 5


def test_one_click_or_one_item():
    with pytest.raises(InvalidData, match="at least two items to choose from, got 1"):
        cc.train([{"user": "ann", "item": "tea"}])
    model = cc.train([{"user": "ann", "item": "i1"}], made.shelf(3), als=False)
    assert any("too few clicks" in line for line in model.said)
    assert model.worth is None
    assert len(model.recommend("ann", 5)) == 2


def test_all_items_alike():
    shelf = [{"item": f"i{n}", "kind": "tea"} for n in range(30)]
    model = cc.train(made.clicks(), shelf, **QUICK)
    assert len(model.recommend("u1", 5)) == 5


def test_clicks_at_random_are_not_called_better():
    rng = np.random.default_rng(0)
    pairs = {(int(u), int(i)) for u, i in rng.integers([50, 40], size=(600, 2))}
    rows = [{"user": u, "item": i, "time": t} for t, (u, i) in enumerate(sorted(pairs))]
    rng.shuffle(rows)
    rows = [row | {"time": t} for t, row in enumerate(rows)]
    assert "are better than popularity" not in cc.train(rows, **QUICK).worth.sentence


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"k": 0}, "k must be a whole number >= 1"),
        ({"weight": 0}, r"weight must be a number in \(0, 1\]"),
        ({"strength": 0}, "strength must be a number in"),
        ({"held_out": 1.5}, "held_out must be a number"),
        ({"split": "month"}, "split must be one of"),
        ({"policy": 7}, "policy must be"),
        ({"policy": "club_cascade"}, "one that starts from clicks without lists"),
        ({"params": {"n_features": 3}}, "params must not hold n_features"),
        ({"params": {"nothing": 3}}, "params must be those of CohortCascade, got .*nothing"),
        ({"params": [3]}, "params must map names to values"),
        ({"policy": "popular"}, "policy must be linear in features, got Popular"),
        ({"policy": cc.Policy}, "policy must be linear in features, got Policy"),
        ({"kinds": {"price": "number"}}, "kinds must be left out"),
        ({"item_id": "code"}, "item_id must be left out"),
        ({"n_features": 0}, "n_features must be a whole number >= 1"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_arguments_that_are_none(changed, sentence):
    with pytest.raises(InvalidArgument, match=sentence):
        cc.train(made.clicks(), **(QUICK | changed))
