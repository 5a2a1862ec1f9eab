from __future__ import annotations

import math
from itertools import permutations

import pytest

from clubcascade.report.estimates import Estimate
from clubcascade.report.verdicts import Verdict, combined, of_difference

HOLDS, PARTLY, FAILS, UNDECIDED, UNMEASURED, WITHHELD = Verdict


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (1.0, 2.0, HOLDS),
        (-2.0, -1.0, FAILS),
        (-1.0, 1.0, UNDECIDED),
        (0.0, 1.0, UNDECIDED),
        (0.0, 0.0, FAILS),
        (math.nan, math.nan, UNDECIDED),
    ],
)
def test_one_comparison(low, high, verdict):
    assert of_difference(Estimate((low + high) / 2, low, high), wanted=1) is verdict
    mirrored = Estimate(-(low + high) / 2, -high, -low)
    assert of_difference(mirrored, wanted=-1) is verdict


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        ([], UNMEASURED),
        ([HOLDS, HOLDS], HOLDS),
        ([HOLDS, FAILS], PARTLY),
        ([HOLDS, UNDECIDED], PARTLY),
        ([HOLDS, UNDECIDED, FAILS], PARTLY),
        ([FAILS, FAILS], FAILS),
        ([FAILS, UNDECIDED], FAILS),
        ([UNDECIDED, UNDECIDED], UNDECIDED),
        ([UNMEASURED, HOLDS], HOLDS),
        ([WITHHELD, WITHHELD], WITHHELD),
        ([WITHHELD, FAILS], FAILS),
        ([WITHHELD, UNMEASURED], WITHHELD),
    ],
)
def test_several_comparisons(found, verdict):
    assert all(combined(order) is verdict for order in permutations(found))
