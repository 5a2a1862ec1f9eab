"""Abstract and Theorem 2: the bound of the regret, and how regret grows."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from clubcascade.experiment.config import Contender, Panel
from clubcascade.report.claims.claim import VACUOUS, Claim, Evidence
from clubcascade.report.claims.series import both, round_at, table
from clubcascade.report.claims.verdicts import Verdict, of_difference
from clubcascade.report.folders import Run
from clubcascade.report.numbers import number, with_ends
from clubcascade.report.paired import estimate


def below_the_bound(run: Run) -> Iterator[Evidence]:
    """Check that no run with the theorem's constants ever has more regret than the bound."""
    for panel in run.results.experiment.panels:
        for ours in _with_the_constants(run):
            for bound in _bounds(run):
                a, b = both(run, panel, ours, bound, "regret")
                if a.empty:
                    continue
                end = int(a.columns[-1])
                regret, limit = float(a[end].mean()), float(b[end].mean())
                words = f"{ours.label} {number(regret)}, {bound.label} {number(limit)}"
                caveat = VACUOUS if limit > end else ""
                if caveat:
                    words += f"; the bound is above the {end:,} rounds: vacuous"
                verdict = Verdict.HOLDS if (a <= b).to_numpy().all() else Verdict.FAILS
                what = f"regret at every recorded round up to {end:,}"
                yield Evidence(panel.title, what, words, verdict, regret / limit, caveat=caveat)


def grows_slowly(run: Run) -> Iterator[Evidence]:
    """Check that regret grows no faster over the second half than sqrt(T) ln(T) does."""
    for panel in run.results.experiment.panels:
        for ours in _with_the_constants(run):
            found = _growth(run, panel, ours)
            if found:
                yield found


def _growth(run: Run, panel: Panel, ours: Contender) -> Evidence | None:
    regret = table(run, panel, ours, "regret")
    if regret.empty:
        return None
    half, end = round_at(regret, 0.5), int(regret.columns[-1])
    if half < 2 or half == end or not (regret[half] > 0).all():
        return None
    rise = math.log(end / half)
    power = np.log(regret[end].to_numpy(np.float64) / regret[half].to_numpy(np.float64)) / rise
    allowed = 0.5 + math.log(math.log(end) / math.log(half)) / rise
    found = estimate(power)
    return Evidence(
        panel.title,
        f"power of t by which regret grows from round {half:,} to {end:,}",
        f"{ours.label} {with_ends(found)}; √T ln T: {allowed:.2f}",
        of_difference(estimate(power - allowed), wanted=-1),
        found.value,
        "power",
    )


def _with_the_constants(run: Run) -> list[Contender]:
    """Return CLUB-cascade with the theorem's alpha and beta."""
    names = ("horizon", "item_eigenvalue")
    return [
        c
        for c in run.results.experiment.policies
        if c.policy == "club_cascade" and all(name in c.parameters for name in names)
    ]


def _bounds(run: Run) -> list[Contender]:
    return [
        c
        for c in run.results.experiment.policies
        if c.policy == "theorem_bound" and c.parameters.get("part", "whole") == "whole"
    ]


ORDER = (
    Claim(
        "Abstract",
        "We propose an algorithm of CLUB-cascade for this setting and prove a T-step regret bound "
        "of order Õ(√T).",
        "A proof needs no runs; they can show whether the order is that of the regret. With the "
        "theorem's constants: the power of t by which regret grows over the second half of the "
        "rounds, against that of √T ln T.",
        ("bound",),
        grows_slowly,
    ),
)

THEOREM = (
    Claim(
        "4. Algorithm and Results, Theorem 2",
        "Then the cumulative regret of CLUB-cascade algorithm for T rounds satisfies R(T) ≤ "
        "2 (√(d ln(1 + T/(λd)) + 2 ln(4mT)) + √λ) · √(2dmKT ln(1 + TK/(λd))) + "
        "O(u (d/(γ²λₓ) + 1/λₓ²) ln(T)) ≤ O(d √(mKT) ln(T)).",
        "With the theorem's constants and fresh items: regret of every run below the bound at "
        "every recorded round. The O(.) term is T₀(1/T) of appendix A.",
        ("bound",),
        below_the_bound,
    ),
)
