"""Feedback: from a click, given, and impossible."""

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


def test_several_clicks_are_feedback():
    with pytest.raises(cc.errors.InvalidFeedback, match=r"got \[0, 1\]; .*clubcascade\.Feedback"):
        observed([0, 1], 4)
