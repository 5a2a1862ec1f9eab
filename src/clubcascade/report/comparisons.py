"""The comparisons that claims are checked by. Each reads one result folder and yields evidence."""

import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from clubcascade.core import Floats
from clubcascade.experiment.schema import Panel
from clubcascade.report.estimates import Estimate, difference, estimate, number, ratio, with_ends
from clubcascade.report.folders import Run
from clubcascade.report.measures import EVERY, MEASURES, MICROSECONDS, ceiling_of
from clubcascade.report.selection import Comparison, cases
from clubcascade.report.series import (
    Seeds,
    Waits,
    advantage,
    ahead_since,
    both,
    default_measure,
    last,
    round_at,
    shared,
    split_at,
    table,
)
from clubcascade.report.verdicts import NOT_REACHED, VACUOUS, Evidence, Verdict, of_difference


def compare(run: Run, spec: Comparison) -> Iterator[Evidence]:
    """Yield what a result folder says; nothing where it lacks the policies or panels."""
    return KINDS[spec.kind](run, spec)


def better(run: Run, spec: Comparison) -> Iterator[Evidence]:
    """Check that the first policy is better than the second after a share of the rounds."""
    measure = spec.measure or default_measure(run)
    for panel, _, first, second in cases(run, spec):
        a, b = both(run, panel, first, second, measure)
        if not a.empty:
            t = round_at(a, spec.after)
            timed = measure == MICROSECONDS
            what = EVERY[measure].label if timed else f"{EVERY[measure].short} after {t:,} rounds"
            sides = (first.label, a[t]), (second.label, b[t])
            wanted = -1 if timed or EVERY[measure].better == "low" else 1
            yield from _compared(panel.title, what, *sides, wanted=wanted, measure=measure)


def growth(run: Run, spec: Comparison) -> Iterator[Evidence]:
    """Check that the first adds less regret, or gains more clicks per round, up to the end."""
    for panel, _, first, second in cases(run, spec):
        a, b = both(run, panel, first, second, spec.measure)
        if a.empty:
            continue
        t, end = round_at(a, spec.since), int(a.columns[-1])
        x, y = a[end] - a[t], b[end] - b[t]
        span = f"from round {t:,} to {end:,}"
        if spec.measure == "regret":
            sides = (first.label, x), (second.label, y)
            yield from _compared(panel.title, f"regret {span}", *sides, wanted=-1)
            continue
        u, v = shared(x, y)  # what may fall or stay has no ratio: the difference
        words = f"{first.label} {np.mean(u):+.4f}, {second.label} {np.mean(v):+.4f}"
        verdict = of_difference(difference(u, v), wanted=1)
        gap = float(np.mean(u) - np.mean(v))
        yield Evidence(panel.title, f"growth of CTR {span}", words, verdict, gap, "difference")


def rises(run: Run, spec: Comparison) -> Iterator[Evidence]:
    """Check that a policy has a lower value early than at the end."""
    for panel, _, policy, _ in cases(run, spec):
        values = table(run, panel, policy, spec.measure)
        if not values.empty:
            t, end = round_at(values, spec.after), int(values.columns[-1])
            what = f"{MEASURES[spec.measure].short} of {policy.label}"
            sides = (f"after {t:,} rounds", values[t]), (f"after {end:,}", values[end])
            yield from _compared(panel.title, what, *sides, wanted=-1, measure=spec.measure)


def larger_advantage(run: Run, spec: Comparison) -> Iterator[Evidence]:
    """Check that the first policy's advantage at the end is larger in the first panel."""
    for panel, other, first, second in cases(run, spec):
        a, b = (advantage(run, each, first, second, spec.measure) for each in (panel, other))
        x, y = shared(a, b)
        if len(x):
            gap = difference(x, y)
            times = Estimate(*(float(np.exp(end)) for end in (gap.value, gap.low, gap.high)))
            means = " against ".join(number(float(np.exp(side.mean()))) for side in (x, y))
            what, words = f"times better than {second.label}", f"{means}: ratio {with_ends(times)}"
            verdict = of_difference(gap, wanted=1)
            yield Evidence(_against(panel, other), what, words, verdict, times.value)


def later_ahead(run: Run, spec: Comparison) -> Iterator[Evidence]:
    """Check that the first policy needs more rounds to stay ahead in the first panel."""
    for panel, other, first, second in cases(run, spec):
        a, b = (ahead_since(run, each, first, second, spec.margin) for each in (panel, other))
        what = f"rounds until {spec.margin:.0%} ahead of {second.label}"
        yield from _later(_against(panel, other), what, ("first panel", a), ("second panel", b))


def later_split(run: Run, spec: Comparison) -> Iterator[Evidence]:
    """Check that the first policy needs more rounds to have the true number of clusters."""
    for panel, _, *pair in cases(run, spec):
        truth = panel.parameters.get("n_clusters")
        if truth is not None:
            first, second = ((c.label, split_at(run, panel, c, truth)) for c in pair)
            what = f"rounds until there are {truth} clusters"
            yield from _later(panel.title, what, first, second)


def between_panels(run: Run, spec: Comparison) -> Iterator[Evidence]:
    """Check that a policy's value at the end is higher, or lower, in the first panel."""
    for panel, other, policy, _ in cases(run, spec):
        a, b = (last(table(run, each, policy, spec.measure)) for each in (panel, other))
        tops = [ceiling_of(run.results, p.title) if spec.of_oracle else 1.0 for p in (panel, other)]
        if tops[0] and tops[1]:
            sides = ("first panel", a / tops[0]), ("second panel", b / tops[1])
            wanted = 1 if spec.expected == "higher" else -1
            where, what = _against(panel, other), spec.what.format(policy=policy.label)
            yield from _compared(where, what, *sides, wanted=wanted, measure=spec.measure)


def true_number(run: Run, spec: Comparison) -> Iterator[Evidence]:
    """Check that a policy ends with the true number of clusters."""
    for panel, _, policy, _ in cases(run, spec):
        truth = panel.parameters.get("n_clusters")
        counts = table(run, panel, policy, "n_clusters")
        if truth is None or counts.empty:
            continue
        start, end = (float(counts.iloc[:, i].mean()) for i in (0, -1))
        what = f"clusters after {int(counts.columns[-1]):,} rounds"
        words = f"{number(start)} at first, {number(end)} at last, {truth} in truth"
        verdict = Verdict.HOLDS if abs(end - truth) < 0.5 else Verdict.FAILS
        yield Evidence(panel.title, what, f"{policy.label}: {words}", verdict, end, "clusters")


def true_clusters(run: Run, spec: Comparison) -> Iterator[Evidence]:
    """Check that the adjusted Rand index at the end is at least a threshold."""
    for panel, _, policy, _ in cases(run, spec):
        index = table(run, panel, policy, "rand_index")
        if index.empty:
            continue
        found = estimate(last(index).to_numpy(np.float64))
        words = f"{policy.label} {with_ends(found, 'rand_index')}"
        counts = last(table(run, panel, policy, "n_clusters"))
        if len(counts):
            truth = panel.parameters.get("n_clusters", "unknown many")
            words += f"; {number(float(counts.mean()))} clusters, {truth} in truth"
        best = index.mean()
        words += f"; at best {number(float(best.max()), 'rand_index')}"
        words += f" after {int(str(best.idxmax())):,} rounds"
        ends = (end - spec.at_least for end in (found.value, found.low, found.high))
        above = Estimate(*ends)
        verdict = Verdict.HOLDS if above.low >= 0 else of_difference(above, wanted=1)
        what = f"adjusted Rand index after {int(index.columns[-1]):,} rounds"
        unit = "adjusted Rand index"
        yield Evidence(panel.title, what, words, verdict, found.value, unit)


def below_bound(run: Run, spec: Comparison) -> Iterator[Evidence]:
    """Check that no run of the first policy ever has more regret than the second, a bound."""
    for panel, _, policy, bound in cases(run, spec):
        a, b = both(run, panel, policy, bound, "regret")
        if a.empty:
            continue
        end = int(a.columns[-1])
        regret, limit = float(a[end].mean()), float(b[end].mean())
        words = f"{policy.label} {number(regret)}, {bound.label} {number(limit)}"
        caveat = VACUOUS if limit > end else ""
        words += f"; the bound is above the {end:,} rounds: vacuous" if caveat else ""
        verdict = Verdict.HOLDS if (a <= b).to_numpy().all() else Verdict.FAILS
        what = f"regret at every recorded round up to {end:,}"
        yield Evidence(panel.title, what, words, verdict, regret / limit, caveat=caveat)


def growth_order(run: Run, spec: Comparison) -> Iterator[Evidence]:
    """Check that regret grows no faster over the second half than sqrt(T) ln(T) does."""
    for panel, _, policy, _ in cases(run, spec):
        regret = table(run, panel, policy, "regret")
        if regret.empty:
            continue
        half, end = round_at(regret, 0.5), int(regret.columns[-1])
        if half < 2 or half == end or not (regret[half] > 0).all():
            continue
        rise = math.log(end / half)
        ends, halves = (regret[t].to_numpy(np.float64) for t in (end, half))
        power = np.log(ends / halves) / rise
        allowed = 0.5 + math.log(math.log(end) / math.log(half)) / rise
        found = estimate(power)
        what = f"power of t by which regret grows from round {half:,} to {end:,}"
        words = f"{policy.label} {with_ends(found)}; √T ln T: {allowed:.2f}"
        verdict = of_difference(estimate(power - allowed), wanted=-1)
        yield Evidence(panel.title, what, words, verdict, found.value, "power")


KINDS: Mapping[str, Callable[[Run, Comparison], Iterator[Evidence]]] = {
    each.__name__: each
    for each in (
        *(better, growth, rises, larger_advantage, later_ahead, later_split),
        *(between_panels, true_number, true_clusters, below_bound, growth_order),
    )
}
"""The comparisons by name."""


def _against(panel: Panel, other: Panel) -> str:
    return f"{panel.title} against {other.title}"


def _compared(
    where: str,
    what: str,
    first: tuple[str, Seeds],
    second: tuple[str, Seeds],
    *,
    wanted: int,
    measure: str = "",
) -> Iterator[Evidence]:
    """Compare two values over the seeds that both have; ``wanted`` is the claimed sign."""
    x, y = shared(first[1], second[1])
    if len(x):
        times = ratio(x, y)
        words = (
            f"{first[0]} {number(float(x.mean()), measure)}, "
            f"{second[0]} {number(float(y.mean()), measure)}: ratio {with_ends(times)}"
        )
        verdict = of_difference(difference(x, y), wanted)
        yield Evidence(where, what, words, verdict, times.value)


def _later(
    where: str, what: str, first: tuple[str, Waits], second: tuple[str, Waits]
) -> Iterator[Evidence]:
    """Check that an event comes later to the first.

    A run that never reaches it takes longer than one that does: at least all rounds. Two runs that
    never reach it say nothing about each other.
    """
    end = min(first[1].end, second[1].end)
    x, y = (np.where(v > end, np.inf, v) for v in shared(first[1].rounds, second[1].rounds))
    known = np.isfinite(x) | np.isfinite(y)
    if np.isfinite([x, y]).all():
        sides = (first[0], first[1].rounds), (second[0], second[1].rounds)
        yield from _compared(where, what, *sides, wanted=1)
        return
    verdict = Verdict.UNDECIDED
    if known.any():
        gap = difference(np.minimum(x[known], end), np.minimum(y[known], end))
        verdict = of_difference(gap, wanted=1)
    words = f"{first[0]} {_waited(x)}, {second[0]} {_waited(y)}"
    yield Evidence(where, what, words, verdict, caveat=NOT_REACHED)


def _waited(rounds: Floats) -> str:
    there = rounds[np.isfinite(rounds)]
    gone = len(rounds) - len(there)
    words = [number(float(there.mean()))] if len(there) else []
    words += [f"{NOT_REACHED} in {gone} of {len(rounds)} runs"] if gone else []
    return " and ".join(words)
