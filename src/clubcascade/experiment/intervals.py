"""Means over seeds, with the interval that Student's t gives them."""

from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from clubcascade.core import Floats

LEVEL = 0.95
"""How often the interval holds the mean of a Gaussian."""


class Interval(NamedTuple):
    """A mean and the ends of its interval; the ends are NaN where there is one run only."""

    mean: Floats
    low: Floats
    high: Floats


def mean_interval(runs: Floats) -> Interval:
    """Return the mean over runs (rows) and its 95% t-interval, column by column.

    >>> mean, low, high = mean_interval(np.array([[1.0], [2.0], [3.0]]))
    >>> print(mean, low.round(3), high.round(3))
    [2.] [-0.484] [4.484]
    """
    n = len(runs)
    mean: Floats = np.mean(runs, axis=0)
    if n < 2:
        return Interval(mean, np.full_like(mean, np.nan), np.full_like(mean, np.nan))
    half = stdtrit(n - 1, (1 + LEVEL) / 2) * np.std(runs, axis=0, ddof=1) / np.sqrt(n)
    return Interval(mean, mean - half, mean + half)
