"""The curves as the page's script reads them: thinned, with few digits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from clubcascade.core import Floats
from clubcascade.experiment.config import Panel
from clubcascade.report.curves import curve_of
from clubcascade.report.folders import Run
from clubcascade.report.measures import MEASURES
from clubcascade.report.shown import log_scale, shown_measure
from clubcascade.report.style import places
from clubcascade.report.truth import truth_line

POINTS = 200
"""Points of a curve, at most."""

DIGITS = 6
HALF_DIGITS = 3

DERIVED = "ctr"
"""The measure that the script works out of the clicks."""


def run_data(run: Run, points: int = POINTS) -> dict[str, Any]:
    """Return one result folder as the script draws it.

    Parameters
    ----------
    run
        A result folder.
    points
        Points of a curve, at most.
    """
    experiment = run.results.experiment
    place = places(experiment)
    grids: list[list[int]] = []
    tables = {name: run.by_seed(name) for name in MEASURES}
    known = [name for name in MEASURES if tables[name]]
    stored = [name for name in known if name != DERIVED]
    return {
        "id": run.name,
        "measure": shown_measure(run.results),
        "measures": known,
        "policies": [{"label": c.label, "place": place[c.label]} for c in experiment.policies],
        "log": log_scale(run.results, shown_measure(run.results)),
        "panels": [
            {
                "title": panel.title,
                "truth": {name: _truth(run, panel, name) for name in known},
                "curves": {
                    name: [
                        _thin(tables[name].get((panel.title, c.label)), points, grids)
                        for c in experiment.policies
                    ]
                    for name in stored
                },
            }
            for panel in experiment.panels
        ],
        "grids": grids,
    }


def _truth(run: Run, panel: Panel, measure: str) -> list[Any] | None:
    line = truth_line(run.results, panel, measure)
    return None if line is None else [line.label, rounded(line.start), rounded(line.slope)]


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
    unknown = math.isnan(float(half[-1]))
    return [
        grids.index(grid),
        _numbers(curve.mean[kept], DIGITS),
        [] if unknown else _numbers(half[kept], HALF_DIGITS),
    ]


def kept_points(n: int, points: int) -> Sequence[int]:
    """Return which of n points to keep: evenly spread, the last one among them.

    >>> kept_points(5, 3), kept_points(3, 10)
    ([0, 2, 4], [0, 1, 2])
    """
    if n <= points:
        return list(range(n))
    return sorted({round(i) for i in np.linspace(0, n - 1, points).tolist()})


def rounded(value: float, digits: int = DIGITS) -> float | int | None:
    """Return a number with few digits; None where it is unknown.

    >>> rounded(1234.5678), rounded(0.5), rounded(3.0), rounded(float("nan"))
    (1234.57, 0.5, 3, None)
    """
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{digits}g}")
    return int(short) if short == int(short) else short


def _numbers(values: Floats, digits: int) -> list[float | int | None]:
    written = [rounded(value, digits) for value in values.tolist()]
    return written[:1] if len(set(written)) == 1 else written
