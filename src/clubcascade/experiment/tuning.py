"""Tuning: per panel and policy, the point of the grid that does best on seeds of its own.

Every tuned policy tries the same number of points on the same seeds. Best is the lowest mean regret
after the last round where the panels show what regret tells, else the most clicks; the first of
equals wins. The seeds of the results are never looked at.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from clubcascade.experiment.cell_files import Stored, written
from clubcascade.experiment.cells import Cell, Trial
from clubcascade.experiment.spec import Experiment

TUNING = "tuning.csv"

Found = Callable[[Cell], Stored | None]


class Choice(NamedTuple):
    """How one point of a grid did, on the seeds of tuning."""

    panel: str
    label: str
    point: dict[str, Any]
    by: str
    mean: float
    seeds: int
    chosen: bool


def choose(trials: Iterable[Trial], measure: str, found: Found) -> list[Choice]:
    """Say of every point how it did, and which of them is chosen.

    Parameters
    ----------
    trials
        The runs for tuning.
    measure
        What the panels show.
    found
        Gives what is stored of a run; None if it failed. A point with a failed run is not chosen.
    """
    grids: dict[tuple[str, str], list[tuple[dict[str, Any], list[Stored | None]]]] = {}
    for trial in trials:
        grid = grids.setdefault((trial.panel, trial.label), [])
        if not grid or grid[-1][0] != trial.point:
            grid.append((trial.point, []))
        grid[-1][1].append(found(trial.cell))
    choices = []
    for (panel, label), grid in grids.items():
        by = _compared_by(measure, [run for _, runs in grid for run in runs])
        means = [_mean(runs, by) for _, runs in grid]
        order = [mean if by == "regret" else -mean for mean in means]
        best = int(np.nanargmin(order)) if not np.isnan(order).all() else None
        choices += [
            Choice(panel, label, point, by, mean, len(runs), i == best)
            for i, ((point, runs), mean) in enumerate(zip(grid, means, strict=True))
        ]
    return choices


def settled(experiment: Experiment, choices: Iterable[Choice]) -> Experiment:
    """Return the experiment with the chosen values written into its panels."""
    taken: dict[str, dict[str, Any]] = {}
    for choice in choices:
        if choice.chosen:
            taken.setdefault(choice.panel, {})[choice.label] = choice.point
    panels = [
        replace(panel, tuned={**panel.tuned, **taken.get(panel.title, {})})
        for panel in experiment.panels
    ]
    return replace(experiment, panels=tuple(panels))


def settled_anyhow(experiment: Experiment) -> Experiment:
    """Return the experiment with the first point of every grid: as many runs, before tuning."""
    panels = []
    for panel in experiment.panels:
        policies = [c for c in experiment.policies_of(panel) if c.label not in panel.tuned]
        firsts = {c.label: c.points[0] for c in policies if c.tune}
        panels.append(replace(panel, tuned={**panel.tuned, **firsts}))
    return replace(experiment, panels=tuple(panels))


def write_choices(choices: Iterable[Choice], folder: Path) -> list[Path]:
    """Write a table of all points that were tried; nothing where nothing was."""
    rows = [_row(choice) for choice in choices]
    if not rows:
        return []
    text = io.StringIO()
    pd.DataFrame(rows).to_csv(text, index=False, lineterminator="\n")
    with written(folder / TUNING) as file:
        file.write(text.getvalue().encode())
    return [folder / TUNING]


def _row(choice: Choice) -> Mapping[str, Any]:
    point = ", ".join(f"{name}={value}" for name, value in choice.point.items())
    return {
        "panel": choice.panel,
        "policy": choice.label,
        "values": point,
        "by": choice.by,
        "mean": choice.mean,
        "seeds": choice.seeds,
        "chosen": choice.chosen,
    }


def _compared_by(measure: str, runs: list[Stored | None]) -> str:
    known = all(run is None or not np.isnan(run.curves["regret"][-1]) for run in runs)
    return "regret" if known and measure not in ("reward", "missed", "ctr") else "reward"


def _mean(runs: list[Stored | None], by: str) -> float:
    if any(run is None for run in runs):
        return float("nan")
    return float(np.mean([run.curves[by][-1] for run in runs if run is not None]))
