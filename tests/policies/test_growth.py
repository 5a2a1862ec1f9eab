"""Many known users, few seen, and newcomers: memory follows those seen, and nothing is lost."""

from __future__ import annotations

import numpy as np
import pytest

from clubcascade import Catalog, ClubCascade, CohortCascade, HierTS, ItemMemory, MultipleLinUCB
from clubcascade.core import paged_arrays
from clubcascade.errors import NotEnoughMemory
from clubcascade.kernels.jit import INTERPRETED
from tests.memory import resident

KNOWN, D = 500_000, 20
ITEMS = np.random.default_rng(3).normal(size=(12, D))
CATALOG = Catalog(ITEMS / np.linalg.norm(ITEMS, axis=1, keepdims=True))
mapped = pytest.mark.skipif(not paged_arrays._has_addresses(), reason="addresses are not free here")


def club(users):
    return ClubCascade(
        n_features=D, users=users, start="random", edge_probability=4 / KNOWN, alpha=0.2, seed=1
    )


def play(policy, users):
    lists = []
    for t, user in enumerate(users):
        lists.append(policy.recommend(user, CATALOG, 3))
        policy.update(user, CATALOG[lists[-1]], click=None if t % 4 == 3 else t % 3)
    return np.array(lists)


@mapped
@pytest.mark.parametrize(
    "make",
    [
        lambda users: CohortCascade(n_features=D, users=users, seed=1),
        lambda users: HierTS(n_features=D, users=users, seed=1),
        pytest.param(club, marks=pytest.mark.skipif(INTERPRETED, reason="the graph takes long")),
    ],
)
def test_memory_follows_the_users_seen(make):
    play(make(range(9)), range(12))  # compiled
    policy = make(range(KNOWN))
    play(policy, range(0, KNOWN, KNOWN // 20))
    before = resident()
    play(policy, range(KNOWN, KNOWN + 40))
    assert resident() - before < 2**25  # one Gram matrix of each user would take 1.5 GiB
    state = policy.state()
    assert len(state["users"]) == KNOWN + 40
    assert resident() - before < 2**28
    assert policy.user_weights(KNOWN + 38).any() and policy.user_weights(0).any()


@pytest.mark.parametrize(
    "make",
    [
        lambda: CohortCascade(n_features=D, users=range(30), forget=2, seed=1),
        lambda: ClubCascade(n_features=D, users=range(30), alpha=0.2),
        lambda: ClubCascade(
            n_features=D, alpha=0.2, start="random", edge_probability=0.1, users=range(30)
        ),
        lambda: HierTS(n_features=D, seed=1),
        lambda: ItemMemory(MultipleLinUCB(n_features=D), size=3),
    ],
)
def test_growth_in_place_is_growth_by_copies(make, monkeypatch):
    users = np.random.default_rng(5).integers(90, size=150).tolist()
    copied, in_place = make(), None
    lists = play(copied, users)
    monkeypatch.setattr(paged_arrays, "MAPPED", 1)
    in_place = make()
    np.testing.assert_array_equal(play(in_place, users), lists)
    found = in_place.state()
    for name, value in copied.state().items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


@pytest.mark.parametrize(
    "make",
    [
        lambda users: CohortCascade(n_features=D, users=users, seed=1),
        lambda users: ClubCascade(n_features=D, users=users),
        lambda users: ItemMemory(MultipleLinUCB(n_features=D), size=3),
        lambda users: HierTS(n_features=D, users=users, seed=1),
    ],
)
def test_a_newcomer_for_whom_there_is_no_room_changes_nothing(make, monkeypatch):
    policy = make(range(7))
    play(policy, [0, 1, 2, 3, 4, 5, 6])
    before = policy.state()

    def refuse(size, grows):
        raise MemoryError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(paged_arrays, "_room", refuse)
        joined = []
        with pytest.raises(NotEnoughMemory, match="users must fit into memory, got"):
            for user in range(7, 50):
                policy.update(user, CATALOG[[0, 1]], click=None)
                joined.append(user)
    after = policy.state()
    assert list(after["users"]) == [*before["users"], *joined]
    again = make(range(7))
    again.load_state(before)
    for user in (*joined, 50, 51):
        again.update(user, CATALOG[[0, 1]], click=None)
    for user in (50, 51):
        policy.update(user, CATALOG[[0, 1]], click=None)
    found = policy.state()
    for name, value in again.state().items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)
