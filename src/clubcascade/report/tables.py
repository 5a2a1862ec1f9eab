"""What the page's tables hold, as far as the template does not say it itself."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from clubcascade.experiment import read_experiment, shipped
from clubcascade.report.estimates import UNKNOWN, Estimate, with_half
from clubcascade.report.folders import Run
from clubcascade.report.measures import EVERY, MEASURES, shown_measure
from clubcascade.report.sweeps import Sweep, sweeps


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
