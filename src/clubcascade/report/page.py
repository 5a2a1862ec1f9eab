"""The page: everything in one file that opens from disk and asks nobody for anything."""

import math
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Any

import jinja2
from plotly.offline import get_plotlyjs

from clubcascade.experiment import read_experiment, shipped
from clubcascade.experiment.config import value_text
from clubcascade.model_file import atomic_write
from clubcascade.report.claims import CLAIMS, VACUOUS, Judged, Verdict, judge, summary
from clubcascade.report.estimates import UNKNOWN, Estimate, with_half
from clubcascade.report.folders import EDGE, Broken, Run, find_runs, first_look_words, in_order
from clubcascade.report.measures import EVERY, MEASURES, log_scale, shown_measure
from clubcascade.report.page_data import page_data
from clubcascade.report.style import styles
from clubcascade.report.sweeps import Sweep, sweeps

NAME = "report.html"
MARKS = dict(zip(Verdict, "✓◐✗?–○", strict=True))


def write_report(folder: str | os.PathLike[str], out: str | os.PathLike[str] | None = None) -> Path:
    """Write the report of a result folder, or of a folder of result folders, as one HTML page.

    The page is by default ``report.html`` in that folder.
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


def best_labels(run: Run, panel: str, name: str) -> set[str]:
    """Return the policies with the best mean in a panel; none where a measure has no good side."""
    means = {
        label: values[name].value
        for (where, label), values in run.finals.items()
        if where == panel and name in values
    }
    better = EVERY[name].better
    if not better or len(set(means.values())) < 2:
        return set()
    top = min(means.values()) if better == "low" else max(means.values())
    return {label for label, value in means.items() if value == top}


def span(numbers: Sequence[int]) -> str:
    """Write the smallest and the largest number, or the one.

    >>> span([5_000, 100, 200]), span([4, 4])
    ('100 to 5,000', '4')
    """
    return " to ".join(dict.fromkeys(f"{n:,}" for n in (min(numbers), max(numbers))))


def rounds_of(run: Run) -> str:
    """Return the rounds of the panels: from the shortest to the longest."""
    experiment = run.results.experiment
    return span([experiment.rounds_of(panel) for panel in experiment.panels])


def lengths_of(run: Run) -> str:
    """Return the lengths of the lists of the panels."""
    experiment = run.results.experiment
    return span([experiment.k_of(panel) for panel in experiment.panels])


def whole_number(run: Run) -> int:
    """Return how many panels the shipped experiment has; 0 where there is none."""
    return len(read_experiment(run.figure).panels) if run.figure in shipped() else 0


def n_runs(run: Run) -> int:
    """Return how many runs have results."""
    return len(run.results.curves[["panel", "policy", "seed"]].drop_duplicates())


def provenance_rows(content: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Yield all that is known about where results came from, inner tables by their path."""
    for key, value in content.items():
        if isinstance(value, Mapping):
            yield from provenance_rows(value, f"{before}{key} ")
        else:
            yield f"{before}{key}", _text(value)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_text(entry) for entry in value) or UNKNOWN
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {text}" for key, text in provenance_rows(value))
    return UNKNOWN if value is None else str(value)


def sweep_tables(run: Run) -> Iterator[dict[str, Any]]:
    """Yield a table for every sweep over two parameters and every panel with results."""
    measure, experiment = shown_measure(run.results), run.results.experiment
    for sweep, panel in product(sweeps(experiment.policies), experiment.panels):
        there = {label: run.finals.get((panel.title, label), {}) for label in sweep.labels}
        values = {label: found[measure] for label, found in there.items() if measure in found}
        if values:
            title = f"{panel.title}: {MEASURES[measure].short} of {sweep.policy}, greener is better"
            rows = _sweep_rows(sweep, values, MEASURES[measure].better == "low")
            yield {"title": title, "sweep": sweep, "rows": rows}


def _sweep_rows(sweep: Sweep, values: Mapping[str, Estimate], low: bool) -> list[dict[str, Any]]:
    """Return name and cells of each row: a text, and how good it is from 0 to 1."""
    positive = min(found.value for found in values.values()) > 0
    scaled = {k: math.log(v.value) if positive else v.value for k, v in values.items()}
    worst, best = max(scaled.values()), min(scaled.values())
    if not low:
        worst, best = best, worst
    rows = []
    for row in sweep.rows:
        cells = []
        for label in (row.labels.get(column, "") for column in sweep.columns):
            share = (scaled.get(label, worst) - worst) / (best - worst) if best != worst else 1.0
            cells.append((with_half(values[label]) if label in values else "", f"{share:.2f}"))
        name = f"{row.name} ({row.limit})" if row.limit else row.name
        rows.append({"name": name, "limit": bool(row.limit), "cells": cells})
    return rows
