"""A sentence of the paper that claims something, and the numbers that speak about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from clubcascade.report.claims.verdicts import Verdict, combined
from clubcascade.report.folders import Run


@dataclass(frozen=True, slots=True)
class Evidence:
    """One comparison.

    Parameters
    ----------
    panel
        Where it was made; panels that are compared stand together.
    what
        What was measured, and when.
    numbers
        The values, their ratio and its interval.
    verdict
        What they say.
    value
        The one number that decides: a ratio, or what ``unit`` says.
    unit
        What the value is.
    caveat
        What the verdict rests on that a reader must know; empty where there is nothing.
    folder
        The result folder; empty where none was needed.
    """

    panel: str
    what: str
    numbers: str
    verdict: Verdict
    value: float = math.nan
    unit: str = "ratio"
    caveat: str = ""
    folder: str = ""


NOT_REACHED = "not reached"
"""A caveat: rounds until something are compared, and some runs never reach it."""

VACUOUS = "vacuous bound"
"""A caveat: the bound is above the number of rounds, which bounds the regret of any policy."""

Check = Callable[[Run], Iterable[Evidence]]
"""Finds what one result folder says about a sentence."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the paper.

    Parameters
    ----------
    where
        Section of the paper.
    quote
        The sentence, word for word; formulas in plain letters.
    reading
        How it is measured here, or why it is not.
    figures
        The experiments that speak about it.
    check
        What finds the evidence in a result folder of one of these figures.
    known
        Evidence that needs no results.
    """

    where: str
    quote: str
    reading: str
    figures: tuple[str, ...] = ()
    check: Check | None = None
    known: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim with all evidence that was found."""

    claim: Claim
    evidence: tuple[Evidence, ...]

    @property
    def verdict(self) -> Verdict:
        """What the evidence says together."""
        return combined(each.verdict for each in self.evidence)

    @property
    def vacuous(self) -> bool:
        """Whether all that holds rests on vacuous bounds."""
        caveats = {each.caveat for each in self.evidence if each.verdict is Verdict.HOLDS}
        return caveats == {VACUOUS}


def judge(claim: Claim, runs: Sequence[Run]) -> Judged:
    """Look through the result folders for evidence.

    Parameters
    ----------
    claim
        The sentence.
    runs
        All result folders of the report.
    """
    looks = [run.first_look for run in runs]
    found = [_withheld(each, bool(looks) and all(looks)) for each in claim.known]
    for run in runs:
        if claim.check is not None and run.figure in claim.figures:
            for each in claim.check(run):
                found.append(_withheld(replace(each, folder=run.name), run.first_look))
    return Judged(claim, tuple(found))


def _withheld(each: Evidence, first_look: bool) -> Evidence:
    """Take the verdict from what a first look gave: too few seeds or rounds to judge by."""
    return replace(each, verdict=Verdict.WITHHELD) if first_look else each
