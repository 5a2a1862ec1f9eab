"""From ``clubcascade train`` to a running list: models of files, metadata, items by their row."""

import numpy as np
import pytest

import clubcascade as cc
from clubcascade.errors import InvalidArgument, InvalidItems, ModelFileError
from clubcascade.service import events, history
from clubcascade.service.events import ItemsPut, ModelMade, read_event, write_event
from clubcascade.service.http import Limits
from clubcascade.service.metadata import Columns, read_filter
from clubcascade.storage import open_store
from tests.service.shops import ITEMS, NAMES, replayed, shop
from tests.service.web import serving

KINDS = ["tea", "jam", "oats"]


@pytest.fixture(scope="module")
def trained():
    """A shop of 30 items; users click the kind that they like."""
    rng = np.random.default_rng(7)
    items = [
        {"item_id": n, "title": f"{KINDS[n % 3]} {n}", "category": KINDS[n % 3],
         "price": f"{2 + n % 9}.50", "tags": "hot|green" if n % 2 else "cold"}
        for n in range(30)
    ]  # fmt: skip
    clicks = []
    for t in range(900):
        user = int(rng.integers(40))
        kind = user % 3 if rng.random() < 0.8 else int(rng.integers(3))
        clicks.append(
            {"user": f"c{user}", "item": 3 * int(10 * rng.random() ** 2) + kind, "time": t}
        )
    return cc.train(clicks, items, als=False, judge=False, n_features=4, weight=0.2, strength=0.5)


@pytest.fixture(scope="module")
def file(trained, tmp_path_factory):
    path = tmp_path_factory.mktemp("trained") / "shop.cc"
    trained.save(path)
    return path


def open_shop(folder, file, **options):
    return cc.Recommender(folder, trained=file, **options)


# -- a model of a file -----------------------------------------------------------------------------


def test_a_model_of_a_file_has_all_of_it(trained, file, tmp_path):
    with open_shop(tmp_path, file) as s:
        model = s.model()
        assert model.catalog.ids == trained.items.ids
        assert np.array_equal(model.catalog.features, trained.catalog.features)
        assert model.metadata[4] == {
            "title": "jam 4", "category": "jam", "price": 6.5, "tags": ["cold"]
        }  # fmt: skip
        assert model.seen.of("c7") == set(trained.seen("c7"))
        assert model.policy.users == trained.policy.users
        decision = s.recommend("c7", 5)
        assert s.feedback(decision.id, 2) == "applied"
        digest = s.digest()
        assert decision.items[2] in model.seen.of("c7")
        s.snapshot()
    with open_shop(tmp_path, file) as s:  # from the snapshot
        assert s.digest() == digest and s.notes == []
        assert s.model().metadata[4]["title"] == "jam 4"
        assert decision.items[2] in s.model().seen.of("c7")
    assert replayed(tmp_path) == digest  # and from the log alone


def test_two_servers_of_one_file_on_postgresql(file, database):
    with open_shop(database, file) as one, open_shop(database, file) as two:
        assert two.notes == []
        one.feedback(two.recommend("c7", 3).id, 0)
        two.register_items([100], columns=[{"title": "plum jam", "category": "jam"}])
        one.follow()
        two.follow()
        assert one.digest_at() == two.digest_at()
        assert one.model().metadata[100]["title"] == "plum jam"
        digest = one.digest()
    assert replayed(database) == digest


def test_a_large_event_has_time_on_postgresql(database, monkeypatch):
    large = {"seen": 5, "more": np.random.default_rng(0).normal(size=2**21)}
    with shop(database) as s:
        made = ModelMade.of("large", cc.C3UCB(n_features=3), large)
        s._call(lambda: s._writer.record(made))
        monkeypatch.setattr("clubcascade.service.writer.LARGEST_REMOTE", 2**20)
        with pytest.raises(InvalidArgument, match="model 'huge' must take at most 1 MiB at a time"):
            made = ModelMade.of("huge", cc.C3UCB(n_features=3), large)
            s._call(lambda: s._writer.record(made))
        assert s.models == ("default", "large") and s.problem is None


def test_a_model_that_is_there_stays(file, tmp_path):
    with shop(tmp_path / "store") as s:
        digest = s.digest()
    with open_shop(tmp_path / "store", file) as s:
        assert s.digest() == digest
        assert "was not made of" in s.notes[-1]
    with pytest.raises(InvalidArgument, match="without policy"):
        shop(tmp_path / "new", trained=file)


def test_a_trained_model_in_memory(trained, tmp_path):
    with cc.Recommender(tmp_path, trained=trained) as s:
        assert len(s.model().catalog) == 30


def test_no_model_of_a_broken_file(file, tmp_path):
    data = file.read_bytes()
    with shop(tmp_path) as s:
        for bad in (b"", b"PK", data[: len(data) // 2], b"x" * 1000):
            with pytest.raises(ModelFileError):
                s.create_model("other", trained=bad)
        assert s.models == ("default",)


def test_an_event_is_bounded(file, tmp_path, monkeypatch):
    monkeypatch.setattr(events, "LARGEST", 10_000)
    with shop(tmp_path, n_features=2) as s:
        position = s.position
        with pytest.raises(InvalidArgument, match="model 'other' must take at most .* MiB"):
            s.create_model("other", trained=file)
        with pytest.raises(InvalidArgument, match="items of model 'default' must take at most"):
            s.register_items(range(1000), np.zeros((1000, 2)))
        assert (s.position, s.problem) == (position, None)
        s.register_items([1], [[0.1, 0.2]])


def test_a_forgotten_user_loses_only_what_came_later(file, tmp_path):
    with open_shop(tmp_path, file) as s:
        before, made = s.model().seen.of("c7"), s.digest()
        decision = s.recommend("c7", 30)
        place = next(n for n, each in enumerate(decision.items) if each not in before)
        s.feedback(decision.id, place)
        assert s.model().seen.of("c7") == before | {decision.items[place]}
        s.forget_user("c7")
        assert s.model().seen.of("c7") == before
        assert len(s.model().catalog) == 30 and s.model().metadata[0]["title"] == "tea 0"
        assert s.digest() != made  # the version has moved
    assert replayed(tmp_path)


def test_a_replay_by_another_policy_keeps_the_items(file, tmp_path):
    with open_shop(tmp_path, file) as s:
        s.feedback(s.recommend("c7", 3).id, 0)
        d = s.model().policy.n_features
    store = open_store(tmp_path)
    other = history.replayed(store, model="default", policy=cc.C3UCB(n_features=d))
    store.close()
    assert len(other["default"].catalog) == 30 and other["default"].counters["learned"] == 1


def test_events_of_before_are_read():
    old = ModelMade("m", "c3_ucb", {"n_features": 2}, {"a": np.arange(3.0)})
    assert read_event(write_event(old)).start == {}
    put = ItemsPut("m", ("tea", 7), np.eye(2))
    assert read_event(write_event(put)).metadata is None
    told = ItemsPut("m", ("tea", 7), np.eye(2), ({"title": "Tea", "price": 0.1}, None))
    assert read_event(write_event(told)).metadata == told.metadata


# -- metadata and rows -----------------------------------------------------------------------------


def test_metadata_comes_and_goes(tmp_path):
    with shop(tmp_path) as s:
        s.register_items(NAMES, ITEMS, metadata=[{"title": name.upper()} for name in NAMES])
        s.register_items(NAMES[:1], ITEMS[1:2])  # other features, the same title
        assert s.model().metadata[NAMES[0]] == {"title": "ITEM 0"}
        s.register_items(NAMES[:2], metadata=[{"price": 3}, None])  # the same features
        assert s.model().metadata[NAMES[0]] == {"price": 3}
        assert s.model().metadata[NAMES[1]] == {"title": "ITEM 1"}
        assert np.array_equal(s.model().catalog.features[0], ITEMS[1])
        s.register_items(NAMES[:1], metadata=[{}])
        s.remove_items(NAMES[1:2])
        assert sorted(s.model().metadata) == NAMES[2:]
        digest = s.digest()
        s.snapshot()
    with shop(tmp_path) as s:
        assert s.digest() == digest and sorted(s.model().metadata) == NAMES[2:]
    assert replayed(tmp_path) == digest


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("tea", "metadata must map columns"),
        ({1: "x"}, "metadata must map columns"),
        ({"a": float("nan")}, "finite numbers.* got nan in column 'a'"),
        ({"a": 2**70}, "finite numbers"),
        ({"a": {"b": 1}}, "finite numbers"),
        ({"a": [[1]]}, "finite numbers"),
        ({"a": "\ud800"}, "text"),
        ({"\ud800": 1}, "text that can be kept"),
        ({f"c{n}": n for n in range(101)}, "at most 100 columns, got 101"),
        ({"a": "x" * 70_000}, "at most 65536 bytes as JSON"),
    ],
)
def test_bad_metadata_changes_nothing(row, said, tmp_path):
    with shop(tmp_path) as s:
        s.register_items(NAMES, ITEMS)
        digest = s.digest()
        with pytest.raises(InvalidArgument, match=said):
            s.register_items(NAMES[:2], ITEMS[:2], metadata=[{"title": "tea"}, row])
        with pytest.raises(InvalidArgument, match="metadata must have 2 rows"):
            s.register_items(NAMES[:2], ITEMS[:2], metadata=[None])
        assert s.digest() == digest


def test_new_items_by_their_row(trained, file, tmp_path):
    row = {"title": "plum jam", "category": "jam", "price": 4, "tags": ["cold"]}
    with open_shop(tmp_path, file) as s, open_shop(tmp_path, file) as other:
        assert s.register_items([100], columns=[row]) == 31
        expected = trained.features.transform([row | {"item_id": 100}])
        assert np.array_equal(s.model().catalog.features[30], expected[0])
        assert s.model().metadata[100] == row
        s.register_items([101], columns=[{"category": "tea", "price": "3.5"}], metadata=[{"a": 1}])
        assert s.model().metadata[101] == {"category": "tea", "price": 3.5, "a": 1}
        other.follow()
        assert other.digest() == s.digest()
        digest = s.digest()
        for bad, said in [
            ({"pric": 4}, "columns must be some of title, category, price, tags, got .*pric"),
            ({}, "columns must be some of"),
            ({"price": "cheap"}, "price"),
        ]:
            with pytest.raises(cc.errors.ClubCascadeError, match=said):
                s.register_items([102], columns=[bad])
        with pytest.raises(InvalidArgument, match="without items"):
            s.register_items([102], [expected[0]], columns=[row])
        s.create_model("plain", n_features=2)
        with pytest.raises(InvalidArgument, match="trained with a table"):
            s.register_items([102], columns=[row], model="plain")
        assert s.digest("default") == other.digest("default")
    assert digest
    with open_shop(tmp_path, file) as s:  # after a restart as well
        assert s.register_items([102], columns=[row]) == 33


# -- options of a list -----------------------------------------------------------------------------


def test_greedy_is_the_list_of_training(trained, file, tmp_path):
    with open_shop(tmp_path, file) as s:
        for user in ("c7", "c8"):
            found = s.recommend(user, 5, greedy=True, exclude_seen=True)
            assert list(found.items) == trained.recommend(user, 5)
            again = s.recommend(user, 5, greedy=True, exclude_seen=True)
            assert again.items == found.items  # nothing is drawn
            assert (again.greedy, again.draw, again.candidates) == (True, None, "narrowed")
        assert s.recommend("c7", 5).draw is not None
        assert s.feedback(found.id, 0) == "applied"
        s.create_model("random", "random")
        s.register_items(NAMES, ITEMS, model="random")
        with pytest.raises(InvalidArgument, match="greedy false, for Random"):
            s.recommend("c7", 2, greedy=True, model="random")


def test_users_nobody_knows_get_the_popular_list(trained, file, tmp_path):
    with open_shop(tmp_path, file) as s:
        popular = trained.recommend("nobody", 30)
        new = s.recommend("somebody", 4)
        assert list(new.items) == popular[:4]
        assert (new.greedy, new.draw, new.candidates) == (True, None, "catalogue")
        clicked = sum(popular[0] in trained.seen(f"c{n}") for n in range(40))
        assert new.scores[0] == clicked / len(trained.policy.users)
        assert list(s.recommend("somebody", 2, candidates=popular[4:10]).items) == popular[4:6]
        jam = s.recommend("somebody", 3, filter='category = "jam"').items
        assert list(jam) == [item for item in popular if item % 3 == 1][:3]
        s.register_items(["new"], [s.model().catalog.features[0]])
        assert "new" not in s.recommend("somebody", 10).items
        s.feedback(new.id, 1)  # now it is known
        assert s.recommend("somebody", 30, greedy=True).items != tuple(popular)
        d = s.model().policy.n_features
        assert s.recommend("other", 1, np.zeros((2, d))).items in [(0,), (1,)]


def test_numbers_and_text_are_one_user(tmp_path):
    clicks = [{"user": n % 7, "item": f"i{n % 5}", "time": n} for n in range(70)]
    trained = cc.train(clicks, als=False, judge=False, n_features=3)
    with cc.Recommender(tmp_path, trained=trained) as s:
        assert s.recommend("3", 2).user == 3 and s.recommend(3, 2).user == 3
        assert s.recommend("03", 2).user == "03" and s.recommend("9", 2).user == "9"
        s.feedback(s.recommend("3", 2).id, 0)
        assert s.model().counters["learned"] == 1
        s.forget_user("3")
        assert s.model().counters["learned"] == 0


@pytest.mark.parametrize("few", [0, 256])  # both ways to leave items out
def test_what_was_seen_is_left_out(trained, file, tmp_path, monkeypatch, few):
    monkeypatch.setattr("clubcascade.service.arguments.FEW_SEEN", few)
    monkeypatch.setattr("clubcascade.service.decider.FEW_SEEN", few)
    with open_shop(tmp_path, file) as s:
        seen = set(trained.seen("c7"))
        left = set(range(30)) - seen
        assert seen and set(s.recommend("c7", 30, exclude_seen=True).items) == left
        while left:  # whatever is clicked is not shown again
            found = s.recommend("c7", 3, exclude_seen=True, request_id=f"r{len(left)}")
            assert len(found.items) == min(3, len(left)) and set(found.items) <= left
            assert len(found.scores) == len(found.items)
            again = s.recommend("c7", 3, exclude_seen=True, request_id=f"r{len(left)}")
            assert again.id == found.id
            s.feedback(found.id, cc.Feedback(len(found.items), tuple(range(len(found.items)))))
            left -= set(found.items)
        with pytest.raises(cc.errors.InvalidItems, match="exclude_seen must leave"):
            s.recommend("c7", 3, exclude_seen=True)
        assert len(s.recommend("c7", 30).items) == 30


def test_what_is_kept_of_a_user_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(events, "SEEN", 3)
    with shop(tmp_path) as s:
        s.register_items(NAMES, ITEMS)
        for name in NAMES[:5]:
            s.feedback(s.recommend("alice", 1, candidates=[name]).id, 0)
        assert s.model().seen.of("alice") == set(NAMES[2:5])
        assert set(s.recommend("alice", 8, exclude_seen=True).items) == {*NAMES[:2], *NAMES[5:]}
        found = s.recommend("alice", 3, ITEMS, ids=NAMES, exclude_seen=True)
        assert not set(found.items) & set(NAMES[2:5])


def test_a_model_of_before_does_not_know_who_clicked(tmp_path):
    made = ModelMade.of("old", cc.C3UCB(n_features=3), {})
    with shop(tmp_path) as s:
        s._call(lambda: s._writer.record(made))
        s.register_items(NAMES, ITEMS, model="old")
        s.feedback(s.recommend("alice", 3, model="old").id, 0)
        with pytest.raises(InvalidArgument, match="exclude_seen must be false for model 'old'"):
            s.recommend("alice", 3, model="old", exclude_seen=True)


SHELF = {
    "tea": {"kind": "drink", "price": 3, "tags": ["hot", "green"], "sale": True},
    "mate": {"kind": "drink", "price": 12.5, "tags": ["hot"], "sale": False, "net weight": 250},
    "jam": {"kind": "food", "price": 25, "tags": []},
    "oats": {"kind": "food", "note": 'it\'s "raw"'},
    "salt": {},
}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('kind = "drink"', "tea mate"),
        ("kind = 'drink' and price < 10", "tea"),
        ("price <= 12.5", "tea mate"),
        ("price > 1e1 or kind='food'", "mate jam oats"),
        ("price >= -3 AND NOT price = 3", "mate jam"),
        ('kind != "drink"', "jam oats salt"),
        ('not kind = "drink"', "jam oats salt"),
        ('kind in ("food", "x")', "jam oats"),
        ('kind not in ("food")', "tea mate salt"),
        ("price in (3, 25)", "tea jam"),
        ("price = null", "oats salt"),
        ("price != null", "tea mate jam"),
        ("kind in (null, 'food')", "jam oats salt"),
        ("sale = true", "tea"),
        ("sale = false", "mate"),
        ("sale = 1", ""),
        ("price = true", ""),
        ('tags = "hot"', "tea mate"),
        ('tags = "green" or price = 25', "tea jam"),
        ("tags = null", "jam oats salt"),
        ('kind < "e"', "tea mate"),
        ('kind >= "e"', "jam oats"),
        ("price < 'x'", ""),
        ("`net weight` = 250", "mate"),
        ('note = "it\'s \\"raw\\""', "oats"),
        ('(kind = "drink" or kind = "food") and not (price > 10)', "tea oats"),
        ('kind = "drink" or kind = "food" and price > 20', "tea mate jam"),
        ("not not sale = true", "tea"),
    ],
)
def test_filters(text, left):
    catalog = cc.Catalog(np.eye(5), list(SHELF))
    rows = {each: row for each, row in SHELF.items() if row}
    found = read_filter(text)(Columns(catalog, rows, {}))
    assert [each for each, yes in zip(SHELF, found, strict=True) if yes] == left.split()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "1 to 2000 characters"),
        ("x" * 2001, "1 to 2000 characters"),
        (7, "1 to 2000 characters"),
        ("kind", "a sign .* at character 5, got the end"),
        ("kind =", "a value .* at character 7, got the end"),
        ("kind = drink", "a value .* at character 8, got 'drink'"),
        ("kin = 3", "a column of the items .kind, price.* at character 1, got 'kin'"),
        ("kind = 3 price = 4", "'and', 'or' or the end at character 10"),
        ("kind = 3 and", "a column at character 13, got the end"),
        ("(kind = 3", r"'\)' at character 10, got the end"),
        ("kind in 3", r"'\(' at character 9"),
        ("kind in (3 4)", r"'\)' at character 12"),
        ("kind not 3", "'in' at character 10"),
        ("3 = kind", "a column at character 1"),
        ("and = 3", "a column at character 1, got 'and'"),
        ("price < null", "has an order at character 9"),
        ("price < 1e999", "a finite number at character 9"),
        ("price < 3x", "at character 9"),
        ('kind = "drink', "a column, a value or a sign at character 8"),
        ("kind = 3; drop", "at character 9, got '; drop'"),
        ("(" * 60 + "kind = 3" + ")" * 60, "at most 50 levels at character 51"),
        ("not " * 60 + "kind = 3", "at most 50 levels"),
    ],
)
def test_bad_filters_say_where(text, said):
    columns = Columns(cc.Catalog(np.eye(5), list(SHELF)), SHELF, {})
    with pytest.raises(InvalidArgument, match="filter must .*" + said):
        read_filter(text)(columns)


def test_filters_follow_the_items(tmp_path):
    with shop(tmp_path) as s:
        s.register_items(NAMES, ITEMS, metadata=[{"price": n} for n in range(8)])
        few = {"filter": "price < 2"}
        assert set(s.recommend("alice", 5, **few).items) == set(NAMES[:2])
        s.register_items(NAMES[5:6], metadata=[{"price": 1}])
        s.remove_items(NAMES[:1])
        assert set(s.recommend("alice", 5, **few).items) == {NAMES[1], NAMES[5]}
        some = s.recommend("alice", 5, candidates=NAMES[4:], **few)
        assert (some.items, some.candidates, some.greedy) == ((NAMES[5],), "narrowed", False)
        for bad in ({"items": ITEMS}, {"filter": "price > 100"}, {"candidates": NAMES[6:]}):
            with pytest.raises(InvalidArgument, match="filter must"):
                s.recommend("alice", 5, **few | bad)
        s.feedback(some.id, 0)
        assert s.recommend("alice", 5, exclude_seen=True, **few).items == (NAMES[1],)
        s.create_model("ids", "cascade_ucb1")  # knows items by their ids
        s.register_items(NAMES, ITEMS, metadata=[{"price": n} for n in range(8)], model="ids")
        found = s.recommend("alice", 5, model="ids", **few)
        assert set(found.items) == set(NAMES[:2]) and s.feedback(found.id, 0) == "applied"


# -- over HTTP -------------------------------------------------------------------------------------


def test_the_service_tells_titles(file, tmp_path):
    with serving(tmp_path, n_features=None, trained=file) as (client, _):
        asked = {"user": "c7", "k": 3, "metadata": True}
        found = client.post("/v1/default/recommend", json=asked).json()
        told = [row["title"] for row in found["metadata"]]
        assert told == [f"{KINDS[item % 3]} {item}" for item in found["items"]]
        assert (
            "metadata"
            not in client.post("/v1/default/recommend", json=asked | {"metadata": False}).json()
        )
        loose = asked | {"items": [[0.0] * 20][:1], "k": 1}
        d = client.get("/v1/models/default").json()["n_features"]
        loose["items"] = [[0.0] * d]
        assert client.post("/v1/default/recommend", json=loose).json()["metadata"][0]["title"]
        options = {"exclude_seen": True, "greedy": True, "filter": 'category="tea" and price<6'}
        found = client.post("/v1/default/recommend", json=asked | options).json()
        assert all(row["category"] == "tea" and row["price"] < 6 for row in found["metadata"])
        bad = client.post("/v1/default/recommend", json=asked | {"filter": "pric < 6"})
        assert bad.status_code == 422 and bad.json()["error"]["field"] == "filter"
        assert "at character 1" in bad.json()["error"]["reason"]
        page = client.get("/v1/models/default/items?limit=2&offset=3").json()
        assert [item["metadata"]["title"] for item in page["items"]] == ["tea 3", "jam 4"]
        assert client.get("/v1/models/default/items/4").json()["metadata"]["price"] == 6.5
        card = client.get("/v1/models/default/users/c7").json()
        assert card["next"][0]["title"].startswith("jam")
        taste = client.get("/v1/models/default/clusters").json()["clusters"][0]["taste"]
        assert taste[0]["metadata"]["category"] in KINDS

        row = {"title": "plum jam", "category": "jam", "price": 4}
        put = client.put("/v1/models/default/items/100", json={"columns": row})
        assert put.json() == {"items": 31}
        put = client.put("/v1/default/items", json={"items": [{"id": 101, "columns": row}]})
        assert put.json() == {"items": 32}
        put = client.put("/v1/models/default/items/101", json={"metadata": {"title": "x"}})
        assert client.get("/v1/models/default/items/101").json()["metadata"] == {"title": "x"}
        for body, field in [
            ({"columns": {"pric": 4}}, "columns"),
            ({"metadata": {"a": {"b": 1}}}, "metadata"),
            ({}, "items"),
        ]:
            refused = client.put("/v1/models/default/items/101", json=body)
            assert (refused.status_code, refused.json()["error"]["field"]) == (422, field)
        mixed = [{"id": 1, "columns": row}, {"id": 2, "features": [0.0] * d}]
        refused = client.put("/v1/default/items", json={"items": mixed})
        assert refused.status_code == 422


def test_a_model_from_a_file_over_http(file, tmp_path):
    data = file.read_bytes()
    binary = {"Content-Type": "application/octet-stream"}
    limits = Limits(rate=0, body=1000, model=len(data))
    with serving(tmp_path, limits=limits) as (client, service):
        put = client.put("/v1/models/shop", content=data, headers=binary)
        assert (put.status_code, put.json()["items"]) == (201, 30)
        again = client.put("/v1/models/shop", content=data, headers=binary)
        assert again.status_code == 200  # a retry
        assert client.put("/v1/models/shop", json={"n_features": 3}).status_code == 409
        assert client.put("/v1/models/default", content=data, headers=binary).status_code == 409
        large = client.put("/v1/models/more", content=data + b"x", headers=binary)
        assert large.status_code == 413
        broken = client.put("/v1/models/more", content=data[:-100], headers=binary)
        assert broken.status_code == 422 and "/" not in broken.json()["error"]["reason"]
        assert client.put("/v1/models/more", content=data).status_code in (400, 413)
        assert client.put("/v1/shop/items", content=data, headers=binary).status_code == 413
        assert set(service.shop.models) == {"default", "shop"}


def test_an_item_is_known_by_number_or_by_text(file, tmp_path):
    with open_shop(tmp_path, file) as s:
        before = len(s.model().catalog)
        s.register_items(["3"], metadata=[{"price": 1}])
        assert len(s.model().catalog) == before and s.model().metadata[3] == {"price": 1}
        vector = s.model().catalog.features[3]
        s.register_items(["61", "hot tea"], [vector, vector])
        assert s.model().catalog.ids[before:] == [61, "hot tea"]
        with pytest.raises(InvalidArgument, match="ids must be distinct"):
            s.register_items([7, "7"], [vector, vector])
        shown = s.recommend("ann", 3, candidates=["3", 7, "61"]).items
        assert sorted(shown) == [3, 7, 61]
        with pytest.raises(InvalidItems, match="candidates must be distinct"):
            s.recommend("ann", 1, candidates=["3", 3])
        with pytest.raises(InvalidItems, match="ids of registered items of model 'default', got"):
            s.recommend("ann", 1, candidates=["03"])
        assert s.remove_items(["61"]) == 1
