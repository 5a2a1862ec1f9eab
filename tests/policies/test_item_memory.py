"""Memory of items: against its own words around a linear policy, and what everybody relies on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clubcascade as cc
from clubcascade.core.state import same
from clubcascade.kernels import item_memory
from clubcascade.kernels.jit import INTERPRETED
from tests.reference.item_memory import ItemMemory
from tests.reference.multiple_lin_ucb import MultipleLinUCB
from tests.reference.problems import assert_near, busy_problem, examples, play, vectors

BETA = 0.4


class Twin:
    """One model per user with memory, and the same word for word."""

    def __init__(self, problem, share, size):
        self.policy = cc.ItemMemory(cc.MultipleLinUCB(n_features=problem.d, beta=BETA), size=size)
        self.memory = ItemMemory(size)
        self.models = MultipleLinUCB(problem.d, BETA, self.policy.policy.reg)
        self.memory.errors[:] = 9 + 2 * np.abs(item_memory.SHARES - share)
        self.memory.evaluated, self.memory.share = 60.0, share
        self.shares = set()
        state = self.policy.state()
        state["memory_error"][:] = [*self.memory.errors, self.memory.evaluated]
        state["memory_share"][0] = share
        self.policy.load_state(state)

    def bounds(self, step):
        """Scores of all items: an item beyond those looked at counts as the last of them."""
        scores = self.models.bounds(step.user, step.items)
        met = self.memory.recalled(step.user, step.items)
        found = np.sort(scores)[::-1][: step.k + len(met)]
        for row, record in met.items():
            scores[row] = self.memory.blended(record, max(scores[row], found[-1]))
        return scores

    def update(self, step, rows, ranking, examined, clicks):
        y = np.array([float(p in clicks) for p in range(examined)])
        X = np.array(rows[:examined], dtype=float)
        expected = X @ self.models.theta(step.user)
        X, y = self.memory.learn(step.user, X, y, expected)
        S, b, T = self.models.model(step.user)
        self.models.S[step.user], self.models.b[step.user] = S + X.T @ X, b + X.T @ y
        self.models.T[step.user] = T + len(y)

    def after(self, step):
        state = self.policy.state()
        assert state["memory_share"].tolist() == [self.memory.share]
        self.shares.add(self.memory.share)
        errors = [*self.memory.errors, self.memory.evaluated]
        assert_near(state["memory_error"], errors, "errors of shares")
        weights = self.policy.user_weights(step.user)
        assert_near(weights, self.models.theta(step.user), "weights")


def test_agrees_with_its_own_words_around_linear_models():
    @examples(60)
    @given(
        st.integers(0, 2**32 - 1),
        st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0]),
        st.sampled_from([12, 30]),
    )
    def story(seed, share, size):
        problem = busy_problem(seed, n_rounds=60)
        twin = Twin(problem, share, size)
        play(problem, twin.policy, twin.bounds, twin.update, twin.after, capped=False)
        seen["changes"] += len(twin.shares) > 1

    seen = {"changes": 0}
    story()
    assert seen["changes"] > 0


def likes(seed, n_users=30, n_items=60, d=5):
    """Users who like an item or do not, for good; features say a little about it."""
    rng = np.random.default_rng(seed)
    items = vectors(rng, n_items, d)
    chance = 0.25 + 0.5 * items @ rng.standard_normal((d, n_users)) / np.sqrt(d)
    return (rng.random((n_items, n_users)) < chance).T.astype(float), items


def test_the_share_is_measured():
    liked, items = likes(1)
    for table, low, high in ((liked, 0.9, 1.0), (0.02 + 0.7 * liked, 0.2, 0.9)):
        policy = cc.ItemMemory(cc.MultipleLinUCB(n_features=5, beta=0.1))
        cc.simulate(policy, cc.environments.Matrix(table, items), rounds=3000, k=4, seed=1)
        assert low <= policy.share <= high


@pytest.mark.compiled
def test_where_clicks_are_drawn_anew_nothing_changes():
    sizes = {"n_users": 10, "n_clusters": 2, "n_items": 40, "n_features": 5}
    env = cc.environments.Synthetic(**sizes, seed=3)
    policies = [cc.CohortCascade(n_features=5, memory=size) for size in (0, 64)]
    traces = [cc.simulate(policy, env, rounds=4000, k=4, seed=2) for policy in policies]
    assert policies[1].compiled.share == 0.0
    assert np.array_equal(traces[0].regret, traces[1].regret)


@pytest.mark.compiled
@pytest.mark.parametrize("make", [cc.CohortCascade, cc.MultipleLinUCB])
def test_it_pays_where_users_keep_their_mind(make):
    missed = {}
    for remembers in (False, True):
        total = 0.0
        for seed in range(4):
            liked, items = likes(seed)
            if make is cc.CohortCascade:
                policy = make(n_features=5, memory=64 if remembers else 0)
            else:
                policy = make(n_features=5, beta=0.1)
                policy = cc.ItemMemory(policy) if remembers else policy
            env = cc.environments.Matrix(liked, items)
            total += cc.simulate(policy, env, rounds=3000, k=3, seed=seed).regret[-1]
        missed[remembers] = total
    assert missed[True] < 0.8 * missed[False], missed


PROTOCOL = [cc.C3UCB, cc.CascadeLinTS, cc.ClubCascade, cc.HierTS]  # they play with it there
KINDS = [cc.CascadeUCB1, cc.C3UCBGLM, cc.ClubCascadeGLM, cc.MultipleGLM, cc.CascadeWOFUL, cc.SCLUB]
KINDS += [cc.UniCLUB, *PROTOCOL]


@pytest.mark.parametrize("kind", KINDS if INTERPRETED else [cc.Random, *PROTOCOL])
def test_other_policies_can_wear_it(kind):
    liked, items = likes(2, n_users=8, n_items=20, d=3)
    env = cc.environments.Matrix(liked, items)
    policy = cc.ItemMemory(next(iter(kind.examples())), size=8)
    cc.simulate(policy, env, rounds=200, k=3, seed=1)
    assert policy.share > 0.5
    again = policy.fresh()
    again.load_state(policy.state())
    for user in (0, 1, "new"):
        lists = [one.recommend(user, env.catalog, 4).tolist() for one in (policy, again)]
        assert lists[0] == lists[1]
        assert len(set(lists[0])) == 4


def test_the_oldest_item_is_forgotten():
    policy = cc.ItemMemory(cc.MultipleLinUCB(n_features=2), size=2)
    items = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    for row in (0, 1, 0, 2):
        policy.update("alice", items[[row]], click=None)
    state = policy.state()
    assert sorted(state["memory_shown"][0].tolist()) == [1, 2]
    keys = {int(key_of(items, row)) for row in (0, 2)}
    assert set(state["memory_key"][0].tolist()) == keys


def key_of(items, row):
    return np.uint64(item_memory.item_key(items, row))


@examples(100)
@given(st.integers(1, 200), st.integers(0, 2**32 - 1))
def test_places_are_found_by_key(n, seed):
    rng = np.random.default_rng(seed)
    items = np.round(rng.standard_normal((n, 2)), 1)  # many equal ones, and both zeros
    table = item_memory.keyed(0, items, np.arange(n))
    for row in np.flatnonzero(items.any(axis=1)):
        equal = [other for other in range(n) if (items[other] == items[row]).all()]
        assert item_memory.place_of(table, key_of(items, row)) == equal[0]
    assert item_memory.place_of(table, key_of(np.full((1, 2), 9.9), 0)) == -1


def test_many_equal_items_take_no_longer():
    catalog = cc.Catalog(np.zeros((100_000, 2)))
    policy = cc.CohortCascade(n_features=2)
    policy.update("alice", catalog[[5]], click=0)
    policy.recommend("alice", catalog, 3)  # a search among equals would take minutes


@pytest.mark.parametrize(
    "inside",
    [
        cc.CohortCascade(n_features=2),
        cc.ItemMemory(cc.Random()),
        cc.TopRank(),
        cc.AlphaSchedule(cc.ClubCascade(n_features=2), steps=[(10, 1.0)]),
    ],
)
def test_a_policy_that_cannot_wear_it_is_refused(inside):
    with pytest.raises(cc.errors.InvalidArgument, match="policy must"):
        cc.ItemMemory(inside)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("key", lambda key: key.astype(float)),
        ("key", lambda key: np.pad(key, [(0, 0), (3, 0)])),  # empty slots first, and too many
        ("key", lambda key: key[:, :-1]),
        ("key", lambda key: np.full_like(key, 7)),
        ("shown", lambda shown: 0 * shown),
        ("shown", lambda shown: shown + (2**31 - 10)),
        ("shown", lambda shown: shown.astype(np.int64) + 2**33),
        ("clicked", lambda clicked: clicked + 7),
        ("clicked", lambda clicked: clicked - 7),
        ("last", lambda last: last + 7),
        ("lists", lambda lists: lists[:0]),
        ("error", lambda error: error - 1),
        ("share", lambda share: share + 0.3),
        ("share", lambda share: share + 0.5),  # without evidence
        ("tally", lambda tally: tally - 10),
    ],
)
def test_a_broken_state_is_refused(name, change):
    policy = cc.ItemMemory(cc.MultipleLinUCB(n_features=2), size=4)
    for _ in range(3):
        policy.update("alice", np.eye(2), click=1)
    before, state = policy.state(), policy.state()
    state[f"memory_{name}"] = change(state[f"memory_{name}"])
    with pytest.raises(cc.errors.ModelFileError, match=f"memory_(shown|{name})"):
        policy.load_state(state)
    assert same(policy.state(), before)


def test_the_policy_inside_is_a_copy_and_may_be_used_by_itself():
    mine = cc.MultipleLinUCB(n_features=2)
    mine.update("alice", np.eye(2), click=0)
    policies = [cc.ItemMemory(mine) for _ in range(2)]
    for policy in policies:
        for user in range(50):
            policy.policy.update(user, np.eye(2), click=0)
        policy.update("bob", np.eye(2), click=1)
        assert len(policy.users) == len(policy.state()["memory_lists"]) == 52
    assert mine.users == ["alice"]


def test_the_policy_inside_may_load_a_state_by_itself():
    policy = cc.ItemMemory(cc.MultipleLinUCB(n_features=2, beta=0.1), size=4)
    for user in range(30):
        for _ in range(3):
            policy.update(user, np.eye(2), click=user % 2)
    other = cc.MultipleLinUCB(n_features=2, beta=0.1)
    for user in ("new", 7, 3):
        other.update(user, np.eye(2), click=1)
    records = {user: policy._learner._arrays["key"][user].copy() for user in (3, 7)}
    policy.policy.load_state(other.state())
    assert policy.users == policy.policy.users == ["new", 7, 3]
    for number, user in enumerate(policy.users):
        np.testing.assert_array_equal(policy.user_weights(user), other.user_weights(user))
        kept = policy._learner._arrays["key"][number]
        np.testing.assert_array_equal(kept, records.get(user, np.zeros(4, np.uint64)))
    assert policy.share == 1.0 and policy.scores(3, np.eye(2)).tolist() == [0.0, 1.0]
    policy.update("newer", np.eye(2), click=1)
    assert policy.user_weights("newer").any() and policy.users[-1] == "newer"
    again = policy.fresh()
    again.load_state(policy.state())
    again.policy.load_state(other.state())
    again.update("newer", np.eye(2), click=1)
    np.testing.assert_array_equal(again.user_weights("newer"), policy.user_weights("newer"))


def test_an_item_twice_in_a_list():
    catalog = cc.Catalog(np.eye(3))
    for inside in (cc.CascadeUCB1(), cc.MultipleLinUCB(n_features=3)):
        policy = cc.ItemMemory(inside)
        policy.update("alice", catalog[[1, 1, 1]], click=None)
        assert np.isfinite(policy.state()["memory_error"]).all()
        assert policy.state()["memory_error"][-1] == 0.0  # nothing came back yet


def test_recommend_learns_nothing_of_items():
    policy, catalog = cc.ItemMemory(cc.CascadeUCB1()), cc.Catalog(np.eye(3), ids=["a", "b", "c"])
    policy.update("alice", catalog[[1]], click=0)
    other = cc.Catalog(np.eye(2), ids=["d", "e"])
    before = policy.state()
    policy.recommend("alice", other, 2)
    assert same(policy.state(), before)
    with pytest.raises(cc.errors.InvalidItems, match="Catalog"):
        policy.recommend("alice", np.eye(3), 2)


def test_scores_are_those_with_memory():
    policy, items = cc.ItemMemory(cc.MultipleLinUCB(n_features=2, beta=0.1)), np.eye(2)
    for user in range(30):
        for _ in range(3):
            policy.update(user, items, click=user % 2)
    assert policy.share == 1.0
    assert policy.scores(1, items).tolist() == [0.0, 1.0]
    assert not hasattr(cc.ItemMemory(cc.Random()), "scores")


def test_a_record_that_is_halved_stays_fair():
    policy, item = cc.ItemMemory(cc.MultipleLinUCB(n_features=2), forget=8), np.eye(2)[:1]
    for user, clicks in (("mixed", 1), ("passed", 0), ("clicked", 7)):
        for t in range(8):
            policy.update(user, item, click=0 if t < clicks else None)
    state = policy.state()
    assert state["memory_shown"][:, 0].tolist() == [4, 4, 4]  # 7 // 2, and the eighth
    assert state["memory_clicked"][:, 0].tolist() == [1, 0, 3]


def test_a_state_has_room_for_what_is_remembered_only():
    policy = cc.CohortCascade(n_features=3, users=range(100))
    assert policy.state()["memory_key"].shape == (100, 0)
    policy.update(5, np.eye(3)[:2], click=None)
    state = policy.state()
    assert state["memory_key"].shape == (100, 2)
    again = policy.fresh()
    again.load_state(state)
    assert same(again.state(), state)
