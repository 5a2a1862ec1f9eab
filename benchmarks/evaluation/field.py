"""The state of the field: every policy on every panel, one table and one heat map."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.evaluation.field_map import save_field_map
from benchmarks.evaluation.field_ratios import PanelRatios, Standing, panel_ratios, standings
from clubcascade import validation
from clubcascade.errors import InvalidArgument
from clubcascade.model_file import atomic_write
from clubcascade.report.contest import CLOSE
from clubcascade.report.estimates import UNKNOWN, Estimate, number, with_ends
from clubcascade.report.folders import Run, find_runs, first_look_words
from clubcascade.report.markdown import escaped, table

WORDS = """\
Policies: {policies}. Panels: {panels}. *Ratio*: what a policy lost in a panel, mean over the seeds,
over what the best policy there lost, the one that lost least; 1 is the best. *Lost* is regret, or
clicks missed where a folder has no table of first lists; in panels of newcomers, what was lost in
the lists of newcomers alone. *Best* and *within {close:g}* are shares of panels. All is over
the panels that a policy plays in: medians over different panels do not compare. Brackets: 95%
bootstrap intervals over seeds, the panels fixed. Policies that know the clusters are no rivals:
their ratio may be below 1. † in the map: a tuned value is at the edge of what was tried."""


def write_field(
    folder: str | os.PathLike[str],
    out: str | os.PathLike[str],
    picture: str | os.PathLike[str] | None = None,
    *,
    of: Sequence[str] = (),
) -> list[Path]:
    """Write how every policy did on every panel: a table as Markdown, and a heat map.

    Parameters
    ----------
    folder
        A result folder, or a folder of them.
    out
        The Markdown file.
    picture
        The heat map, a ``.png`` or ``.svg`` file; by default a PNG beside ``out``.
    of
        Names of experiments. Where some of them are there, the other folders do not count.
    """
    page = Path(out)
    validation.choice("ending of the page", page.suffix.lower(), (".md",))
    drawn = page.with_suffix(".png") if picture is None else Path(picture)
    runs, _ = find_runs(folder)
    runs = [run for run in runs if run.figure in of] or runs
    found = panel_ratios(runs)
    if not found:
        raise InvalidArgument(
            f"folder must have a panel where two policies or more have regret or missed clicks on "
            f"the same seeds, got {folder}"
        )
    save_field_map(found, drawn)
    link = Path(os.path.relpath(drawn, page.parent)).as_posix()
    with atomic_write(page) as file:
        file.write("\n".join([*field_lines(runs, found, link), ""]).encode())
    return [page, drawn]


def field_lines(runs: Sequence[Run], found: Sequence[PanelRatios], link: str) -> Iterator[str]:
    """Yield the words, the picture and the tables."""
    quick = first_look_words(runs)
    yield from [f"**A first look**{quick}", ""] if quick else []
    ends = standings(found)
    yield from [WORDS.format(policies=len(ends), panels=len(found), close=CLOSE), ""]
    yield from [f"![Ratio to the best policy of each panel, at the end]({link})", ""]
    early = {n: panel_ratios(runs, n) for n in (5, 20)}
    medians = {n: {s.label: s.median for s in standings(each)} for n, each in early.items()}
    heads = [f"median after {n} lists a user" for n in early]
    yield from _table(
        [*heads, "µs a round"],
        [
            (s, [*(_median(of.get(s.label)) for of in medians.values()), number(s.microseconds)])
            for s in ends
        ],
    )
    for n, each in early.items():
        if each:
            yield from ["", f"### After {n} lists a user", ""]
            yield from _table([], [(s, []) for s in standings(each)])
    gone = [f"{run.name}: {len(run.missing)}" for run in runs if run.missing]
    yield from ["", f"**Runs without results**: {escaped('; '.join(gone))}."] if gone else []


def _table(more: Sequence[str], rows: Sequence[tuple[Standing, Sequence[str]]]) -> Iterator[str]:
    heads = ["policy", "panels", "median ratio [95%]", "best", f"within {CLOSE:g}", "worst panel"]
    lines = []
    for s, cells in rows:
        shares = (UNKNOWN if math.isnan(x) else f"{x:.0%}" for x in (s.best, s.close))
        worst = f"{number(s.worst)}, {s.where}"
        lines.append([s.label, str(s.panels), _median(s.median), *shares, worst, *cells])
    return table([*heads, *more], lines, left=(0, 5))


def _median(found: Estimate | None) -> str:
    return with_ends(found, "ratio") if found else UNKNOWN
