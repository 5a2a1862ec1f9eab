"""The same report as Markdown: tables of final values and the claims, for documents."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from clubcascade.experiment.cell_files import written
from clubcascade.report.claims import CLAIMS, VACUOUS, Judged, judge, summary
from clubcascade.report.finals import COLUMNS, final_estimates
from clubcascade.report.folders import EDGE, Run, edge_words, find_runs, first_look_words
from clubcascade.report.numbers import UNKNOWN, with_half
from clubcascade.report.page.header import heading
from clubcascade.report.page.tables import HEADS


def write_markdown(folder: str | os.PathLike[str], out: str | os.PathLike[str]) -> Path:
    """Write the tables and the claims of a folder of results as Markdown.

    Parameters
    ----------
    folder
        Where the results are.
    out
        The file to write.
    """
    runs, _ = find_runs(folder)
    judged = [judge(claim, runs) for claim in CLAIMS]
    path = Path(out)
    look = first_look_words(runs)
    lines = [f"**A first look**{look}", ""] if look else []
    lines += [*claims_lines(judged), *(line for run in runs for line in final_lines(run))]
    with written(path) as file:
        file.write("\n".join([*lines, ""]).encode())
    return path


def claims_lines(judged: Sequence[Judged]) -> Iterator[str]:
    """Yield the claims table: sentence, verdict, how many comparisons hold."""
    yield from ["| | where | sentence | verdict | measured |", "|---|---|---|---|---|"]
    for number, each in enumerate(judged, start=1):
        found = summary(each) if each.evidence else "no data"
        sentence = f"“{each.claim.quote}”"
        verdict = f"**{each.verdict}**{f' ({VACUOUS})' if each.vacuous else ''}"
        cells = (str(number), each.claim.where, sentence, verdict, found)
        yield row(cells)


def final_lines(run: Run) -> Iterator[str]:
    """Yield the table of final values of a result folder, below a heading."""
    finals = final_estimates(run)
    known = [name for name in COLUMNS if any(name in values for values in finals.values())]
    yield from ["", f"### {escaped(heading(run))} (`{run.name}`)", ""]
    yield row(["panel", "policy", *(HEADS[name] for name in known)])
    yield "|---" * 2 + "|---:" * len(known) + "|"
    for (panel, policy), values in finals.items():
        cells = (with_half(values[n], n) if n in values else UNKNOWN for n in known)
        yield row([panel, f"{policy}{EDGE if (panel, policy) in run.edges else ''}", *cells])
    edges = edge_words(run)
    yield from ["", escaped(edges)] if edges else []


def row(cells: Sequence[str]) -> str:
    r"""Return one row of a table.

    >>> print(row(["a|b", "c"]))
    | a\|b | c |
    """
    return f"| {' | '.join(escaped(cell) for cell in cells)} |"


def escaped(text: str) -> str:
    """Return text that does not end its cell and is no HTML."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
