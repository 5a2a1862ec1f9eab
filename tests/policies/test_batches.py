"""Batches equal single calls exactly, catalogues change without forgetting, threads see wholes."""

import threading
import time

import numpy as np
import pytest

import clubcascade as cc
from clubcascade.checks._rounds import same
from clubcascade.policies import POLICIES, _compiled

EXAMPLES = [
    pytest.param(policy, id=f"{name}-{number}")
    for name, kind in POLICIES.items()
    for number, policy in enumerate(kind.examples())
    if hasattr(policy, "update_many")
]


def world(n_items=60, d=3, seed=1):
    rng = np.random.default_rng(seed)
    items = rng.standard_normal((n_items, d))
    items /= np.linalg.norm(items, axis=1, keepdims=True)
    return cc.Catalog(items), rng


def log(rng, catalog, n=200, k=4, users=9):
    who = [int(user) for user in rng.integers(users, size=n)]
    rankings = np.array([rng.permutation(len(catalog))[:k] for _ in range(n)])
    clicks = [None if c == k else int(c) for c in rng.integers(k + 1, size=n)]
    clicks[7] = cc.Feedback(examined=3, clicks=(0, 2))
    return who, rankings, clicks


@pytest.mark.parametrize("policy", EXAMPLES)
def test_update_many_is_many_updates(policy):
    catalog, rng = world()
    who, rankings, clicks = log(rng, catalog)
    one, many = policy.fresh(), policy.fresh()
    for user, ranking, click in zip(who, rankings, clicks, strict=True):
        one.update(user, catalog[ranking], click)
    many.update_many(who[:50], catalog[rankings[:50]], clicks[:50])
    many.update_many(who[50:], catalog[rankings[50:]], clicks[50:])
    assert same(one.state(), many.state())


@pytest.mark.parametrize("policy", EXAMPLES)
@pytest.mark.parametrize("n_items", [60, pytest.param(3000, marks=pytest.mark.compiled)])
def test_recommend_many_is_many_recommends(policy, n_items):
    catalog, rng = world(n_items)
    who, rankings, clicks = log(rng, catalog)
    policy = policy.fresh()
    policy.update_many(who, catalog[rankings], clicks)
    other = policy.fresh()
    other.load_state(policy.state())
    users = [*range(9), 3, 3, 0]
    if not isinstance(policy, cc.KnownClusters | cc.KnownClustersGLM):
        users.append("stranger")
    for k in (1, 5):
        lists = policy.recommend_many(users, catalog, k)
        singles = [other.recommend(user, catalog, k) for user in users]
        np.testing.assert_array_equal(lists, singles)
        known = [user for user in users if user != "stranger"]
        lists = policy.recommend_many(known, catalog, k)
        np.testing.assert_array_equal(lists, [other.recommend(user, catalog, k) for user in known])
    assert same(policy.state(), other.state())


def test_loose_items_in_a_batch():
    catalog, _ = world()
    policy = cc.MultipleLinUCB(n_features=3)
    policy.update("a", catalog[[0, 1]], 1)
    lists = policy.recommend_many(["a", "b"], catalog.features, 3)
    np.testing.assert_array_equal(lists[0], policy.recommend("a", catalog.features, 3))


@pytest.mark.parametrize(
    ("users", "rows", "clicks", "words"),
    [
        ([1], [[0, 1], [1, 2]], [None, 0], "one entry per event"),
        ([1, 2], [[0, 1], [1, 2]], [None], "one entry per event"),
        ([1, 2], [[0, 1], [1, 2]], [None, 2], r"click must be a whole number in \[0, 1\]"),
        ([1, []], [[0, 1], [1, 2]], [None, 0], "hashable"),
        ([1, 2], [0, 1], [None, 0], "lists x items"),
    ],
)
def test_a_bad_event_rejects_the_whole_batch(users, rows, clicks, words):
    catalog, _ = world()
    policy = cc.ClubCascade(n_features=3)
    policy.update("old", catalog[[0]], 0)
    before = policy.state()
    with pytest.raises(cc.errors.InvalidArgument, match=words):
        policy.update_many(users, catalog[np.array(rows)], clicks)
    assert same(before, policy.state())


def test_arrays_of_users_and_clicks_are_like_lists():
    catalog, rng = world()
    who, rankings, _ = log(rng, catalog)
    clicks = rng.integers(4, size=len(who))
    for kind in (np.int64, np.int32, np.uint8):
        one, other = cc.ClubCascade(n_features=3), cc.ClubCascade(n_features=3)
        one.update_many(who, catalog[rankings], clicks.tolist())
        other.update_many(np.array(who, kind), catalog[rankings], clicks.astype(kind))
        assert same(one.state(), other.state())
        assert {type(user) for user in other.users} == {int}
    before = other.state()
    for wrong in (clicks + 1.0, clicks + 1, clicks - 1, clicks > 1):
        with pytest.raises(cc.errors.InvalidFeedback, match=r"click must be a whole number in"):
            other.update_many(who, catalog[rankings], wrong)
    assert same(before, other.state())


UNIT = np.eye(3)
LIMIT = 1 + 1e-5


@pytest.mark.parametrize(
    "shown",
    [UNIT, UNIT.T * LIMIT, np.asfortranarray(UNIT[:2]), UNIT[::2], UNIT.astype(np.float32)],
)
def test_a_matrix_of_shown_items_is_read_as_it_is(shown):
    policy, twin = (cc.MultipleLinUCB(n_features=3) for _ in range(2))
    locked = shown.copy()
    locked.flags.writeable = False
    policy.update("a", shown, 1)
    twin.update("a", locked.tolist(), 1)
    assert same(policy.state(), twin.state())
    twin.update("a", locked, 1)


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (UNIT * (LIMIT + 1e-8), "norm at most 1"),
        (np.diag([1.0, np.nan, 1.0]), "finite, got nan in row 1"),
        (np.diag([1.0, 1.0, -np.inf]), "finite, got -inf in row 2"),
        (UNIT[:, :2].copy(), "shape"),
        (UNIT[:0], "at least one item"),
        (UNIT[0], "shape"),
    ],
)
def test_a_wrong_matrix_of_shown_items_is_refused(shown, words):
    policy = cc.MultipleLinUCB(n_features=3)
    with pytest.raises(cc.errors.InvalidItems, match=words):
        policy.update("a", shown, None)
    assert policy.users == []


def test_texts_as_an_array():
    catalog, _ = world()
    policy = cc.ClubCascade(n_features=3)
    policy.update_many(np.array(["ann", "bob"]), catalog[np.array([[0, 1], [1, 2]])], [0, None])
    assert policy.users == ["ann", "bob"]


def test_a_user_who_may_not_join_rejects_the_whole_batch():
    catalog, rng = world()
    who, rankings, clicks = log(rng, catalog)
    policy = cc.KnownClusters(n_features=3, partition=[set(range(9))])
    before = policy.state()
    with pytest.raises(cc.errors.UnknownUser, match="stranger"):
        policy.update_many([*who[:-1], "stranger"], catalog[rankings], clicks)
    assert same(before, policy.state())


@pytest.mark.parametrize("after", [1, 3, 6])
def test_who_waits_gets_a_turn_within_a_log(monkeypatch, after):
    """And sees what the events up to there have taught."""
    monkeypatch.setattr(_compiled, "MOST", 10)
    catalog, rng = world()
    who, rankings, clicks = log(rng, catalog)
    policy, twin = cc.MultipleLinUCB(n_features=3), cc.MultipleLinUCB(n_features=3)
    turns, seen = [], []
    learn, state = policy._learn_many, policy._learner.state

    def ask():
        policy.state()

    def turn_of_another(n_users):
        turns.append("asked")
        seen.append(state(n_users))
        return seen[-1]

    waiting = threading.Thread(target=ask)

    def turn_of_the_log(users, *rest):
        learn(users, *rest)
        turns.append(len(users))
        if len(turns) == after:
            waiting.start()
            deadline = time.monotonic() + 60
            while not policy._lock._next.locked() and time.monotonic() < deadline:
                time.sleep(0)

    monkeypatch.setattr(policy, "_learn_many", turn_of_the_log)
    monkeypatch.setattr(policy._learner, "state", turn_of_another)
    policy.update_many(who, catalog[rankings], clicks)
    waiting.join()
    assert turns.index("asked") == after and len(turns) > after + 1
    learned = sum(turns[:after])
    assert learned < len(who) == sum(turns[:after] + turns[after + 1 :])
    twin.update_many(who[:learned], catalog[rankings[:learned]], clicks[:learned])
    assert same(seen[0], twin._learner.state(len(twin.users)))


@pytest.mark.parametrize("change", ["replace", "add", "remove"])
def test_a_changed_catalogue_is_scored_like_a_new_one(change):
    catalog, rng = world(200)
    policy = cc.ClubCascade(n_features=3, alpha=0.3, beta=0.4)
    for turn in range(60):
        user = turn % 5
        ranking = policy.recommend(user, catalog, 4)
        plain = cc.Catalog(catalog.features, catalog.ids)
        twin = policy.fresh()
        twin.load_state(policy.state())
        np.testing.assert_array_equal(ranking, twin.recommend(user, plain, 4))
        click = int(rng.integers(4)) if rng.random() < 0.7 else None
        policy.update(user, catalog[ranking], click)
        if turn % 3 == 0:
            fresh = rng.standard_normal((3, 3))
            fresh /= 2 * np.linalg.norm(fresh, axis=1, keepdims=True)
            rows = rng.choice(len(catalog), 3, replace=False)
            old = catalog
            if change == "replace":
                catalog = catalog.replace(rows, fresh)
            elif change == "add":
                catalog = catalog.add(fresh)
            else:
                catalog = catalog.remove(rows)
            assert old is not catalog


def test_a_changed_catalogue_does_not_recompute_the_rest():
    catalog, _ = world(500)
    policy = cc.C3UCB(n_features=3, beta=0.1)
    policy.recommend("a", catalog, 4)
    changed = catalog.replace([5], [[0.0, 0.0, 0.1]])
    policy.recommend("a", changed, 4)
    cache, before = policy._learner._indexes.cache(changed), policy._learner._indexes.cache(catalog)
    kept = np.delete(np.arange(500), 5)
    np.testing.assert_array_equal(cache.width[0, kept], before.width[0, kept])
    assert cache.owner[0] == 0  # the slot was taken over, not filled anew


def test_bad_changes_of_a_catalogue():
    catalog = cc.Catalog(np.eye(3), ids="abc")
    with pytest.raises(cc.errors.InvalidItems, match="2 rows"):
        catalog.replace([0, 1], np.eye(3)[:1])
    with pytest.raises(cc.errors.InvalidArgument, match="ids"):
        catalog.add(np.eye(3)[:1])
    with pytest.raises(cc.errors.InvalidArgument, match="distinct"):
        catalog.add(np.eye(3)[:1], ids=["a"])
    with pytest.raises(cc.errors.InvalidItems, match="at least one"):
        catalog.remove([0, 1, 2])
    with pytest.raises(cc.errors.InvalidItems, match="norm"):
        catalog.replace([0], [[2.0, 0.0, 0.0]])


@pytest.mark.parametrize("policy", EXAMPLES)
def test_threads_never_see_half_an_update(policy):
    """One thread learns, others ask: every list is that of some moment between two updates."""
    catalog, rng = world(80)
    who, rankings, clicks = log(rng, catalog, n=120)
    live = policy.fresh()
    possible: set[tuple[int, ...]] = set()
    replay = policy.fresh()
    deterministic = "draws" not in live.state() or not live.state()["draws"].any()
    for user, ranking, click in zip(who, rankings, clicks, strict=True):
        possible.add(tuple(replay.recommend(0, catalog, 4).tolist()))
        replay.update(user, catalog[ranking], click)
    possible.add(tuple(replay.recommend(0, catalog, 4).tolist()))
    seen: list[tuple[int, ...]] = []
    failures: list[BaseException] = []
    done = threading.Event()

    def ask():
        try:
            while not done.is_set():
                seen.append(tuple(live.recommend(0, catalog, 4).tolist()))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for user, ranking, click in zip(who, rankings, clicks, strict=True):
        live.update(user, catalog[ranking], click)
    done.set()
    for thread in threads:
        thread.join()
    assert not failures
    assert seen
    if deterministic and replay.state().get("draws", np.zeros(1)).max() == 0:
        assert set(seen) <= possible
        assert same(live.state(), replay.state())


def test_threads_that_bring_the_same_newcomer():
    catalog, _ = world()
    for _ in range(30):
        policy = cc.ClubCascade(n_features=3, users=range(5))
        barrier = threading.Barrier(4)

        def learn(policy=policy, barrier=barrier):
            barrier.wait()
            policy.update("new", catalog[[0, 1, 2]], 2)

        threads = [threading.Thread(target=learn) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert policy.users == [0, 1, 2, 3, 4, "new"]
        assert policy.statistics("new")[2] == 12
