"""The paper's claims, sentence by sentence (``claims.toml``), and what results say about them."""

import math
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

from clubcascade.report.comparisons import compare
from clubcascade.report.folders import Run
from clubcascade.report.selection import Comparison
from clubcascade.report.verdicts import VACUOUS, Evidence, Verdict, combined

__all__ = ["CLAIMS", "VACUOUS", "Claim", "Evidence", "Judged", "Verdict", "judge", "summary"]


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the paper: one entry of ``claims.toml``, which says what its keys mean."""

    where: str
    quote: str
    reading: str
    figures: tuple[str, ...] = ()
    compare: tuple[Comparison, ...] = ()
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
    """Find what result folders say about a claim.

    Of a first look, with too few seeds or rounds to judge by, the numbers are kept and the
    verdicts withheld.
    """
    quick = bool(runs) and all(run.first_look for run in runs)
    found = [_withheld(each) if quick else each for each in claim.known]
    for run in runs:
        if run.figure in claim.figures:
            for comparison in claim.compare:
                for each in compare(run, comparison):
                    here = replace(each, folder=run.name)
                    found.append(_withheld(here) if run.first_look else here)
    return Judged(claim, tuple(found))


def summary(judged: Judged) -> str:
    """Say how many comparisons came out how."""
    counts = Counter(each.verdict for each in judged.evidence)
    withheld = counts[Verdict.WITHHELD]
    n = len(judged.evidence) - withheld
    if not n:
        return f"{withheld} comparison{'s' * (withheld > 1)} of a first look{_range(judged)}"
    holds, against = counts[Verdict.HOLDS], counts[Verdict.FAILS]
    words = f"{holds} of {n} comparison{'s' * (n > 1)} hold{'s' * (holds == 1)}"
    words += f", {against} speak{'s' * (against == 1)} against" if against else ""
    words += f", {counts[Verdict.UNDECIDED]} undecided" if counts[Verdict.UNDECIDED] else ""
    words += f", {withheld} more of a first look" if withheld else ""
    caveats = Counter(each.caveat for each in judged.evidence if each.caveat)
    listed = ", ".join(f"{caveat}: {count}" for caveat, count in caveats.items())
    return f"{words}{f' ({listed})' if listed else ''}{_range(judged)}"


def _range(judged: Judged) -> str:
    """Say between which values the deciding numbers lie."""
    ranges = []
    for unit in dict.fromkeys(each.unit for each in judged.evidence):
        values = [e.value for e in judged.evidence if e.unit == unit and not math.isnan(e.value)]
        if values:
            ends = dict.fromkeys(f"{end:.3g}" for end in (min(values), max(values)))
            ranges.append(f"; {unit} {' to '.join(ends)}")
    return "".join(ranges)


def _withheld(each: Evidence) -> Evidence:
    return replace(each, verdict=Verdict.WITHHELD)


def _claim(entry: Mapping[str, Any]) -> Claim:
    """Read one entry of the file; an unknown key is an error."""
    compare: Iterator[dict[str, Any]] = (
        {key: tuple(value) if isinstance(value, list) else value for key, value in each.items()}
        for each in entry.get("compare", ())
    )
    known = ({**each, "verdict": Verdict(each["verdict"])} for each in entry.get("known", ()))
    return Claim(
        **{
            **entry,
            "figures": tuple(entry.get("figures", ())),
            "compare": tuple(Comparison(**each) for each in compare),
            "known": tuple(Evidence(panel="", **each) for each in known),
        }
    )


def _read() -> tuple[Claim, ...]:
    text = (resources.files(__package__) / "claims.toml").read_text(encoding="utf-8")
    return tuple(_claim(entry) for entry in tomllib.loads(text)["claims"])


CLAIMS: tuple[Claim, ...] = _read()
"""Every sentence of the paper that claims something about what experiments show."""
