"""Team-draft interleaving with exclusive credit: a screen, never a verdict."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable

import numpy as np
import numpy.typing as npt

from clubcascade import validation
from clubcascade.core import Ints
from clubcascade.errors import InvalidArgument
from clubcascade.evaluation.clusters import LEAST_USERS, UserSums, reach


def team_draft(a: npt.ArrayLike, b: npt.ArrayLike, rng: np.random.Generator) -> Ints:
    """Return one list made of two rankings, which take turns (Radlinski, Kurup, Joachims 2008).

    Parameters
    ----------
    a, b
        Two rankings of one length, best first.
    rng
        Decides in every turn who picks first.

    Examples
    --------
    >>> team_draft([3, 1, 2], [3, 5, 1], np.random.default_rng(2)).tolist()
    [3, 5, 1]
    """
    first, second = (
        validation.listed(name, np.asarray(r), "rows") for name, r in zip("ab", (a, b), strict=True)
    )
    if len(first) != len(second) or any(len(set(r)) != len(r) for r in (first, second)):
        raise InvalidArgument(
            f"a and b must be rankings of one length without repeats, got {a!r} and {b!r}"
        )
    shown: list[int] = []
    while len(shown) < len(first):
        turn = (first, second) if rng.random() < 0.5 else (second, first)
        for ranking in turn[: len(first) - len(shown)]:
            shown.append(next(row for row in ranking if row not in shown))
    return np.array(shown)


def exclusive_credit(
    shown: npt.ArrayLike, a: npt.ArrayLike, b: npt.ArrayLike, clicks: Iterable[int]
) -> tuple[int, int]:
    """Return the clicks on items that only ``a`` has, and on items that only ``b`` has.

    A click on what both show says nothing about them: without that noise a screen is 2 to 3 times
    faster.

    >>> exclusive_credit([3, 5, 1], [3, 1, 2], [3, 5, 1], clicks=[0, 1])
    (0, 1)
    """
    clicked = np.asarray(shown)[list(clicks)]
    return (
        int(np.isin(clicked, np.setdiff1d(a, b)).sum()),
        int(np.isin(clicked, np.setdiff1d(b, a)).sum()),
    )


class InterleavingScreen:
    """Which of two rankings gets the clicks on items that only one of them has.

    Faster than A/B, and a screen only: when one list is more diverse, it can name the wrong
    winner. Ask :class:`ABTest` for the verdict.

    Parameters
    ----------
    alpha
        Probability of ever being wrong about the share of exclusive clicks.
    difference
        How far the share of clicks is from one half, times two, where the sequence is narrowest.

    Examples
    --------
    >>> screen = InterleavingScreen()
    >>> for user in range(2_000):
    ...     screen.add(user, int(user % 5 == 0), int(user % 5 in (1, 2)))
    >>> print(screen)
    screen: B gets between 63% and 71% of the clicks on items that only one of both shows; \
worth an A/B test by user
    """

    def __init__(self, *, alpha: float = 0.05, difference: float = 0.1) -> None:
        self.alpha = validation.number("alpha", alpha, low=1e-9, high=0.5)
        self.difference = validation.number("difference", difference, low=1e-4, high=1)
        self.sums = UserSums()
        self.lists = 0

    def add(self, user: Hashable, credit_a: int, credit_b: int) -> None:
        """Count what :func:`exclusive_credit` gave for one list of a user."""
        for name, credit in (("credit_a", credit_a), ("credit_b", credit_b)):
            validation.whole(name, credit, low=0)
        self.lists += 1
        if credit_a + credit_b:
            self.sums.add(user, credit_b - credit_a, credit_a + credit_b)

    @property
    def share(self) -> tuple[float, float]:
        """Confidence interval of B's share of exclusive clicks, valid at all times."""
        if self.sums.effective_users < LEAST_USERS:
            return 0.0, 1.0
        least = (2 / self.sums.users) ** 2  # if all are of one mind: one may be of the other
        spread = max(self.sums.variance, least)
        radius = float(reach(spread, self.alpha, self.difference)) * math.sqrt(spread)
        return tuple(min(max((1 + self.sums.ratio + r) / 2, 0.0), 1.0) for r in (-radius, radius))  # type: ignore[return-value]

    def __str__(self) -> str:
        low, high = self.share
        seen = "the clicks on items that only one of both shows"
        advice = "worth an A/B test by user" if low > 0.5 else "no reason for an A/B test"
        if low <= 0.5 <= high:
            advice = "go on"
        return f"screen: B gets between {low:.0%} and {high:.0%} of {seen}; {advice}"
