"""The report as Markdown: tables of final values and the claims, for documents."""

import os
from collections.abc import Container, Iterable, Iterator, Sequence
from pathlib import Path

from clubcascade.model_file import atomic_write
from clubcascade.report.claims import CLAIMS, VACUOUS, Judged, judge, summary
from clubcascade.report.estimates import UNKNOWN, with_half
from clubcascade.report.folders import EDGE, Run, find_runs, first_look_words
from clubcascade.report.measures import EVERY


def write_markdown(folder: str | os.PathLike[str], out: str | os.PathLike[str]) -> Path:
    """Write the tables and the claims of a folder of results as Markdown."""
    runs, _ = find_runs(folder)
    judged = [judge(claim, runs) for claim in CLAIMS]
    quick = first_look_words(runs)
    lines = [f"**A first look**{quick}", ""] if quick else []
    lines += [*claims_lines(judged), *(line for run in runs for line in final_lines(run))]
    with atomic_write(Path(out)) as file:
        file.write("\n".join([*lines, ""]).encode())
    return Path(out)


def claims_lines(judged: Sequence[Judged]) -> Iterator[str]:
    """Yield the claims table: sentence, verdict, how many comparisons hold."""
    rows = []
    for number, each in enumerate(judged, start=1):
        found = summary(each) if each.evidence else "no data"
        verdict = f"**{each.verdict}**{f' ({VACUOUS})' if each.vacuous else ''}"
        rows.append([str(number), each.claim.where, f"“{each.claim.quote}”", verdict, found])
    return table(["", "where", "sentence", "verdict", "measured"], rows, left=range(5))


def final_lines(run: Run) -> Iterator[str]:
    """Yield the table of final values of a result folder, below a heading."""
    known = run.known
    yield from ["", f"### {escaped(run.heading)} (`{run.name}`)", ""]
    rows = [
        [
            panel,
            f"{policy}{EDGE if (panel, policy) in run.edges else ''}",
            *(with_half(values[n], n) if n in values else UNKNOWN for n in known),
        ]
        for (panel, policy), values in run.finals.items()
    ]
    yield from table(["panel", "policy", *(EVERY[name].short for name in known)], rows, left=(0, 1))
    yield from ["", escaped(run.edge_words)] if run.edges else []


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], left: Container[int] = (0,)
) -> Iterator[str]:
    r"""Yield the lines of a table; columns but those ``left`` are set to the right.

    >>> print(*table(["a", "b"], [["c|d", "1"]]), sep="\n")
    | a | b |
    |---|---:|
    | c\|d | 1 |
    """
    sides = ("---|" if at in left else "---:|" for at in range(len(heads)))
    line, *lines = (f"| {' | '.join(map(escaped, cells))} |" for cells in (heads, *rows))
    yield from [line, f"|{''.join(sides)}", *lines]


def escaped(text: str) -> str:
    """Return text that does not end its cell and is no HTML."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
