"""The figures, one function each, named by the paper's numbers; each returns the figure."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from clubcascade.experiment.cell_files import written
from clubcascade.experiment.results import Results, read_results
from clubcascade.report.folders import find_runs
from clubcascade.report.grid import panel_grid
from clubcascade.report.heat import heat_map
from clubcascade.report.shown import log_scale, shown_measure
from clubcascade.report.style import SETTINGS
from clubcascade.report.sweeps import sweeps

DPI = 150
EXTRAS = {"clusters": "n_clusters", "rand_index": "rand_index"}
"""What is drawn beside the figure itself where it was measured: file names and measures."""


def figure(results: Results) -> Figure:
    """Draw what the experiment says its panels show; clicks where no regret is known.

    A sweep over two parameters is drawn as a heat map of the values at the end.

    Parameters
    ----------
    results
        What a result folder holds.
    """
    measure = shown_measure(results)
    for sweep in sweeps(results.experiment.policies):
        if sweep.is_map:
            return heat_map(results, sweep, measure)
    return panel_grid(results, measure=measure, log=log_scale(results, measure))


def figure1_synthetic(results: Results) -> Figure:
    """Draw Figure 1: cumulative regret on synthetic data, one panel per gap and cluster number."""
    return figure(results)


def figure2_yelp(results: Results) -> Figure:
    """Draw Figure 2: Yelp, one panel per number of users and items."""
    return figure(results)


def figure3_movielens(results: Results) -> Figure:
    """Draw Figure 3: MovieLens, one panel per number of users and items."""
    return figure(results)


def figure4_ctr(results: Results) -> Figure:
    """Draw Figure 4: clicks per round over time, Yelp and MovieLens."""
    return figure(results)


def figure5_multiple(results: Results) -> Figure:
    """Draw Figure 5: one model per user, with few and with many users."""
    return figure(results)


FIGURES: dict[int, Callable[[Results], Figure]] = {
    1: figure1_synthetic,
    2: figure2_yelp,
    3: figure3_movielens,
    4: figure4_ctr,
    5: figure5_multiple,
}
"""The function of each figure of the paper, by its number."""


def save_figures(folder: str | os.PathLike[str], *, extras: bool = False) -> list[Path]:
    """Draw the figure of a result folder into it, as PNG and as SVG, and return the paths.

    Parameters
    ----------
    folder
        A result folder.
    extras
        Also draw the number of clusters and the adjusted Rand index, where they were measured.
    """
    results = read_results(folder)
    paths = []
    for name, drawn in _drawn(results, extras=extras):
        paths += save(drawn, Path(folder) / name)
    return paths


def save_all_figures(place: str | os.PathLike[str]) -> list[Path]:
    """Draw all figures of every result folder at or right below a place; return the paths.

    Parameters
    ----------
    place
        A result folder, or a folder of them. Folders without results get no figures.
    """
    runs, _ = find_runs(place)
    paths = []
    for run in runs:
        paths += [] if run.results.curves.empty else save_figures(run.path, extras=True)
    return paths


def save(drawn: Figure, stem: Path) -> list[Path]:
    """Write a figure as PNG and as SVG, each whole or not at all.

    Parameters
    ----------
    drawn
        The figure.
    stem
        The files' path without its ending.
    """
    drawn.draw_without_rendering()
    drawn.set_layout_engine("none")  # it is laid out; doing so again for every file takes long
    paths = []
    for kind in ("png", "svg"):
        path = stem.with_name(f"{stem.name}.{kind}")
        metadata = {"Date": None} if kind == "svg" else None  # the same picture, the same file
        with mpl.rc_context(SETTINGS), written(path) as file:
            drawn.savefig(file, format=kind, dpi=DPI, metadata=metadata)
        paths.append(path)
    return paths


def _drawn(results: Results, *, extras: bool) -> Iterator[tuple[str, Figure]]:
    number = results.experiment.figure
    draw = figure if number is None else FIGURES.get(number, figure)
    yield draw.__name__, draw(results)
    for name, measure in EXTRAS.items() if extras else ():
        if measure != shown_measure(results) and results.curves[measure].nunique() > 1:
            yield name, panel_grid(results, measure=measure)
