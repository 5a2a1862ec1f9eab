"""A/B by user: the difference of clicks per list, which may be looked at at any time."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

from clubcascade import validation
from clubcascade.errors import InvalidArgument
from clubcascade.evaluation.clusters import UserSums, needed_variance, reach

Interval = tuple[float, float]


@dataclass(frozen=True)
class Verdict:
    """What an experiment says so far of one arm against another; its text is a sentence.

    Attributes
    ----------
    arm, against
        Names of the two arms.
    lists, users
        Of both arms together.
    rates
        Clicks per list of the arm, and of the one against it.
    difference
        Confidence interval of the difference of the two rates, valid at all times.
    relative
        The same relative to the rate of ``against``: 0.05 is 5% more clicks.
    more_lists
        Lists until a difference of ``asked`` would show, if users and lists come as before.
    asked
        The relative difference that one wants to see.
    decision
        ``"better"`` or ``"worse"`` if the interval excludes 0, ``"alike"`` if it excludes a
        difference of ``asked``, else None: go on.
    """

    arm: str
    against: str
    lists: int
    users: int
    rates: tuple[float, float]
    difference: Interval
    relative: Interval
    more_lists: float
    asked: float
    decision: Literal["better", "worse", "alike"] | None

    def __str__(self) -> str:
        low, high = self.relative
        if self.rates == (1.0, 1.0) and not self.decision:  # some send nothing but clicks
            return f"{self.arm} and {self.against}: no list without a click counts yet; go on"
        if not math.isfinite(high) and not self.decision:
            return f"too few users or clicks to compare {self.arm} with {self.against}; go on"
        if self.decision == "alike":
            said = f"{self.arm} and {self.against} differ by less than {self.asked:.0%}; "
            return said + "you can stop"
        said = f"{self.arm} gets {_span(low, high)} clicks than {self.against}; "
        if self.decision:
            return said + "you can stop"
        when = (
            f"show after about {self.more_lists:,.0f} lists more"
            if self.more_lists
            else "have shown"
        )
        return f"{said}go on: {self.asked:.0%} would {when}"


class ABTest:
    """Clicks per list of arms that users are assigned to, compared by a confidence sequence.

    The lists of a user are a cluster of dependent observations. The sequence is valid at all times:
    read the interval at any time, stop at any time. The other arms are compared with the first one;
    several others share ``alpha``.

    Parameters
    ----------
    arms
        Names of two or more arms.
    alpha
        Probability of ever being wrong.
    difference
        The relative difference for which the sequence is narrowest, fixed beforehand.

    Examples
    --------
    >>> test = ABTest(["now", "new"])
    >>> for user in range(9_000):
    ...     test.add("now" if user % 2 else "new", user, user % 5 < 2 + user % 2)
    >>> print(test.verdict())
    new gets between 29% and 38% fewer clicks than now; you can stop
    """

    def __init__(
        self, arms: Sequence[str], *, alpha: float = 0.05, difference: float = 0.05
    ) -> None:
        if isinstance(arms, str) or len(set(arms)) != len(arms) or len(arms) < 2:
            raise InvalidArgument(f"arms must be two or more distinct names, got {arms!r}")
        self.alpha = validation.number("alpha", alpha, low=1e-9, high=0.5)
        self.difference = validation.number("difference", difference, low=1e-4, high=1)
        self.arms = {name: UserSums() for name in arms}

    def add(self, arm: str, user: Hashable, clicks: float, lists: int = 1) -> None:
        """Count clicks and lists of a user; lists that nobody answered count, without a click."""
        validation.choice("arm", arm, self.arms)
        validation.number("clicks", float(clicks), low=0)
        validation.whole("lists", lists, low=1)
        for name, sums in self.arms.items():
            if name != arm and user in sums:
                raise InvalidArgument(f"user must stay in arm {name!r}, got {user!r} in {arm!r}")
        self.arms[arm].add(user, clicks, lists)

    def verdict(self, arm: str | None = None) -> Verdict:
        """Compare an arm, by default the second, with the first one."""
        against, *others = self.arms
        arm = validation.choice("arm", others[0] if arm is None else arm, others)
        return compare(
            self.arms[arm],
            self.arms[against],
            alpha=self.alpha / len(others),
            difference=self.difference,
            names=(arm, against),
        )


def compare(
    arm: UserSums, against: UserSums, *, alpha: float, difference: float, names: tuple[str, str]
) -> Verdict:
    """Return the verdict on two arms whose users are distinct."""
    rates = arm.ratio, against.ratio
    lists = float(arm.moments[1] + against.moments[1])
    pooled = float(arm.moments[0] + against.moments[0]) / max(lists, 1)
    spread = arm.variance + against.variance
    enough = arm.enough and against.enough and spread > 0  # 0: all alike, so nothing is known of it
    apart, relative, more = (-math.inf, math.inf), (-1.0, math.inf), math.inf
    if enough:
        factor = float(reach(spread / pooled**2, alpha, difference))
        middle, radius = rates[0] - rates[1], factor * math.sqrt(spread)
        apart = middle - radius, middle + radius
        relative = _fieller(arm, against, factor)
        more = max(0.0, lists * (spread / pooled**2 / needed_variance(alpha, difference) - 1))
    decision: Literal["better", "worse", "alike"] | None = None
    if apart[0] > 0 or apart[1] < 0:
        decision = "better" if apart[0] > 0 else "worse"
    elif -difference < relative[0] and relative[1] < difference:
        decision = "alike"
    users = arm.users + against.users
    return Verdict(*names, int(lists), users, rates, apart, relative, more, difference, decision)


def _fieller(arm: UserSums, against: UserSums, factor: float) -> Interval:
    """Return the relative differences at which the rates are not apart (Fieller 1954).

    It contains 0 exactly when the interval of the difference does.
    """
    a, b = arm.ratio, against.ratio
    square = b * b - factor**2 * against.variance
    rest = a * a - factor**2 * arm.variance
    wide = math.sqrt(max((a * b) ** 2 - square * rest, 0.0))
    low = rest / (a * b + wide) if rest > 0 else 0.0
    return low - 1, (a * b + wide) / square - 1 if square > 0 else math.inf


def _span(low: float, high: float) -> str:
    if not math.isfinite(high):
        return f"at least {_percent(low)} more"
    if low >= 0:
        return f"between {_percent(low)} and {_percent(high)} more"
    if high <= 0:
        return f"between {_percent(-high)} and {_percent(-low)} fewer"
    return f"between {_percent(-low)} fewer and {_percent(high)} more"


def _percent(share: float) -> str:
    """Return whole percents, and below 1% one decimal more: 0% is said of nothing."""
    return f"{share:.0%}" if share >= 0.0095 else f"{max(share, 1e-4):.2%}"
