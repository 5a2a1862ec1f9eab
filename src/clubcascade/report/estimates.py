"""Estimates over seeds, with 95% intervals; paired differences and ratios; how they are written."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from clubcascade.core import Floats
from clubcascade.experiment.intervals import LEVEL, mean_interval

SHARES = ("ctr", "rand_index", "ratio")
"""What is written with three digits after the point: measures between 0 and 1, and ratios."""

UNKNOWN = "–"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 95% interval; the ends are NaN where there is one run only."""

    value: float
    low: float
    high: float

    @property
    def sign(self) -> int | None:
        """1 or -1 if the whole interval lies on that side of 0, else 0; None if it is unknown.

        >>> Estimate(2.0, 1.0, 3.0).sign, Estimate(2.0, -1.0, 5.0).sign
        (1, 0)
        """
        if math.isnan(self.low) or math.isnan(self.high):
            return None
        return int(self.low > 0) - int(self.high < 0)


def estimate(values: Floats) -> Estimate:
    """Return the mean of values, one per seed, with its t-interval."""
    mean, low, high = mean_interval(np.asarray(values, dtype=np.float64)[:, None])
    return Estimate(float(mean[0]), float(low[0]), float(high[0]))


def difference(ours: Floats, theirs: Floats) -> Estimate:
    """Return the mean of ``ours - theirs``, paired: the same position is the same seed."""
    return estimate(np.asarray(ours) - np.asarray(theirs))


def ratio(ours: Floats, theirs: Floats) -> Estimate:
    """Return the ratio of the means, with Fieller's interval for pairs.

    The interval holds every r for which the paired differences ``ours - r * theirs`` do not
    exclude 0; so it holds 1 exactly if the interval of :func:`difference` holds 0. Where the
    mean of ``theirs`` may itself be 0, no bounded interval exists and the ends are infinite.

    >>> found = ratio(np.array([20.0, 21, 23, 20]), np.array([10.0, 10, 11, 10]))
    >>> print(f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]")
    2.049 [1.957, 2.133]
    """
    a, b = np.asarray(ours, dtype=np.float64), np.asarray(theirs, dtype=np.float64)
    over, below = float(a.mean()), float(b.mean())
    if below == 0:
        return Estimate(math.nan, math.nan, math.nan)
    value, n = over / below, len(a)
    if n < 2:
        return Estimate(value, math.nan, math.nan)
    c = float(stdtrit(n - 1, (1 + LEVEL) / 2)) ** 2 / n
    (saa, sab), (_, sbb) = np.cov(a, b).tolist()
    square = below**2 - c * sbb
    if square <= 0:
        return Estimate(value, -math.inf, math.inf)
    middle = over * below - c * sab
    # middle**2 - square * (over**2 - c * saa), without differences of large numbers
    within = float(np.var(below * a - over * b, ddof=1))
    root = math.sqrt(max(c * (within - c * (saa * sbb - sab**2)), 0.0))
    return Estimate(value, (middle - root) / square, (middle + root) / square)


def share(ours: Floats, theirs: Floats) -> Estimate:
    """Return the ratio of what was lost; nobody loses less than nothing."""
    found = ratio(ours, theirs)
    if not math.isfinite(found.low):
        return found
    return Estimate(found.value, max(found.low, 0.0), found.high)


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
