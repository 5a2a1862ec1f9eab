"""The small comparisons that checks are made of: each yields one piece of evidence, or none."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from clubcascade.core import Floats
from clubcascade.experiment.config import Contender, Panel
from clubcascade.report.claims.claim import NOT_REACHED, Evidence
from clubcascade.report.claims.series import (
    OBVIOUS,
    Seeds,
    Waits,
    both,
    round_at,
    shared,
    yardstick,
)
from clubcascade.report.claims.verdicts import Verdict, of_difference
from clubcascade.report.folders import Run
from clubcascade.report.measures import MEASURES
from clubcascade.report.numbers import number, with_ends
from clubcascade.report.paired import Estimate, difference, estimate, ratio

EARLY = 0.05
"""The share of the rounds that counts as the beginning."""


def compared(
    where: str,
    what: str,
    first: tuple[str, Seeds],
    second: tuple[str, Seeds],
    *,
    wanted: int,
    measure: str = "",
) -> Iterator[Evidence]:
    """Compare two values over the seeds that both have.

    Parameters
    ----------
    where
        The panel.
    what
        What is compared.
    first, second
        Names and values.
    wanted
        1 if the first is claimed to be the larger, -1 if the smaller.
    measure
        Name of the measure, for the digits.
    """
    x, y = shared(first[1], second[1])
    if len(x):
        times = ratio(x, y)
        yield Evidence(
            where,
            what,
            f"{first[0]} {number(float(x.mean()), measure)}, "
            f"{second[0]} {number(float(y.mean()), measure)}: ratio {with_ends(times)}",
            of_difference(difference(x, y), wanted),
            times.value,
        )


def better(
    run: Run,
    panel: Panel,
    first: Contender | None,
    second: Contender | None,
    *,
    share: float = 1.0,
    measure: str = "",
) -> Iterator[Evidence]:
    """Check that the first policy is better than the second once a share of the rounds is over."""
    if first is None or second is None or first is second:
        return
    measure = measure or yardstick(run)
    a, b = both(run, panel, first, second, measure)
    if not a.empty:
        t = round_at(a, share)
        yield from compared(
            panel.title,
            f"{MEASURES[measure].short} after {t:,} rounds",
            (first.label, a[t]),
            (second.label, b[t]),
            wanted=-1 if MEASURES[measure].better == "low" else 1,
            measure=measure,
        )


def larger_advantage(
    large: tuple[Panel, Seeds], small: tuple[Panel, Seeds], who: str
) -> Iterator[Evidence]:
    """Check that the advantage over someone is larger in one panel than in another."""
    x, y = shared(large[1], small[1])
    if len(x):
        gap = difference(x, y)
        times = Estimate(*(float(np.exp(end)) for end in (gap.value, gap.low, gap.high)))
        yield Evidence(
            f"{large[0].title} against {small[0].title}",
            f"times better than {who}",
            f"{number(float(np.exp(x.mean())))} against {number(float(np.exp(y.mean())))}: "
            f"ratio {with_ends(times)}",
            of_difference(gap, wanted=1),
            times.value,
        )


def longer(
    where: str, what: str, first: tuple[str, Waits], second: tuple[str, Waits]
) -> Iterator[Evidence]:
    """Check that the first takes more rounds until something is reached.

    A run that never reaches it takes longer than one that does: at least all rounds. Two runs that
    never reach it say nothing about each other.

    Parameters
    ----------
    where
        The panel.
    what
        What is reached.
    first, second
        Names and rounds.
    """
    end = min(first[1].end, second[1].end)
    x, y = (np.where(v > end, np.inf, v) for v in shared(first[1].rounds, second[1].rounds))
    known = np.isfinite(x) | np.isfinite(y)
    if np.isfinite([x, y]).all():
        yield from compared(
            where,
            what,
            (first[0], first[1].rounds),
            (second[0], second[1].rounds),
            wanted=1,
        )
        return
    verdict = Verdict.UNDECIDED
    if known.any():
        gap = difference(np.minimum(x[known], end), np.minimum(y[known], end))
        verdict = of_difference(gap, wanted=1)
    words = f"{first[0]} {_waited(x)}, {second[0]} {_waited(y)}"
    yield Evidence(where, what, words, verdict, caveat=NOT_REACHED)


def later(late: tuple[Panel, Waits], early: tuple[Panel, Waits], who: str) -> Iterator[Evidence]:
    """Check that an obvious advantage over someone takes longer in one panel than in another."""
    yield from longer(
        f"{late[0].title} against {early[0].title}",
        f"rounds until {OBVIOUS:.0%} ahead of {who}",
        ("first panel", late[1]),
        ("second panel", early[1]),
    )


def at_least(
    where: str, what: str, values: Seeds, threshold: float, words: str, unit: str
) -> Evidence:
    """Check that the mean over seeds is at least a threshold."""
    found = estimate(values.to_numpy(np.float64))
    above = Estimate(found.value - threshold, found.low - threshold, found.high - threshold)
    verdict = Verdict.HOLDS if above.low >= 0 else of_difference(above, wanted=1)
    return Evidence(where, what, words, verdict, found.value, unit)


def _waited(rounds: Floats) -> str:
    there = rounds[np.isfinite(rounds)]
    gone = len(rounds) - len(there)
    words = [number(float(there.mean()))] if len(there) else []
    words += [f"{NOT_REACHED} in {gone} of {len(rounds)} runs"] if gone else []
    return " and ".join(words)
