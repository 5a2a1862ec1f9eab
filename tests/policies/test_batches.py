"""Batches equal single calls exactly, catalogues change without forgetting, threads see wholes."""

import threading

import numpy as np
import pytest

import clubcascade as cc
from clubcascade.checks._rounds import same
from clubcascade.policies import POLICIES

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
