"""Bulk learning: the sums of the sequential path, any number of threads, and a run that goes on."""

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import clubcascade as cc
from clubcascade.errors import InvalidArgument, InvalidData, InvalidItems
from clubcascade.training import ListDataset, bulk, learn_log

D, K = 3, 4


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(bulk, "ROWS", 50)
    monkeypatch.setattr(bulk._Checkpoint, "EVERY", 100)


@pytest.fixture
def catalog():
    rows = np.random.default_rng(1).normal(size=(12, D))
    return cc.Catalog(rows / np.linalg.norm(rows, axis=1).max(), ids=[f"i{n}" for n in range(12)])


def columns(catalog, n=400, seed=0, users=20):
    rng = np.random.default_rng(seed)
    shown = [rng.permutation(12)[: K if at % 5 else 2].tolist() for at in range(n)]
    clicks = []
    for rows in shown:
        place = int(rng.integers(len(rows) + 2))
        clicks.append(place if place < len(rows) else None)
    return {
        "user": [f"u{each}" for each in rng.integers(users, size=n)],
        "shown": [[catalog.ids[row] for row in rows] for rows in shown],
        "click": clicks,
    }


def write(folder, columns, parts=3, **more):
    table = pa.table(columns | more)
    for n in range(parts):
        size = -(-len(table) // parts)
        parquet.write_table(table.slice(n * size, size), folder / f"part-{n}.parquet")
    return folder


def in_order(policy, catalog, columns):
    for user, shown, click in zip(*columns.values(), strict=True):
        policy.update(user, catalog[[catalog.index(each) for each in shown]], click)
    return policy


POLICIES = [
    lambda: cc.MultipleLinUCB(n_features=D),
    lambda: cc.C3UCB(n_features=D),
    lambda: cc.KnownClusters(n_features=D, partition={f"u{n}": n % 3 for n in range(20)}),
]


@pytest.mark.parametrize("make", POLICIES)
def test_sums_are_those_of_the_sequential_path(make, catalog, tmp_path):
    given = columns(catalog)
    bulk_learned = learn_log(make(), write(tmp_path, given), catalog)
    plain = in_order(make(), catalog, given)
    for user in sorted(set(given["user"])):
        for found, expected in zip(
            bulk_learned.statistics(user), plain.statistics(user), strict=True
        ):
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
        scores = bulk_learned.scores(user, catalog), plain.scores(user, catalog)
        np.testing.assert_allclose(*scores, rtol=0, atol=1e-10)


@pytest.mark.parametrize("make", [POLICIES[0], lambda: cc.CohortCascade(n_features=D, seed=3)])
def test_the_number_of_threads_changes_no_bit(make, catalog, tmp_path):
    write(tmp_path, columns(catalog))
    one, three = (learn_log(make(), tmp_path, catalog, workers=n) for n in (1, 3))
    for name, value in one.state().items():
        np.testing.assert_array_equal(value, three.state()[name], err_msg=name)


@pytest.mark.parametrize("make", POLICIES)
def test_the_size_of_chunks_changes_no_bit(make, catalog, tmp_path, monkeypatch):
    write(tmp_path, columns(catalog))
    small = learn_log(make(), tmp_path, catalog).state()
    monkeypatch.setattr(bulk, "ROWS", 7)
    for name, value in learn_log(make(), tmp_path, catalog).state().items():
        np.testing.assert_array_equal(value, small[name], err_msg=name)


@pytest.mark.parametrize(("after", "until"), [(0, 400), (0, 131), (130, 270), (267, None)])
def test_chunks_start_and_end_where_they_are_asked_to(after, until, catalog, tmp_path):
    given = columns(catalog)
    table = pa.table(given)
    for n in range(2):  # files of several row groups
        path = tmp_path / f"{n}.parquet"
        parquet.write_table(table.slice(200 * n, 200), path, row_group_size=60)
    found, end = [], after
    for end, lists in ListDataset(tmp_path, catalog).chunks(after, until):
        found += [lists.users[code] for code in lists.user]
        assert end == after + len(found)
    assert found == given["user"][after:until]
    assert end == (until or 400)


def test_whole_numbers_are_found_as_ids_in_both_forms(tmp_path):
    catalog = cc.Catalog(np.eye(3), ids=[7, 5, 3])
    base = {"user": [1, 1], "click": [0, None]}
    for name, shown in {"n": [[5, 7], [3]], "s": [["5", "7"], ["3"]]}.items():
        (tmp_path / name).mkdir()
        made = learn_log(
            cc.MultipleLinUCB(n_features=3),
            write(tmp_path / name, base | {"shown": shown}, parts=1), catalog,
        )  # fmt: skip
        gram, moment, count = made.statistics(1)
        np.testing.assert_array_equal(np.diag(gram), [0, 1, 1])
        assert moment.tolist() == [0, 1, 0] and count == 2


def test_items_of_another_width_are_refused_and_change_nothing(catalog, tmp_path):
    write(tmp_path, columns(catalog))
    for kind in (cc.MultipleLinUCB, cc.CohortCascade, cc.ClubCascade):
        policy = kind(n_features=D + 1)
        with pytest.raises(InvalidItems, match="items must have 4 features, got 3"):
            learn_log(policy, tmp_path, catalog)
        assert not policy.users


def test_users_of_a_cohort_cascade_have_the_sums_of_the_sequential_path(catalog, tmp_path):
    given = columns(catalog)
    made = learn_log(cc.CohortCascade(n_features=D, memory=0), write(tmp_path, given), catalog)
    plain = in_order(cc.CohortCascade(n_features=D, memory=0), catalog, given)
    for user in set(given["user"]):
        for found, expected in zip(made.statistics(user), plain.statistics(user), strict=True):
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
    assert made.recommend("u1", catalog, k=3).shape == (3,)
    made.update("somebody new", catalog[[0, 1]], click=0)


def test_what_depends_on_the_order_is_learned_in_order_to_the_bit(catalog, tmp_path):
    given = columns(catalog)
    for make in (
        lambda: cc.ClubCascade(n_features=D),
        lambda: cc.CohortCascade(n_features=D, forget=3),
        lambda: cc.MultipleLinUCB(n_features=D, discounts=[1.0, 0.5]),
    ):
        made = learn_log(make(), write(tmp_path, given), catalog)
        plain = in_order(make(), catalog, given).state()
        for name, value in made.state().items():
            np.testing.assert_array_equal(value, plain[name], err_msg=name)


def test_a_policy_that_has_learned_goes_on_in_order(catalog, tmp_path):
    given = columns(catalog)
    write(tmp_path, given)
    policies = [cc.MultipleLinUCB(n_features=D) for _ in range(2)]
    for policy in policies:
        policy.update("u1", catalog[[3, 4]], 1)
    made, plain = learn_log(policies[0], tmp_path, catalog), in_order(policies[1], catalog, given)
    assert made.statistics("u1")[2] == plain.statistics("u1")[2]


def test_cohorts_are_found(tmp_path):
    world = cc.environments.Synthetic(
        n_users=40, n_clusters=2, n_items=60, n_features=4, items="fixed", seed=5
    )
    rng, lists = np.random.default_rng(0), []
    catalog = world.next_user()[1]
    for _ in range(8000):
        user, _ = world.next_user()
        rows = rng.permutation(60)[:4]
        click = world.respond(user, rows).clicks
        lists.append((user, rows.tolist(), click[0] if click else None))
    user, shown, click = (list(each) for each in zip(*lists, strict=True))
    write(tmp_path, {"user": user, "shown": shown, "click": click})
    made = learn_log(cc.CohortCascade(n_features=4, seed=1), tmp_path, catalog)
    truth = world.partition[[int(each) for each in made.users]]
    found = made.labels()
    together = truth[:, None] == truth[None, :]
    assert ((found[:, None] == found[None, :]) == together).mean() > 0.95


def test_clicks_by_place_by_id_and_with_examined_are_one_thing(catalog, tmp_path):
    given = columns(catalog)
    places = [[] if click is None else [click] for click in given["click"]]
    ids = [[shown[at] for at in place] for shown, place in zip(given["shown"], places, strict=True)]
    seen = [
        len(s) if c is None else c + 1 for s, c in zip(given["shown"], given["click"], strict=True)
    ]
    base = {"user": given["user"], "shown": given["shown"]}
    forms = {
        "click": base | {"click": given["click"]},
        "clicks": base | {"clicks": pa.array(places, pa.list_(pa.int32()))},
        "clicked": base | {"clicked": pa.array(ids, pa.list_(pa.string()))},
        "export": {
            "user": given["user"], "items": given["shown"], "examined": seen,
            "clicks": pa.array(places, pa.list_(pa.int32())), "outcome": ["applied"] * len(seen),
        },
    }  # fmt: skip
    states = []
    for name, form in forms.items():
        (tmp_path / name).mkdir()
        policy = cc.MultipleLinUCB(n_features=D)
        states.append(learn_log(policy, write(tmp_path / name, form), catalog).state())
    for state in states[1:]:
        for name, value in state.items():
            np.testing.assert_array_equal(value, states[0][name])


def test_vectors_of_the_log_serve_without_a_catalogue_and_late_answers_teach_nothing(
    catalog, tmp_path
):
    given = columns(catalog)
    vectors = [[catalog.features[catalog.index(i)].tolist() for i in s] for s in given["shown"]]
    outcome = ["late" if n % 7 == 0 else "applied" for n in range(len(vectors))]
    write(tmp_path, given, features=vectors, outcome=outcome)
    made = learn_log(cc.MultipleLinUCB(n_features=D), tmp_path)
    kept = {name: [v for n, v in enumerate(values) if n % 7] for name, values in given.items()}
    plain = in_order(cc.MultipleLinUCB(n_features=D), catalog, kept)
    for user in set(kept["user"]):
        np.testing.assert_allclose(made.statistics(user)[0], plain.statistics(user)[0], atol=1e-12)


class Stop(Exception):
    """The process dies."""


@pytest.mark.parametrize("kind", [cc.CohortCascade, cc.ClubCascade])
def test_a_killed_run_goes_on_from_its_checkpoint(kind, catalog, tmp_path):
    write(tmp_path, columns(catalog))
    whole = learn_log(kind(n_features=D), tmp_path, catalog, tail=0.7)

    def die(what, done, total):
        if what == "learning in order" and done >= 300:
            raise Stop

    folder = tmp_path / "checkpoint"
    with pytest.raises(Stop):
        learn_log(kind(n_features=D), tmp_path, catalog, tail=0.7, checkpoint=folder, progress=die)
    assert 0 < json.loads((folder / "at.json").read_text())["done"] < 400
    again = learn_log(kind(n_features=D), tmp_path, catalog, tail=0.7, checkpoint=folder)
    for name, value in again.state().items():
        np.testing.assert_array_equal(value, whole.state()[name], err_msg=name)
    assert not list(folder.iterdir())


def test_a_checkpoint_of_another_log_is_refused(catalog, tmp_path):
    write(tmp_path, columns(catalog))
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "at.json").write_text('{"model": "1.cc", "done": 1, "log": {}}')
    with pytest.raises(InvalidArgument, match="checkpoint must be one of this log"):
        learn_log(cc.C3UCB(n_features=D), tmp_path, catalog, checkpoint=tmp_path / "c")


def test_a_bad_row_changes_nothing(catalog, tmp_path):
    given = columns(catalog)
    given["shown"][390] = ["i0", "nobody knows me"]
    write(tmp_path, given)
    for policy in (cc.CohortCascade(n_features=D), cc.MultipleLinUCB(n_features=D)):
        with pytest.raises(InvalidData, match="items of the catalogue, got 'nobody knows me'"):
            learn_log(policy, tmp_path, catalog, tail=0)
        assert not policy.users
        policy.update("u1", catalog[[0, 1]], 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"user": None}, "must have a column 'user'"),
        ({"click": None}, "must have a column 'click' or 'clicks' or 'clicked'"),
        ({"click": [7] * 400}, "must have clicks on shown items in 'click'"),
        ({"examined": [9] * 400}, "must have 'examined' from the last click to the end"),
        ({"examined": [0] * 400, "click": [None] * 400}, "must have 'examined' from the last"),
        ({"user": [None] * 400}, "must have a value in column 'user'"),
    ],
)
def test_bad_logs_are_refused_in_a_sentence(change, message, catalog, tmp_path):
    given = {k: v for k, v in (columns(catalog) | change).items() if v is not None}
    write(tmp_path, given)
    with pytest.raises(InvalidData, match=message):
        learn_log(cc.C3UCB(n_features=D), tmp_path, catalog)


def test_no_parquet_no_catalogue(catalog, tmp_path):
    (tmp_path / "x.parquet").write_text("no")
    with pytest.raises(InvalidData, match="log must be Parquet files"):
        ListDataset(tmp_path, catalog)
    (tmp_path / "x.parquet").unlink()
    write(tmp_path, columns(catalog))
    with pytest.raises(InvalidArgument, match="catalog must be given"):
        ListDataset(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidData, match=r"must have files \*\.parquet"):
        ListDataset(tmp_path / "empty", catalog)
