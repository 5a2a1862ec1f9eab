"""The curves as the page hands them to Plotly: thinned, with few digits."""

import html
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from clubcascade.core import Floats
from clubcascade.report.estimates import SHARES
from clubcascade.report.folders import Run
from clubcascade.report.measures import MEASURES, curve_of, reference
from clubcascade.report.style import styles

POINTS, FEWEST = 200, 50
"""Points of a curve: at most, and at least where the page would be too large."""

LARGEST = 3_000_000
"""Bytes of the numbers of a page; curves are thinned further above that."""

DIGITS, HALF_DIGITS = 6, 3


def page_data(runs: Sequence[Run]) -> dict[str, Any]:
    """Return what the page's script hands to Plotly, with as many points as its size allows."""
    names = {
        name: {"label": m.label, "better": m.better, "format": ".3f" if name in SHARES else ",.1f"}
        for name, m in MEASURES.items()
    }
    points = POINTS
    while True:
        there = {run.name: run_data(run, points) for run in runs if not run.results.curves.empty}
        data = {"measures": names, "runs": there}
        if len(json.dumps(data)) <= LARGEST or points <= FEWEST:
            return data
        points //= 2


def run_data(run: Run, points: int = POINTS) -> dict[str, Any]:
    """Return the curves of one result folder: at most so many points, and few digits."""
    experiment = run.results.experiment
    grids: list[list[int]] = []
    tables = {name: run.by_seed(name) for name in MEASURES}
    known = [name for name in MEASURES if tables[name]]
    policies = [
        {
            "name": html.escape(label),  # Plotly reads some HTML in its texts
            "colours": [style.colour, style.dark],
            "width": style.width + 0.3,
            "dash": ",".join(f"{part * style.width:.1f}px" for part in style.dash) or "solid",
            "symbol": style.symbol,
        }
        for label, style in styles(experiment).items()
    ]
    panels = []
    for panel in experiment.panels:
        lines = {name: reference(run.results, panel, name) for name in known}
        curves = {
            name: [
                _thin(tables[name].get((panel.title, c.label)), points, grids)
                for c in experiment.policies
            ]
            for name in known
        }
        panels.append({"title": panel.title, "references": lines, "curves": curves})
    return {"policies": policies, "panels": panels, "grids": grids}


def _thin(table: pd.DataFrame | None, points: int, grids: list[list[int]]) -> list[Any] | None:
    """Return which rounds, means, and half widths (empty for one run) of at most so many points.

    Rounds are the number of a grid, which is added if it is new. Values that are all the same
    are one value.
    """
    if table is None:
        return None
    curve = curve_of(table)
    kept = kept_points(len(curve.round), points)
    grid = [int(t) for t in curve.round[kept]]
    if grid not in grids:
        grids.append(grid)
    half = curve.high - curve.mean
    halves = [] if math.isnan(float(half[-1])) else _numbers(half[kept], HALF_DIGITS)
    return [grids.index(grid), _numbers(curve.mean[kept], DIGITS), halves]


def kept_points(n: int, points: int) -> list[int]:
    """Return which of n points to keep: evenly spread, the last one among them.

    >>> kept_points(5, 3), kept_points(3, 10)
    ([0, 2, 4], [0, 1, 2])
    """
    return sorted({round(i) for i in np.linspace(0, n - 1, min(n, points)).tolist()})


def _numbers(values: Floats, digits: int) -> list[float | None]:
    written_ = [float(f"{v:.{digits}g}") if math.isfinite(v) else None for v in values.tolist()]
    short = [int(v) if v is not None and v == int(v) else v for v in written_]
    return short[:1] if len(set(short)) == 1 else short
