"""Feedback, catalogue, and the public surface."""

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clubcascade as cc
from clubcascade.core import observed


@given(k=st.integers(1, 8), data=st.data())
def test_feedback_from_click(k, data):
    click = data.draw(st.none() | st.integers(0, k - 1))
    feedback = cc.Feedback.from_click(click, k)
    assert feedback.examined == (k if click is None else click + 1)
    assert feedback.clicks == (() if click is None else (click,))
    examined, rewards = observed(click, k)
    assert examined == feedback.examined
    assert tuple(np.flatnonzero(rewards)) == feedback.clicks
    again, same = observed(feedback, k)
    assert again == examined
    np.testing.assert_array_equal(same, rewards)


@pytest.mark.parametrize(
    ("examined", "clicks"),
    [(0, ()), (-1, ()), (2, (2,)), (2, (-1,)), (3, (1, 1)), (3, (2, 1)), (1.5, ()), (2, ("0",))]
    + [(2, None), (2, 1)],
)
def test_impossible_feedback(examined, clicks):
    with pytest.raises(cc.errors.InvalidFeedback, match="examined|clicks"):
        cc.Feedback(examined=examined, clicks=clicks)


def test_numpy_numbers_are_welcome():
    assert cc.Feedback(np.int64(3), (np.int32(1),)) == cc.Feedback(3, (1,))
    examined, _ = observed(np.int64(1), 3)
    assert examined == 2


def test_catalogue_keeps_a_copy_that_nobody_can_write():
    items = np.eye(3)
    catalog = cc.Catalog(items)
    items[0, 0] = 0.5
    assert catalog.features[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        catalog.features[0, 0] = 0.5


@pytest.mark.parametrize(
    ("items", "ids", "words"),
    [
        (np.zeros((0, 2)), None, "at least one item"),
        (np.zeros((2, 0)), None, "at least one feature"),
        (np.zeros(3), None, "shape"),
        ([[3.0, 4.0]], None, r"norm 5 in row 0; divide all items"),
        ([[np.nan, 0.0]], None, "finite, got nan in row 0"),
        ([["a"]], None, "numbers"),
        (np.eye(2) * 1j, None, "real numbers, got complex128"),
        (np.eye(2), ["x"], "2 items, got 1"),
        (np.eye(2), ["x", "x"], "distinct"),
    ],
)
def test_bad_catalogues(items, ids, words):
    with pytest.raises(cc.errors.InvalidArgument, match=words):
        cc.Catalog(items, ids)


def test_slate_is_an_array_and_knows_its_rows():
    catalog = cc.Catalog(np.eye(3), ids="abc")
    slate = catalog[np.array([2, 0])]
    np.testing.assert_array_equal(np.asarray(slate), np.eye(3)[[2, 0]])
    assert [catalog.ids[row] for row in slate.rows] == ["c", "a"]
    with pytest.raises(cc.errors.InvalidItems, match=r"\[0, 2\]"):
        catalog[[3]]
    with pytest.raises(cc.errors.InvalidArgument, match="'z'"):
        catalog.index("z")


def test_public_names_are_the_ones_there_are():
    public = set(cc._AT_FIRST_USE) | {
        name
        for name, value in vars(cc).items()
        if not name.startswith("_") and (not inspect.ismodule(value) or name in cc.__all__)
    }
    assert public == set(cc.__all__)
    assert all(hasattr(cc, name) for name in cc.__all__)


def test_policies_are_validated_at_once():
    for changes, words in (
        ({"alpha": -1.0}, r"alpha must be a number in \[0, inf\], got -1.0"),
        ({"alpha": float("nan")}, "alpha"),
        ({"beta": float("inf")}, "beta"),
        ({"beta": "much"}, "beta"),
        ({"reg": 0.0}, r"reg must be a number in \(0, inf\), got 0.0"),
        ({"n_features": 0}, "n_features must be a whole number >= 1, got 0"),
        ({"n_features": 2.5}, "n_features"),
        ({"start": "star"}, "start must be one of"),
        ({"variant": "code2016"}, "variant"),
        ({"start": "random"}, "edge_probability"),
        ({"edge_probability": 0.5}, "complete"),
        ({"start": "random", "edge_probability": 1.5}, "edge_probability"),
        ({"users": [1, 1]}, "distinct"),
        ({"alpha": 1.0, "item_eigenvalue": 0.1}, "alpha must be left out"),
        ({"beta": 1.0, "horizon": 10, "n_clusters": 2}, "beta must be left out"),
        ({"horizon": 10}, "n_clusters"),
        ({"seed": -1}, "seed"),
    ):
        with pytest.raises(cc.errors.InvalidArgument, match=words):
            cc.ClubCascade(**({"n_features": 3} | changes))


def test_constants_of_the_theorem():
    policy = cc.ClubCascade(
        n_features=20, horizon=10_000, n_clusters=5, item_eigenvalue=0.05, users=range(40)
    )
    assert policy.beta == pytest.approx(cc.theory.beta(20, 10_000, 5, 4.0))
    assert policy.alpha == pytest.approx(cc.theory.alpha(20, 0.05))
    assert policy.fresh().params == policy.params
    sparse = cc.ClubCascade(
        n_features=20, users=range(400), start="random", n_clusters=2, smallest_share=0.9
    )
    assert sparse.edge_probability == pytest.approx(cc.theory.edge_probability(400, 2, 0.9, 0.1))


def test_small_worlds_work():
    for d, items in ((1, [[1.0]]), (1, [[0.0]]), (2, np.zeros((3, 2))), (2, [[0.6, 0.8]] * 4)):
        policy = cc.ClubCascade(n_features=d, alpha=0.1)
        for click in (0, None, 0):
            ranking = policy.recommend("only", items, k=1)
            policy.update("only", np.asarray(items)[ranking], click)
        assert policy.clusters() == [{"only"}]
        assert np.isfinite(policy.scores("only", items)).all()


def test_questions_about_strangers():
    policy = cc.ClubCascade(n_features=2)
    with pytest.raises(cc.errors.UnknownUser, match="'nobody'"):
        policy.statistics("nobody")
    with pytest.raises(cc.errors.UnknownUser):
        policy.user_weights("nobody")
    assert policy.scores("nobody", np.eye(2)).shape == (2,)
    assert policy.clusters() == []
