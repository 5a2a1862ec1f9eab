"""The paper's preparation of ratings: against a literal one, and what holds for every draw."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import clubcascade as cc
from clubcascade.environments import Pool
from clubcascade.environments.features import item_features
from tests.reference.pool import prepare
from tests.reference.problems import examples

SIZES = {"n_users": 12, "n_items": 25, "n_features": 6, "pool": 40, "history": 15, "seed": 4}


def some_clicks(seed=1, users=70, items=60, density=0.15):
    return np.random.default_rng(seed).random((users, items)) < density


@pytest.mark.parametrize("rule", ["all", "most", "random"])
@pytest.mark.parametrize("scaling", ["largest", "unit"])
@pytest.mark.parametrize("history", [5, 15, 30])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.coo_array, np.float64])
def test_it_is_the_printed_preparation(rule, scaling, history, form):
    clicks = some_clicks()
    settings = SIZES | {"history": history, "n_users": 9}
    env = Pool(form(clicks), rule=rule, scaling=scaling, **settings)
    past, playing, shown, F, X, sigma = prepare(
        clicks,
        n_users=9,
        n_items=25,
        d=6,
        rule=rule,
        pool=40,
        history=history,
        scaling=scaling,
        seed=4,
    )
    assert env.history_rows.tolist() == past
    assert env.rows.tolist() == playing
    assert env.columns.tolist() == shown
    assert np.array_equal(env.attraction, F)
    ours = env.catalog.features
    assert np.diff(sigma[:7]).max() < -1e-4 or history == 5  # the vectors are determined
    for j in range(6):  # up to the sign of each
        assert min(abs(ours[:, j] - X[:, j]).max(), abs(ours[:, j] + X[:, j]).max()) < 1e-7


def test_the_paper_own_sizes():
    clicks = some_clicks(users=1000, items=1000, density=0.05)
    env = Pool(clicks, n_users=900, n_items=1000, seed=1)
    assert (env.n_users, env.n_items, env.n_features) == (900, 1000, 20)
    assert len(env.history_rows) == 100


@examples(60)
@given(
    seed=st.integers(0, 2**40),
    density=st.sampled_from([0.0, 0.01, 0.05, 0.3, 1.0]),
    rule=st.sampled_from(["all", "most", "random"]),
    scaling=st.sampled_from(["largest", "unit"]),
    n_features=st.integers(1, 30),
)
def test_what_holds_for_every_draw(seed, density, rule, scaling, n_features):
    clicks = some_clicks(seed=seed % 100, users=30, items=25, density=density)
    sizes = {"n_users": 8, "n_items": 12, "n_features": n_features, "pool": 20, "history": 7}
    env = Pool(clicks, rule=rule, scaling=scaling, seed=seed, **sizes)
    again = Pool(sparse.csr_array(clicks), rule=rule, scaling=scaling, seed=seed, **sizes)
    assert env.catalog.features.tobytes() == again.catalog.features.tobytes()
    assert np.array_equal(env.attraction, again.attraction)
    assert not set(env.rows) & set(env.history_rows)
    assert len(set(env.rows)) == 8 and len(set(env.columns)) == 12
    assert np.array_equal(env.attraction, clicks[np.ix_(env.rows, env.columns)])
    norms = np.linalg.norm(env.catalog.features, axis=1)
    assert norms.max() <= 1 + 1e-12
    unseen = ~clicks[np.ix_(env.history_rows, env.columns)].any(axis=0)
    assert (norms[unseen] == 0).all()
    if scaling == "unit":
        assert np.isin(norms.round(9), [0.0, 1.0]).all()
    if n_features > 7:  # the rank of the history is at most 7
        assert not env.catalog.features[:, 7:].any()


def test_another_seed_is_another_draw():
    clicks = some_clicks()
    first, second = (Pool(clicks, rule="random", **SIZES | {"seed": seed}) for seed in (1, 2))
    assert first.columns.tolist() != second.columns.tolist()
    assert first.rows.tolist() != second.rows.tolist()
    assert first.history_rows.tolist() != second.history_rows.tolist()


def test_the_same_history_for_every_number_of_users_and_items():
    clicks = some_clicks()
    small = Pool(clicks, rule="most", **SIZES)
    large = Pool(clicks, rule="most", **SIZES | {"n_users": 25, "n_items": 40})
    assert small.history_rows.tolist() == large.history_rows.tolist()
    where = np.searchsorted(large.columns, small.columns)
    assert np.array_equal(small.catalog.features, large.catalog.features[where])


def test_a_pool_as_large_as_the_matrix_is_all_of_it():
    clicks = some_clicks(users=40, items=40)
    features = [Pool(clicks, rule=r, **SIZES).catalog.features for r in ("all", "most", "random")]
    assert np.array_equal(features[0], features[1]) and np.array_equal(features[0], features[2])


def test_most_takes_the_busiest_and_ties_go_to_the_first():
    clicks = np.zeros((6, 5), dtype=bool)
    clicks[1] = clicks[4] = True
    clicks[[0, 2, 5], 0] = True
    env = Pool(clicks, rule="most", pool=3, history=1, n_users=2, n_items=3, n_features=2)
    assert sorted([*env.rows, *env.history_rows]) == [0, 1, 4]
    assert env.columns.tolist() == [0, 1, 2]


def test_equal_singular_values_do_not_leave_a_choice():
    """Users without a common item: all singular values are equal, any rotation is a solution."""
    history = np.kron(np.eye(6), np.ones((1, 4)))
    features = item_features(history, 3)
    assert np.array_equal(features[:12], np.kron(np.eye(3), np.full((4, 1), 0.5)))
    assert not features[12:].any()
    rng = np.random.default_rng(0)
    again = item_features(history[:, rng.permutation(24)], 6)
    assert np.linalg.norm(again, axis=0) == pytest.approx(1)


def test_features_do_not_hang_on_the_last_bits(monkeypatch):
    clicks = sparse.csr_array(some_clicks(users=20, items=50, density=0.06))
    plain = item_features(clicks, 12)
    eigh = np.linalg.eigh
    rng = np.random.default_rng(3)

    def another_library(gram):
        """Another sign, another basis of equal values, and rounding errors."""
        values, vectors = eigh(gram)
        for value in np.unique(values.round(9)):
            space = np.flatnonzero(np.abs(values - value) < 1e-8)
            turn, _ = np.linalg.qr(rng.normal(size=(len(space), len(space))))
            vectors[:, space] = vectors[:, space] @ turn * rng.choice([-1, 1])
        return values, vectors + rng.normal(scale=1e-15, size=vectors.shape)

    monkeypatch.setattr(np.linalg, "eigh", another_library)
    assert np.abs(item_features(clicks, 12) - plain).max() <= 1.1e-9


def test_items_of_equal_clicks_have_equal_features():
    clicks = some_clicks(users=30, items=20)
    features = item_features(np.concatenate([clicks, clicks], axis=1), 10)
    assert np.array_equal(features[:20], features[20:])


@pytest.mark.parametrize("scaling", ["largest", "unit"])
@pytest.mark.parametrize("density", [0.0, 0.2])
def test_zero_vectors_play(scaling, density):
    env = Pool(some_clicks(density=density), scaling=scaling, **SIZES)
    assert (np.linalg.norm(env.catalog.features, axis=1) == 0).any()
    for policy in (cc.ClubCascade(n_features=6), cc.C3UCB(n_features=6)):
        trace = cc.simulate(policy, env, rounds=300, k=4, seed=1)
        assert (trace.reward[-1] > 0) == (density > 0)
        assert np.isfinite(trace.regret).all()


def test_arrivals_and_click_models_are_taken():
    env = Pool(some_clicks(), arrivals=[1.0] + [0.0] * 11, click=cc.click.DCM(0.5), **SIZES)
    env.reset(1)
    assert {env.next_user()[0] for _ in range(20)} == {0}


def test_the_given_matrix_is_not_changed():
    matrix = sparse.csr_array(np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0]]))
    matrix.data[0] = 0  # an explicit zero
    before = matrix.data.copy()
    env = Pool(matrix, n_users=2, n_items=3, n_features=1, history=1)
    assert np.array_equal(matrix.data, before) and matrix.nnz == 5
    assert env.attraction.sum() + matrix[env.history_rows].sum() == 4


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n_users": 56}, r"n_users must be a whole number in \[1, 55\], got 56"),
        ({"n_users": 0}, r"n_users must be a whole number in \[1, 55\], got 0"),
        ({"n_items": 61}, r"n_items must be a whole number in \[1, 60\], got 61"),
        ({"history": 70}, r"history must be a whole number in \[1, 69\], got 70"),
        ({"rule": "most", "history": 40}, r"history must be a whole number in \[1, 39\], got 40"),
        ({"rule": "random", "n_items": 41}, r"n_items must be a whole number in \[1, 40\]"),
        (
            {"rule": "most", "pool": 61},
            r'pool .* \[2, 60\] for the rule "most", as clicks has 70 users and 60 items, got 61',
        ),
        ({"rule": "random", "pool": 1}, "pool must be a whole number >= 2, got 1"),
        ({"n_features": 0}, "n_features must be a whole number >= 1, got 0"),
        ({"rule": "least"}, "rule must be one of 'all', 'most', 'random', got 'least'"),
        ({"scaling": "none"}, "scaling must be one of 'largest', 'unit', got 'none'"),
        ({"seed": -1}, "seed must be a whole number >= 0, got -1"),
        ({"arrivals": [1.0]}, "arrivals"),
    ],
)
def test_bad_settings(changes, words):
    with pytest.raises(cc.errors.InvalidArgument, match=words):
        Pool(some_clicks(), **SIZES | changes)


@pytest.mark.parametrize(
    ("clicks", "words"),
    [
        ("yelp", "clicks must be a matrix of 0 and 1"),
        (None, "clicks must be a matrix of 0 and 1"),
        ([[1, 0], [1]], "clicks must be a matrix of 0 and 1"),
        (np.zeros(5), r"got shape \(5,\)"),
        (np.zeros((1, 5)), "at least 2 users and 1 item, got 1 x 5"),
        (np.full((3, 3), 2), "users x items, got 2"),
        (np.full((3, 3), np.nan), "users x items, got nan"),
        (np.full((3, 3), 0.5), "users x items, got 0.5"),
        (np.array([["a", "b"], ["c", "d"]]), "clicks must be a matrix of 0 and 1"),
    ],
)
def test_bad_clicks(clicks, words):
    with pytest.raises(cc.errors.InvalidArgument, match=words):
        Pool(clicks, n_users=1, n_items=1, n_features=1, history=1)
