"""TopRank against the algorithm of its paper, with the random numbers handed over."""

from __future__ import annotations

from collections import Counter
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clubcascade as cc
from clubcascade.core.state import same
from clubcascade.kernels import counter_rng
from clubcascade.learners.seeds import key_of
from clubcascade.policies import top_rank
from tests.reference.problems import examples, play, problems
from tests.reference.top_rank import TopRank


def uniforms(policy, k):
    """The random numbers that the next call of ``recommend`` will use."""
    key, draws = key_of(policy.seed, "draws"), policy.state()["draws"][0]
    return [counter_rng.uniform(key, draws, place) for place in range(k)]


def catalog_of(ids):
    return cc.Catalog(np.zeros((len(ids), 1)), ids=list(ids))


def blocks(policy, catalog):
    return [{catalog.ids[row] for row in block} for block in policy.blocks(catalog)]


def told_apart(blocks_of_ids, delta=0.1, seed=0):
    """A policy that has found each item of a block better than each one of the later blocks."""
    policy = cc.TopRank(delta=delta, seed=seed)
    ids = [i for block in blocks_of_ids for i in block]
    of = np.repeat(np.arange(len(blocks_of_ids)), [len(block) for block in blocks_of_ids])
    clicked = np.where(of[:, None] < of[None, :], 50, 0).astype(np.int32)
    policy.load_state({"users": [], "items": ids, "clicked": clicked, "draws": np.array([0])})
    return policy


@examples(80)
@given(problems(most_rounds=40, only_catalogs=True, one_catalog=True), st.floats(0.2, 1.0))
def test_agrees_with_the_paper(problem, delta):
    policy, reference = cc.TopRank(delta=delta, seed=problem.seed % 100), TopRank(delta)
    items = range(len(problem.catalogs[0]))

    def after(step):
        assert blocks(policy, step.catalog) == reference.blocks(items)

    play(
        problem,
        policy,
        bounds=lambda step: reference.rank(items, step.k, uniforms(policy, step.k)),
        update=lambda step, rows, ranking, examined, clicks: reference.update(
            items, [ranking[p] for p in clicks]
        ),
        after=after,
        capped=False,
        check=lambda step, expected, ranking: np.testing.assert_array_equal(ranking, expected),
    )


@pytest.mark.parametrize("several", [False, True], ids=["cascade", "several clicks"])
@pytest.mark.parametrize("k", [1, 4])
def test_long_run_agrees(k, several):
    """Until the best items are told apart: lists and blocks, round by round; G has no circle."""
    rng = np.random.default_rng(k)
    probability = np.array([0.1, 0.8, 0.05, 0.5, 0.3, 0.15, 0.05])
    items, catalog = range(7), catalog_of(range(7))
    policy, reference = cc.TopRank(delta=0.5, seed=k), TopRank(0.5)
    for _ in range(900):
        expected = reference.rank(items, k, uniforms(policy, k))
        ranking = policy.recommend("alice", catalog, k)
        np.testing.assert_array_equal(ranking, expected)
        liked = np.flatnonzero(rng.random(k) < probability[ranking])
        clicks = liked if several else liked[:1]
        examined = int(clicks[-1]) + 1 if clicks.size else k
        feedback = cc.Feedback(examined=examined, clicks=tuple(map(int, clicks)))
        policy.update("alice", catalog[ranking], feedback)
        reference.update(items, ranking[clicks])
        assert blocks(policy, catalog) == reference.blocks(items)
    assert len(reference.G) > 4 and policy.blocks(catalog)[0].tolist() == [1]
    assert {(j, i) for i, j in np.argwhere(policy._learner.better).tolist()} == reference.G


def test_catalogues_that_overlap():
    """Items are known by their ids, and blocks are those of the catalogue that is asked."""
    rng = np.random.default_rng(2)
    catalogs = [catalog_of(ids) for ids in ("abcd", "cdefgh", "hgaxyzuvw")]
    policy, reference = cc.TopRank(delta=1.0, seed=4), TopRank(1.0)
    for turn in range(800):
        catalog = catalogs[turn // 40 % 3]
        expected = reference.rank(catalog.ids, 3, uniforms(policy, 3))
        ranking = policy.recommend("alice", catalog, 3)
        assert [catalog.ids[row] for row in ranking] == expected
        liked = [p for p in range(3) if rng.random() < 0.9 - ord(expected[p]) % 7 / 8]
        policy.update("alice", catalog[ranking], liked[0] if liked else None)
        reference.update(catalog.ids, [expected[p] for p in liked[:1]])
        for each in catalogs:
            assert blocks(policy, each) == reference.blocks(each.ids)
    assert max(len(policy.blocks(each)) for each in catalogs) > 2


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("click", [cc.click.Cascade(), cc.click.DCM([0.5])], ids=["one", "several"])
def test_blocks_are_a_partition_and_the_relation_has_no_circle(seed, click):
    """In simulated runs: each related pair lies in two blocks, the better one first."""
    env = cc.environments.Synthetic(
        n_users=5, n_clusters=1, n_items=40, n_features=4, click=click, seed=seed
    )
    policy = cc.TopRank(delta=0.1, seed=seed)
    cc.simulate(policy, env, rounds=30_000, k=4, seed=seed)
    found = policy.blocks(env.catalog)
    assert sorted(np.concatenate(found).tolist()) == list(range(40))
    of = np.empty(40, int)
    for number, rows in enumerate(found):
        of[rows] = number
    better = np.argwhere(policy._learner.better[:40, :40])
    assert len(better) > 30 and len(found) > 2
    assert all(of[i] < of[j] for i, j in better)


def test_a_circle_of_comparisons_still_gives_blocks():
    policy = cc.TopRank(delta=0.1)
    clicked = np.zeros((4, 4), np.int32)
    clicked[[0, 1, 2], [1, 2, 0]] = 50  # rock, scissors, paper; item 3 with none
    state = {"users": [], "items": list("abcd"), "clicked": clicked, "draws": np.array([0])}
    policy.load_state(state)
    assert blocks(policy, catalog_of("abcd")) == [{"d"}, {"a"}, {"b"}, {"c"}]
    assert sorted(policy.recommend("alice", catalog_of("abcd"), 4).tolist()) == [0, 1, 2, 3]


def test_orders_in_a_block_are_uniform():
    """Over seeds, and over the lists of one seed: 24 orders, 100 of each expected, deviation 10."""
    catalog, allowed = catalog_of("cdbea"), set()
    for first, second in product(permutations((1, 3)), permutations((0, 2, 4))):
        allowed.add((*first, *second))
    policy = told_apart(["de", "cba"], seed=1)
    lists = [policy.recommend("alice", catalog, 5) for _ in range(1200)]
    assert_uniform(lists, allowed)
    short = [policy.recommend("alice", catalog, 3) for _ in range(600)]
    assert_uniform(short, {order[:3] for order in allowed})
    state = policy.state()
    by_seed = []
    for seed in range(1200):
        other = cc.TopRank(delta=0.1, seed=seed)
        other.load_state(state)
        by_seed.append(other.recommend("alice", catalog, 5))
    assert_uniform(by_seed, allowed)


def assert_uniform(lists, allowed):
    counts = Counter(tuple(each.tolist()) for each in lists)
    assert set(counts) == allowed
    mean = len(lists) / len(allowed)
    chi2 = sum((count - mean) ** 2 / mean for count in counts.values())
    assert chi2 < 32  # 11 degrees of freedom at most: exceeded once in a thousand


def test_what_is_not_clicked_counts_alike_wherever_it_was():
    """Examined, after the click, or not shown: no click model is needed."""
    catalog = catalog_of("abcd")
    policy = cc.TopRank()
    policy.update("alice", catalog[[3, 1, 2]], click=1)
    assert policy.state()["clicked"].tolist() == [[0] * 4, [1, 0, 1, 1], [0] * 4, [0] * 4]


def test_too_many_items_are_refused_and_change_nothing(monkeypatch):
    monkeypatch.setattr(top_rank, "MOST_ITEMS", 5)
    policy = cc.TopRank()
    policy.update("alice", catalog_of("abc")[[0, 1]], 0)
    policy.update("alice", catalog_of("cde")[[0, 1]], 0)
    before = policy.state()
    for items in (catalog_of("abcdef"), catalog_of("xy")):
        for call in (
            lambda items=items: policy.recommend("bob", items, 1),
            lambda items=items: policy.update("bob", items[[0]], 0),
            lambda items=items: policy.update_many(["bob"], items[[[0]]], [0]),
        ):
            with pytest.raises(cc.errors.InvalidItems, match=r"at most 5 .* got [67]"):
                call()
            assert same(before, policy.state())
    policy.update("bob", catalog_of("edcba")[[0, 1]], 0)


def test_only_catalogues():
    with pytest.raises(cc.errors.InvalidItems, match="Catalog for TopRank"):
        cc.TopRank().recommend("alice", np.eye(2), 1)


@pytest.mark.parametrize("delta", [0.0, 1.5, float("nan"), "1"])
def test_bad_delta(delta):
    with pytest.raises(cc.errors.InvalidArgument, match="delta must be a number"):
        cc.TopRank(delta=delta)
