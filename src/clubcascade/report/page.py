"""The page: everything in one file that opens from disk and asks nobody for anything."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Any

import jinja2
from plotly.offline import get_plotlyjs

from clubcascade.experiment import read_experiment
from clubcascade.experiment.cell_store import atomic_write
from clubcascade.report.claims import CLAIMS, VACUOUS, Judged, Verdict, judge, summary
from clubcascade.report.estimates import UNKNOWN, with_half
from clubcascade.report.folders import EDGE, Broken, Run, find_runs, first_look_words, in_order
from clubcascade.report.measures import EVERY, MEASURES, log_scale, shown_measure
from clubcascade.report.page_data import page_data
from clubcascade.report.style import styles
from clubcascade.report.sweeps import sweeps, value_text
from clubcascade.report.tables import (
    best_labels,
    lengths_of,
    n_runs,
    provenance_rows,
    rounds_of,
    sweep_tables,
    whole_number,
)

NAME = "report.html"
MARKS = dict(zip(Verdict, "✓◐✗?–○", strict=True))


def write_report(folder: str | os.PathLike[str], out: str | os.PathLike[str] | None = None) -> Path:
    """Write the report of a result folder, or of a folder of result folders, as one HTML page.

    Parameters
    ----------
    folder
        Where the results are.
    out
        The page; by default ``report.html`` in that folder.

    Returns
    -------
    Path
        The page that was written.
    """
    runs, broken = find_runs(folder)
    path = Path(folder) / NAME if out is None else Path(out)
    content = page(runs, broken, [judge(claim, runs) for claim in CLAIMS]).encode()
    with atomic_write(path) as file:
        file.write(content)
    return path


def page(runs: Sequence[Run], broken: Sequence[Broken], judged: Sequence[Judged]) -> str:
    """Return the page."""
    there = {run.figure for run in runs}
    absent = {n: read_experiment(n).title for n in in_order() if n not in there}
    counts = Counter((each.verdict, each.vacuous) for each in judged)
    return _template().render(
        runs=runs,
        broken=broken,
        absent=absent,
        first_look=first_look_words(runs),
        judged=list(zip(judged, _repeated(judged), strict=True)),
        counts=[(*key, counts[key]) for key in product(Verdict, (False, True)) if counts[key]],
        data=page_data(runs),
    )


@cache
def _template() -> jinja2.Template:
    def asset(name: str) -> str:
        place = resources.files("clubcascade.report") / "assets" / name
        return place.read_text(encoding="utf-8")

    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.policies["json.dumps_kwargs"] = {
        "allow_nan": False,
        "ensure_ascii": False,
        "separators": (",", ":"),
    }
    helpers: tuple[Callable[..., Any], ...] = (
        *(best_labels, log_scale, n_runs, provenance_rows, shown_measure, styles, summary),
        *(sweep_tables, sweeps, lengths_of, rounds_of, value_text, whole_number, with_half),
    )
    environment.globals |= {helper.__name__: helper for helper in helpers} | {
        "css": asset("page.css"),
        "script": asset("page.js"),
        "plotly": get_plotlyjs(),
        "drawn": MEASURES,
        "edge_mark": EDGE,
        "marks": MARKS,
        "measures": EVERY,
        "unknown": UNKNOWN,
        "vacuous": VACUOUS,
    }
    return environment.from_string(asset("page.html"))


def _repeated(judged: Sequence[Judged]) -> Iterator[int | None]:
    """Yield the number of an earlier sentence with the same comparisons, or None."""
    first: dict[object, int] = {}
    for i, each in enumerate(judged, start=1):
        found = first.setdefault((each.claim.figures, each.claim.compare), i)
        yield found if each.claim.compare and found != i else None
