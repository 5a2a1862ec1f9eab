from __future__ import annotations

from clubcascade.report.plots import readable_top


def test_the_axis_shows_all_lines_unless_a_few_dwarf_the_rest():
    assert readable_top([400, 2_000, 6_000, 6_400]) > 6_400
    assert 2_400 < readable_top([446, 1_971, 2_400, 20_000, 21_000]) < 3_000
    assert readable_top([1.0, 100.0, 110.0]) > 110.0
    assert readable_top([0.0, 0.0]) == 1.0
