"""The figures, one function each, named by the paper's numbers; each returns the figure."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from clubcascade.experiment.cell_files import written
from clubcascade.experiment.results import Results, read_results
from clubcascade.report.grid import panel_grid
from clubcascade.report.style import SETTINGS

DPI = 150


def figure1_synthetic(results: Results) -> Figure:
    """Draw Figure 1: cumulative regret on synthetic data, one panel per gap and cluster number.

    Parameters
    ----------
    results
        What the result folder of the experiment ``synthetic`` holds.
    """
    return panel_grid(results, measure="regret", ylabel="cumulative regret", oracle=True)


def figure(results: Results) -> Figure:
    """Draw the regret of an experiment that is no figure of the paper, or its clicks.

    Parameters
    ----------
    results
        What a result folder holds. Clicks are drawn where no regret is known.
    """
    if results.curves["regret"].isna().all():
        return panel_grid(results, measure="reward", ylabel="cumulative clicks")
    return panel_grid(results, measure="regret", ylabel="cumulative regret", oracle=True)


FIGURES: dict[int, Callable[[Results], Figure]] = {1: figure1_synthetic}
"""The function of each figure of the paper, by its number."""


def save_figures(folder: str | os.PathLike[str]) -> list[Path]:
    """Draw the figure of a result folder into it, as PNG and as SVG, and return the paths."""
    results = read_results(folder)
    number = results.experiment.figure
    draw = figure if number is None else FIGURES.get(number, figure)
    drawn = draw(results)
    paths = []
    for kind in ("png", "svg"):
        path = Path(folder) / f"{draw.__name__}.{kind}"
        metadata = {"Date": None} if kind == "svg" else None  # the same picture, the same file
        with mpl.rc_context(SETTINGS), written(path) as file:
            drawn.savefig(file, format=kind, dpi=DPI, metadata=metadata)
        paths.append(path)
    return paths
