"""One policy against the best of the others, panel by panel, and a table of it as Markdown."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from clubcascade.errors import InvalidArgument
from clubcascade.experiment.bounds import BOUNDS
from clubcascade.experiment.cell_store import atomic_write
from clubcascade.experiment.config import Panel
from clubcascade.report.estimates import (
    UNKNOWN,
    Estimate,
    estimate,
    number,
    share,
    with_ends,
    with_half,
)
from clubcascade.report.first_lists import first_list_goals, first_list_lines
from clubcascade.report.folders import EDGE, KNOWN, POLICY, Run, find_runs, first_look_words
from clubcascade.report.markdown import escaped, row
from clubcascade.report.measures import shown_measure

LOST = {"regret": "regret", "missed": "clicks missed"}
"""What can be compared: less is better, and none is lost by the best lists."""

EVERYWHERE, MEDIAN, TO_KNOWN, RAND_INDEX = 1.05, 0.75, 1.6, 0.95
"""The goals: times the best other policy in every panel and in the median one; times the policy
that knows the clusters; adjusted Rand index at the end."""

LONG, WIDE = 100_000, 0.5
"""The goal of the Rand index is for runs of so many rounds and clusters so far apart."""

HEADS = "panel,lost,best other,it lost,ratio [95%],known clusters lost,ratio to it,ARI".split(",")


@dataclass(frozen=True, slots=True)
class Contest:
    """How a policy did in a panel.

    ``ours`` is what it lost: regret, or clicks missed. ``best`` is the other policy that lost least
    on average, found on the very runs that are compared, which favours it; ``theirs`` is what it
    lost, ``ratio`` is ``ours / theirs``, paired by seed. ``known`` is what the policy that knows
    the clusters lost. ``rand_index`` is that of the last round. What is unknown is None. ``edge``
    says which tuned values of the best other policy lie at the edge of what was tried.
    """

    panel: Panel
    rounds: int
    seeds: int
    ours: Estimate
    best: str
    theirs: Estimate
    ratio: Estimate
    known: Estimate | None
    known_ratio: Estimate | None
    rand_index: float | None
    edge: str = ""

    @property
    def behind(self) -> bool:
        """Whether it misses the goal against the best other policy."""
        return not self.ratio.value <= EVERYWHERE

    @property
    def far_from_known(self) -> bool:
        """Whether it misses the goal against the policy that knows the clusters."""
        return self.known_ratio is not None and not self.known_ratio.value <= TO_KNOWN

    @property
    def separable(self) -> bool:
        """Whether clusters are there to be known, far apart, and the runs long."""
        gap = self.panel.parameters.get("gap")
        far = gap == "orthogonal" or (isinstance(gap, int | float) and gap >= WIDE)
        known = self.known is not None and self.rand_index is not None
        return known and far and self.rounds >= LONG

    @property
    def unclear(self) -> bool:
        """Whether it misses the goal of the Rand index."""
        return self.separable and not (self.rand_index or 0.0) > RAND_INDEX


def contests(run: Run, policy: str = POLICY) -> Iterator[Contest]:
    """Yield the contests of a result folder; panels without the policy or others are left out.

    Of several labels of the policy the first counts.
    """
    measure = shown_measure(run.results)
    if measure not in LOST:
        return
    tables = run.by_seed(measure)
    for panel in run.results.experiment.panels:
        there = run.results.experiment.policies_of(panel)
        there = tuple(c for c in there if (panel.title, c.label) in tables)
        mine = [c.label for c in there if c.policy == policy]
        rivals = [c.label for c in there if c.policy not in (policy, *KNOWN, *BOUNDS)]
        known = [c.label for c in there if c.policy in KNOWN][:1]
        labels = [*mine[:1], *rivals, *known]
        if not mine or not rivals:
            continue
        last = [tables[panel.title, label].iloc[:, -1] for label in labels]
        ends = pd.concat(last, axis=1, join="inner", keys=labels)
        if ends.empty:
            continue
        best = str(ends[rivals].mean().idxmin())
        ours, theirs, oracle = (
            ends[label].to_numpy(np.float64) for label in (mine[0], best, *(known or [best]))
        )
        index = run.by_seed("rand_index").get((panel.title, mine[0]))
        yield Contest(
            panel=panel,
            rounds=int(tables[panel.title, mine[0]].columns[-1]),
            seeds=len(ends),
            ours=estimate(ours),
            best=best,
            theirs=estimate(theirs),
            ratio=share(ours, theirs),
            known=estimate(oracle) if known else None,
            known_ratio=share(ours, oracle) if known else None,
            rand_index=None if index is None else float(index.iloc[:, -1].mean()),
            edge=run.edges.get((panel.title, best), ""),
        )


def write_contests(
    folder: str | os.PathLike[str], out: str | os.PathLike[str], policy: str = POLICY
) -> Path:
    """Write how a policy did against the best of the others, as Markdown.

    Parameters
    ----------
    folder
        A result folder, or a folder of them. Those where the policy met nobody are left out.
    out
        The file to write.
    policy
        Name of the policy that is judged.
    """
    runs, _ = find_runs(folder)
    found = [(run, there) for run in runs if (there := list(contests(run, policy)))]
    if not found:
        raise InvalidArgument(
            f"policy must have met others where regret or missed clicks are shown, "
            f"got {policy!r} in {folder}"
        )
    lines = [line for run, there in found for line in _section(run, there, policy)]
    quick = first_look_words([run for run, _ in found])
    lines += [f"**A first look**{quick}", ""] if quick else []
    whole = [(run, there) for run, there in found if not run.first_look]
    early = [run for run, _ in whole if not run.results.visits.empty]
    if early:
        lines += ["### Goals", "", *first_list_goals(early, policy)]
    elif whole:  # folders of before there was a table of first lists, and goals for them
        lines += goal_lines([each for _, there in whole for each in there])
    with atomic_write(Path(out)) as file:
        file.write("\n".join([*lines, ""]).encode())
    return Path(out)


def contest_lines(found: Iterable[Contest], *, bold: bool = True) -> Iterator[str]:
    """Yield the table, one row per panel; where ``bold``, what misses its goal is."""

    def mark(text: str, missed: bool) -> str:
        return f"**{text}**" if bold and missed else text

    yield row(HEADS)
    yield "|---|---:|---|---:|---:|---:|---:|---:|"
    for each in found:
        known, times, index = each.known, each.known_ratio, each.rand_index
        yield row(
            [
                each.panel.title,
                with_half(each.ours),
                f"{each.best}{EDGE if each.edge else ''}",
                with_half(each.theirs),
                mark(with_ends(each.ratio, "ratio"), each.behind),
                with_half(known) if known else UNKNOWN,
                mark(with_ends(times, "ratio"), each.far_from_known) if times else UNKNOWN,
                UNKNOWN if index is None else mark(number(index, "rand_index"), each.unclear),
            ]
        )


def goal_lines(found: Sequence[Contest]) -> Iterator[str]:
    """Yield what was reached of each goal, and the panels that miss it."""
    median = float(np.median([each.ratio.value for each in found]))
    yield from ["### Goals", ""]
    yield f"- Median ratio to the best other policy: {median:.3f} (goal: at most {MEDIAN})."
    yield from _goal(
        f"Ratio to the best other policy at most {EVERYWHERE}",
        [(each, each.behind) for each in found],
        lambda each: with_ends(each.ratio, "ratio"),
    )
    yield from _goal(
        f"Ratio to the policy that knows the clusters at most {TO_KNOWN}",
        [(each, each.far_from_known) for each in found if each.known_ratio is not None],
        lambda each: with_ends(each.known_ratio, "ratio") if each.known_ratio else "",
    )
    yield from _goal(
        f"Adjusted Rand index above {RAND_INDEX}, gap {WIDE} and more, {LONG:,} rounds",
        [(each, each.unclear) for each in found if each.separable],
        lambda each: f"{each.rand_index:.3f}",
    )


def _goal(
    words: str, found: Sequence[tuple[Contest, bool]], reached: Callable[[Contest], str]
) -> Iterator[str]:
    good = sum(not missed for _, missed in found)
    part = f" ({good / len(found):.0%})" if found else ""
    yield f"- {words}: {good} of {len(found)} panels{part}."
    for each, missed in found:
        if missed:
            yield f"    - {escaped(each.panel.title)}: {reached(each)}"


def _section(run: Run, found: Sequence[Contest], policy: str) -> Iterator[str]:
    """Yield the heading, the table and the notes of one result folder."""
    counts = sorted({each.seeds for each in found})
    seeds = " to ".join(str(n) for n in dict.fromkeys([counts[0], counts[-1]]))
    yield from [f"### {escaped(run.heading)} (`{run.name}`)", ""]
    lost = LOST[shown_measure(run.results)]
    yield from [f"Lost: {lost}. Seeds: {seeds}. ± and brackets: 95% intervals.", ""]
    yield from [*contest_lines(found, bold=not run.first_look), ""]
    yield from first_list_lines(run, policy)
    edges = "; ".join(
        f"{each.panel.title}, {each.best}: {each.edge}" for each in found if each.edge
    )
    if edges:
        words = "tuned, and the best value is at the edge of what was tried"
        yield from [f"{EDGE.strip()} {words}: {escaped(edges)}.", ""]
    if run.missing:
        yield from [f"**{len(run.missing)} runs have no results.**", ""]
