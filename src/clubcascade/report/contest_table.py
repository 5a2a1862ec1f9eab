"""One policy against the best of the others, as Markdown: a table, and which goals are missed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from clubcascade.errors import InvalidArgument
from clubcascade.experiment.cell_files import written
from clubcascade.report.contest import POLICY, Contest, contests
from clubcascade.report.folders import EDGE, find_runs, first_look_words
from clubcascade.report.markdown import escaped, row
from clubcascade.report.numbers import UNKNOWN, number, with_ends, with_half
from clubcascade.report.page.header import heading
from clubcascade.report.shown import shown_measure

EVERYWHERE, MEDIAN, TO_TOLD, RAND_INDEX = 1.05, 0.75, 1.6, 0.95
"""The goals: times the best other policy in every panel and in the median one; times the policy
that knows the clusters; adjusted Rand index at the end."""

LONG, WIDE = 100_000, 0.5
"""The goal of the Rand index is for runs of so many rounds and clusters so far apart."""

HEADS = ("panel", "lost", "best other", "it lost", "ratio [95%]", "told lost", "ratio to it", "ARI")


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
    found = {run.name: (run, list(contests(run, policy))) for run in runs}
    lines: list[str] = []
    for run, there in found.values():
        if there:
            what = {"regret": "regret", "missed": "clicks missed"}[shown_measure(run.results)]
            seeds = _span(contest.seeds for contest in there)
            lines += [f"### {escaped(heading(run))} (`{run.name}`)", ""]
            lines += [f"Lost: {what}. Seeds: {seeds}. ± and brackets: 95% intervals.", ""]
            lines += [*contest_lines(there, bold=not run.first_look), ""]
            edges = [f"{c.panel.title}, {c.best}: {c.edge}" for c in there if c.edge]
            if edges:
                words = "tuned, and the best value is at the edge of what was tried"
                lines += [f"{EDGE.strip()} {words}: {escaped('; '.join(edges))}.", ""]
            if run.missing:
                lines += [f"**{len(run.missing)} runs have no results.**", ""]
    everything = [contest for _, there in found.values() for contest in there]
    judged = [c for run, there in found.values() for c in there if not run.first_look]
    look = first_look_words([run for run, there in found.values() if there])
    lines += [f"**A first look**{look}", ""] if look else []
    if not everything:
        raise InvalidArgument(
            f"policy must have met others where regret or missed clicks are shown, "
            f"got {policy!r} in {folder}"
        )
    with written(Path(out)) as file:
        file.write("\n".join([*lines, *(goal_lines(judged) if judged else ()), ""]).encode())
    return Path(out)


def contest_lines(found: Iterable[Contest], *, bold: bool = True) -> Iterator[str]:
    """Yield the table, one row per panel; where ``bold``, ratios that miss their goal are."""
    yield row(HEADS)
    yield "|---|---:|---|---:|---:|---:|---:|---:|"
    for each in found:
        told, times, index = UNKNOWN, UNKNOWN, UNKNOWN
        if each.told is not None and each.told_ratio is not None:
            told = with_half(each.told)
            times = _bold(with_ends(each.told_ratio, "ratio"), bold and _far_from_told(each))
        if each.rand_index is not None:
            index = _bold(number(each.rand_index, "rand_index"), bold and _unclear(each))
        yield row(
            [
                each.panel.title,
                with_half(each.ours),
                f"{each.best}{EDGE if each.edge else ''}",
                with_half(each.theirs),
                _bold(with_ends(each.ratio, "ratio"), bold and _behind(each)),
                told,
                times,
                index,
            ]
        )


def goal_lines(found: Sequence[Contest]) -> Iterator[str]:
    """Yield what was reached of each goal, and the panels that miss it."""
    median = float(np.median([each.ratio.value for each in found]))
    yield "### Goals"
    yield ""
    yield f"- Median ratio to the best other policy: {median:.3f} (goal: at most {MEDIAN})."
    words = f"ratio to the best other policy at most {EVERYWHERE}"
    yield from _goal(words, found, _behind, lambda each: with_ends(each.ratio, "ratio"))
    words = f"ratio to the policy that knows the clusters at most {TO_TOLD}"
    told = [each for each in found if each.told_ratio is not None]
    yield from _goal(
        words,
        told,
        _far_from_told,
        lambda e: with_ends(e.told_ratio, "ratio") if e.told_ratio else "",
    )
    words = f"adjusted Rand index above {RAND_INDEX}, gap {WIDE} and more, {LONG:,} rounds"
    clear = [each for each in found if _should_be_clear(each)]
    yield from _goal(words, clear, _unclear, lambda each: f"{each.rand_index:.3f}")


def _goal(
    words: str,
    found: Sequence[Contest],
    misses: Callable[[Contest], bool],
    reached: Callable[[Contest], str],
) -> Iterator[str]:
    missed = [each for each in found if misses(each)]
    good = len(found) - len(missed)
    share = f" ({good / len(found):.0%})" if found else ""
    yield f"- {words[0].upper()}{words[1:]}: {good} of {len(found)} panels{share}."
    for each in missed:
        yield f"    - {escaped(each.panel.title)}: {reached(each)}"


def _behind(each: Contest) -> bool:
    return not each.ratio.value <= EVERYWHERE


def _far_from_told(each: Contest) -> bool:
    return each.told_ratio is not None and not each.told_ratio.value <= TO_TOLD


def _should_be_clear(each: Contest) -> bool:
    """Whether clusters are there to be known, far apart, and the runs long."""
    gap = each.panel.parameters.get("gap")
    far = gap == "orthogonal" or (isinstance(gap, int | float) and gap >= WIDE)
    known = each.told is not None and each.rand_index is not None
    return known and far and each.rounds >= LONG


def _unclear(each: Contest) -> bool:
    return _should_be_clear(each) and not (each.rand_index or 0.0) > RAND_INDEX


def _bold(text: str, wanted: bool) -> str:
    return f"**{text}**" if wanted else text


def _span(counts: Iterable[int]) -> str:
    distinct = sorted(set(counts))
    return f"{distinct[0]}" if len(distinct) == 1 else f"{distinct[0]} to {distinct[-1]}"
