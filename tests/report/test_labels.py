from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clubcascade.report.plots import spread


@given(st.lists(st.floats(0, 100), min_size=1, max_size=12))
def test_labels_are_spread_in_order_and_inside(places):
    moved = np.array(spread(places, gap=5.0, low=0.0, high=100.0))
    order = np.argsort(places, kind="stable")
    assert (np.diff(moved[order]) >= 5.0 - 1e-6).all()
    assert moved.min() >= -1e-6 and moved.max() <= 100.0 + 1e-6


def test_labels_that_do_not_touch_stay():
    assert spread([90.0, 10.0, 50.0], gap=5.0, low=0.0, high=100.0) == [90.0, 10.0, 50.0]
