"""What every click model promises."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from clubcascade.click import ClickModel

Check = Callable[[ClickModel], None]


def check_click_model(model: ClickModel) -> None:
    """Run every check on a click model; raise AssertionError at the first broken promise."""
    for check in CLICK_MODEL_CHECKS:
        check(model)


def sure_things_are_sure(model: ClickModel) -> None:
    """What attracts nobody is never clicked; the first sure item always is."""
    rng = np.random.default_rng(1)
    assert model.sample(np.zeros(4), rng).clicks == ()
    assert model.sample(np.zeros(4), rng).examined == 4
    for _ in range(20):
        assert model.sample(np.array([0.0, 1.0, 0.5]), rng).clicks[0] == 1


def examined_ends_at_the_last_click(model: ClickModel) -> None:
    """Items after the last click are not observed; without a click all were examined."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        feedback = model.sample(np.full(5, 0.3), rng)
        last = feedback.clicks[-1] + 1 if feedback.clicks else 5
        assert feedback.examined == last, f"{feedback} does not end at its last click"


def value_is_the_chance_of_satisfaction(model: ClickModel) -> None:
    """The value lies in [0, 1], grows with attraction, and bounds the probability of a click."""
    rng = np.random.default_rng(3)
    attraction = np.array([0.2, 0.5, 0.1])
    value = model.value(attraction)
    assert 0.0 <= value <= 1.0
    assert model.value(attraction + 0.2) >= value
    n = 4000
    clicked = sum(bool(model.sample(attraction, rng).clicks) for _ in range(n)) / n
    assert value <= clicked + 5 * math.sqrt(0.25 / n), "worth more than it is clicked"


CLICK_MODEL_CHECKS: tuple[Check, ...] = (
    sure_things_are_sure,
    examined_ends_at_the_last_click,
    value_is_the_chance_of_satisfaction,
)
