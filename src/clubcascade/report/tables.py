"""What the page's tables hold: final values, sweeps, parameters, provenance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from clubcascade.experiment import read_experiment, shipped
from clubcascade.report.estimates import UNKNOWN, Estimate, with_half
from clubcascade.report.folders import Run
from clubcascade.report.measures import EVERY, MEASURES, log_scale, shown_measure
from clubcascade.report.style import styles
from clubcascade.report.sweeps import Sweep, sweeps, value_text

SHOWN = 20
"""Missing runs that are named."""


def run_facts(run: Run) -> dict[str, Any]:
    """Return what stands in the head of a run's section, and in its row of the first table."""
    experiment, origin = run.results.experiment, run.provenance
    seeds = len(experiment.seeds)
    rounds = [experiment.rounds_of(panel) for panel in experiment.panels]
    lengths = [experiment.k_of(panel) for panel in experiment.panels]
    done = len(run.results.curves[["panel", "policy", "seed"]].drop_duplicates())
    whole = len(read_experiment(run.figure).panels) if run.figure in shipped() else 0
    machine = [str(origin[key]) for key in ("platform", "processor") if origin.get(key)]
    machine += [f"{origin['cores']} cores"] if origin.get("cores") else []
    failed = {name for name, _ in run.failures}
    missing = [name for name in run.missing if name not in failed]
    rest = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
    swept = sweeps(experiment.policies)
    known = [name for name in MEASURES if run.by_seed(name)]
    return {
        "seeds": f"{seeds} seed{'s' * (seeds > 1)}",
        "rounds": _span(rounds),
        "lengths": _span(lengths),
        "runs": f"{done:,}",
        "finished": str(origin.get("finished") or UNKNOWN)[:16].replace("T", " "),
        "commit": str(origin.get("commit") or UNKNOWN)[:10],
        "machine": ", ".join(machine) or UNKNOWN,
        "bands": "bands: 95% interval of the mean"
        if seeds > 1
        else "one run only, so no intervals",
        "left_out": max(0, whole - len(experiment.panels)),
        "whole": whole,
        "n_missing": len(missing),
        "missing": f"{'; '.join(missing[:SHOWN])}{rest}",
        "empty": run.results.curves.empty,
        "is_map": any(sweep.is_map for sweep in swept),
        "measures": known,
        "shown": shown_measure(run.results),
        "log": log_scale(run.results, shown_measure(run.results)),
        "styles": styles(experiment),
    }


def final_groups(run: Run) -> Iterator[dict[str, Any]]:
    """Yield, panel by panel, the rows of the table of final values, the best ones marked."""
    looks = styles(run.results.experiment)
    for panel in run.results.experiment.panels:
        there = {label: run.finals.get((panel.title, label)) for label in looks}
        found = {label: values for label, values in there.items() if values}
        best = {name: _best(found, name) for name in run.known}
        rows = [
            {
                "label": label,
                "edge": (panel.title, label) in run.edges,
                "cells": [
                    (
                        with_half(values[name], name) if name in values else UNKNOWN,
                        label in best[name],
                    )
                    for name in run.known
                ],
            }
            for label, values in found.items()
        ]
        yield {"title": panel.title, "rows": rows}


def parameter_tables(run: Run) -> list[tuple[tuple[str, ...], list[tuple[Any, ...]]]]:
    """Return tables of heads and rows: a name, its kind, the parameters, and what is flagged."""
    experiment = run.results.experiment

    def texts(parameters: Mapping[str, Any], word: str = "=") -> list[str]:
        return [f"{key} {word} {value_text(value)}" for key, value in parameters.items()]

    policies = [
        (c.label, c.policy, [*texts(c.parameters), *texts(c.tune, "tuned among")], "")
        for c in experiment.policies
    ]
    panels = [(p.title, p.environment, texts(p.parameters), "") for p in experiment.panels]
    tuned = [
        (panel.title, label, texts(values), run.edges.get((panel.title, label), ""))
        for panel in experiment.panels
        for label, values in panel.tuned.items()
    ]
    tables: list[tuple[tuple[str, ...], list[tuple[Any, ...]]]] = [
        (("policy", "kind", "parameters"), [*policies]),
        (("panel", "environment", "parameters"), [*panels]),
        (("panel", "tuned policy", "chosen on seeds of their own"), [*tuned]),
    ]
    return [each for each in tables if each[1]]


def provenance_rows(content: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Yield all that is known about where results came from, inner tables by their path."""
    for key, value in content.items():
        if isinstance(value, Mapping):
            yield from provenance_rows(value, f"{before}{key} ")
        else:
            yield f"{before}{key}", _text(value)


def sweep_tables(run: Run) -> Iterator[dict[str, Any]]:
    """Yield a table for every sweep over two parameters and every panel with results."""
    measure = shown_measure(run.results)
    for sweep, panel in product(
        sweeps(run.results.experiment.policies), run.results.experiment.panels
    ):
        there = {label: run.finals.get((panel.title, label), {}) for label in sweep.labels}
        values = {label: found[measure] for label, found in there.items() if measure in found}
        if values:
            title = f"{panel.title}: {MEASURES[measure].short} of {sweep.policy}, greener is better"
            rows = _sweep_rows(sweep, values, MEASURES[measure].better == "low")
            yield {"title": title, "sweep": sweep, "rows": rows}


def _sweep_rows(sweep: Sweep, values: Mapping[str, Estimate], low: bool) -> list[dict[str, Any]]:
    shares = _shares({label: found.value for label, found in values.items()}, low)
    rows = []
    for row in sweep.rows:
        labels = [row.labels.get(column, "") for column in sweep.columns]
        cells = [
            (with_half(values[label]), f"{shares[label]:.2f}") if label in values else ("", "0")
            for label in labels
        ]
        name = f"{row.name} ({row.limit})" if row.limit else row.name
        rows.append({"name": name, "limit": bool(row.limit), "cells": cells})
    return rows


def _shares(means: Mapping[str, float], low: bool) -> dict[str, float]:
    """Return how good values are, from 0 to 1: by their logarithms where all are positive."""
    positive = min(means.values()) > 0
    scaled = {label: math.log(v) if positive else v for label, v in means.items()}
    least, most = min(scaled.values()), max(scaled.values())
    if least == most:
        return dict.fromkeys(scaled, 1.0)
    shares = {label: (value - least) / (most - least) for label, value in scaled.items()}
    return {label: 1 - share for label, share in shares.items()} if low else shares


def _best(found: Mapping[str, Mapping[str, Estimate]], name: str) -> set[str]:
    """Return the policies with the best mean; none where a measure has no good side."""
    better = EVERY[name].better
    means = {label: values[name].value for label, values in found.items() if name in values}
    if not better or len(set(means.values())) < 2:
        return set()
    top = min(means.values()) if better == "low" else max(means.values())
    return {label for label, value in means.items() if value == top}


def _span(numbers: Sequence[int]) -> str:
    return " to ".join(dict.fromkeys(f"{n:,}" for n in (min(numbers), max(numbers))))


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_text(entry) for entry in value) or UNKNOWN
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {text}" for key, text in provenance_rows(value))
    return UNKNOWN if value is None else str(value)
