"""Evidence and verdicts: of one comparison, and of a sentence that has several."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from clubcascade.report.estimates import Estimate

NOT_REACHED = "not reached"
"""A caveat: rounds until an event are compared, and some runs never reach it."""

VACUOUS = "vacuous bound"
"""A caveat: the bound is above the number of rounds, which bounds the regret of any policy."""


class Verdict(StrEnum):
    """What the numbers say about a sentence."""

    HOLDS = "holds"
    PARTLY = "partly"
    FAILS = "does not hold"
    UNDECIDED = "undecided"
    UNMEASURED = "not measured"
    WITHHELD = "no verdict"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One comparison: where it was made, what was measured, the numbers, and what they say.

    ``value`` is the one number that decides: a ratio, or what ``unit`` says. ``caveat`` is what a
    reader must know about the verdict; ``folder`` the result folder, empty where none was needed.
    """

    panel: str
    what: str
    numbers: str
    verdict: Verdict
    value: float = math.nan
    unit: str = "ratio"
    caveat: str = ""
    folder: str = ""


def of_difference(found: Estimate, wanted: int) -> Verdict:
    """Judge a difference by where its 95% interval lies.

    ``wanted`` is the sign that the sentence claims, 1 or -1. The difference is undecided if its
    interval holds 0 or is unknown; but runs that are all equal do decide: there is none.

    >>> str(of_difference(Estimate(2.0, 1.0, 3.0), wanted=1))
    'holds'
    >>> str(of_difference(Estimate(2.0, -1.0, 5.0), wanted=1))
    'undecided'
    >>> str(of_difference(Estimate(0.0, 0.0, 0.0), wanted=1))
    'does not hold'
    """
    if found.low == found.high == 0:
        return Verdict.FAILS
    if not found.sign:
        return Verdict.UNDECIDED
    return Verdict.HOLDS if found.sign == wanted else Verdict.FAILS


def combined(verdicts: Iterable[Verdict]) -> Verdict:
    """Join the verdicts of several comparisons.

    A sentence holds if all of them hold, partly if some do. If none does, it does not hold as
    soon as one speaks against it; else it is undecided. Without any it is not measured. What is
    withheld, as it comes from a first look, does not count.

    >>> str(combined([Verdict.HOLDS, Verdict.UNDECIDED])), str(combined([]))
    ('partly', 'not measured')
    """
    given = set(verdicts)
    found = given - {Verdict.UNMEASURED, Verdict.WITHHELD}
    if not found:
        return Verdict.WITHHELD if Verdict.WITHHELD in given else Verdict.UNMEASURED
    if len(found) == 1:
        return found.pop()
    if Verdict.HOLDS in found or Verdict.PARTLY in found:
        return Verdict.PARTLY
    return Verdict.FAILS
