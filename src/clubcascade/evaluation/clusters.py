"""Ratios of sums over users, their cluster-robust variances, and when they may be looked at."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import numpy as np
from scipy.special import lambertw

from clubcascade.core import Floats

LEAST_USERS, LEAST_CLICKS = 50, 50
"""Effective users, and clicks, before anything is said: the sequence is asymptotic in both."""


class UserSums:
    """Two numbers per user, y and x; the ratio of their sums, with users as clusters.

    What is known of one user is one observation, however many lists it has: lists of a user are
    alike, and to count them as independent makes standard errors far too small.

    Examples
    --------
    >>> clicks = UserSums()
    >>> for user, click in [("a", 1), ("a", 1), ("b", 0), ("c", 1)]:
    ...     clicks.add(user, click)
    >>> clicks.users, clicks.ratio, round(clicks.variance, 4)
    (3, 0.75, 0.082)
    """

    def __init__(self) -> None:
        self._of: dict[Hashable, tuple[float, float]] = {}
        self.moments: Floats = np.zeros(5)
        """Sums over users of y, x, y^2, xy and x^2."""

    def __contains__(self, user: Hashable) -> bool:
        return user in self._of

    def add(self, user: Hashable, y: float, x: float = 1.0) -> None:
        """Add to the two numbers of a user."""
        y0, x0 = self._of.get(user, (0.0, 0.0))
        y1, x1 = y0 + y, x0 + x
        self._of[user] = y1, x1
        self.moments += np.subtract(moments_of(y1, x1), moments_of(y0, x0))

    @property
    def users(self) -> int:
        """How many users there are."""
        return len(self._of)

    @property
    def effective_users(self) -> float:
        """Kish's number of users of equal weight: few, where a few have most of the lists."""
        return float(effective(self.moments))

    @property
    def enough(self) -> bool:
        """Whether there are enough users and clicks to say anything."""
        return self.effective_users >= LEAST_USERS and self.moments[0] >= LEAST_CLICKS

    @property
    def ratio(self) -> float:
        """The sum of y over the sum of x; NaN before there is any."""
        return float(self.moments[0] / self.moments[1]) if self.moments[1] else math.nan

    @property
    def variance(self) -> float:
        """The cluster-robust variance of the ratio (delta method)."""
        return float(variance(self.moments, self.users)) if self.users > 1 else math.inf


def moments_of(y: Any, x: Any) -> tuple[Any, Any, Any, Any, Any]:
    """Return what is summed over users."""
    return y, x, y * y, x * y, x * x


def effective(moments: Floats) -> Any:
    """Return the effective number of users; the last axis are the moments."""
    return moments[..., 1] ** 2 / np.maximum(moments[..., 4], 1e-300)


def variance(moments: Floats, users: Any) -> Any:
    """Return the cluster-robust variance of the ratio; the last axis are the moments."""
    y, x, yy, xy, xx = np.moveaxis(moments, -1, 0)
    ratio = y / x
    return np.maximum(yy - 2 * ratio * xy + ratio**2 * xx, 0.0) / x**2 * users / (users - 1)


def reach(variance: Any, alpha: float, difference: float) -> Any:
    """Return by how many standard errors a confidence sequence reaches to each side.

    The boundary of Robbins' normal mixture, in the asymptotic sense of Waudby-Smith, Arbour,
    Sinha, Kennedy and Ramdas (2021): with probability ``1 - alpha`` the truth is inside at all
    times, so one may read it, and stop, at any time. It is narrowest, for its
    level, when it reaches ``difference``.

    >>> round(float(reach(needed_variance(0.05, 0.1), 0.05, 0.1)), 2)
    3.04
    """
    spread = _mixing(alpha, difference) * np.maximum(variance, 1e-300)
    return np.sqrt((1 + spread) * np.log((1 + 1 / spread) / alpha**2))


def needed_variance(alpha: float, difference: float) -> float:
    """Return the variance at which the sequence reaches exactly ``difference`` to each side."""
    return difference**2 / _least(alpha)[1]


def _least(alpha: float) -> tuple[float, float]:
    """Return where the squared boundary is least, in units of the variance, and its value."""
    at = 1 / (-float(lambertw(-(alpha**2) / math.e, -1).real) - 1)
    return at, (1 + at) * math.log((1 + 1 / at) / alpha**2)


def _mixing(alpha: float, difference: float) -> float:
    at, square = _least(alpha)
    return at * square / difference**2
