"""Numbers for people: as many digits as a reader can use."""

from __future__ import annotations

import math

from clubcascade.report.paired import Estimate

SHARES = ("ctr", "rand_index", "ratio")
"""What is written with three digits after the point: measures between 0 and 1, and ratios."""

UNKNOWN = "–"


def number(value: float, measure: str = "") -> str:
    """Write one value.

    >>> number(2468.3), number(12.34), number(0.8412, "ctr"), number(float("nan"))
    ('2,468', '12.3', '0.841', '–')
    """
    if math.isnan(value):
        return UNKNOWN
    if measure in SHARES:
        return f"{value:.3f}"
    if abs(value) >= 100 or value == round(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def with_half(found: Estimate, measure: str = "") -> str:
    """Write a mean and half of its interval.

    >>> with_half(Estimate(2468.3, 2436.5, 2500.1)), with_half(Estimate(12.0, 12.0, 12.0))
    ('2,468 ± 32', '12 ± 0')
    >>> with_half(Estimate(0.5, float("nan"), float("nan")), "ctr")
    '0.500'
    """
    mean = number(found.value, measure)
    if math.isnan(found.high) or math.isnan(found.value):
        return mean
    return f"{mean} ± {_like(mean, found.high - found.value)}"


def with_ends(found: Estimate, measure: str = "") -> str:
    """Write an estimate and the ends of its interval.

    >>> with_ends(Estimate(0.452, 0.31, 0.6))
    '0.45 [0.31, 0.60]'
    >>> with_ends(Estimate(2.5, float("-inf"), float("inf")))
    '2.50 [no bounded interval]'
    """
    value = number(found.value, measure)
    if math.isnan(found.low) or math.isnan(found.value):
        return value
    if math.isinf(found.low) or math.isinf(found.high):
        return f"{value} [no bounded interval]"
    return f"{value} [{number(found.low, measure)}, {number(found.high, measure)}]"


def _like(written: str, value: float) -> str:
    digits = len(written.partition(".")[2])
    return f"{value:,.{digits}f}" if digits or value >= 10 else f"{value:.2g}"
