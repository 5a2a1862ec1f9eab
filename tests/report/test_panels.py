from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clubcascade.report.panels import readable_top, spread


def test_the_axis_shows_all_lines_unless_a_few_dwarf_the_rest():
    assert readable_top([400, 2_000, 6_000, 6_400]) > 6_400
    assert 2_400 < readable_top([446, 1_971, 2_400, 20_000, 21_000]) < 3_000
    assert readable_top([1.0, 100.0, 110.0]) > 110.0
    assert readable_top([0.0, 0.0]) == 1.0


@given(st.lists(st.floats(0, 100), min_size=1, max_size=12))
def test_labels_are_spread_in_order_and_inside(places):
    moved = np.array(spread(places, gap=5.0, low=0.0, high=100.0))
    order = np.argsort(places, kind="stable")
    assert (np.diff(moved[order]) >= 5.0 - 1e-6).all()
    assert moved.min() >= -1e-6 and moved.max() <= 100.0 + 1e-6


def test_labels_that_do_not_touch_stay():
    assert spread([90.0, 10.0, 50.0], gap=5.0, low=0.0, high=100.0) == [90.0, 10.0, 50.0]
