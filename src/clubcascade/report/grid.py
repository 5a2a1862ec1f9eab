"""A figure of panels: one measure, one panel per environment, one legend for all."""

from __future__ import annotations

import math
from collections.abc import Mapping

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D

from clubcascade.experiment.config import Experiment
from clubcascade.experiment.results import Results
from clubcascade.report.curves import curves_of
from clubcascade.report.labels import GAP
from clubcascade.report.measures import MEASURES
from clubcascade.report.panels import draw_panel
from clubcascade.report.style import INK, SETTINGS, LineStyle, line_style, places
from clubcascade.report.truth import TruthLine, truth_line

TRUTH = LineStyle(INK, (0, (1, 2)), 1.0)
PANEL = 3.4
"""Height of a panel in inches, for as many lines as have their last values below each other."""
LINES = int(1 / GAP)
LEGEND = 0.9
"""Height in inches that is always there for the legend."""


def panel_grid(results: Results, *, measure: str, log: bool = False) -> Figure:
    """Draw one measure of all policies, one panel per environment.

    Parameters
    ----------
    results
        What a result folder holds.
    measure
        What the vertical axis shows, a name of :data:`~clubcascade.report.measures.MEASURES`.
    log
        Whether the vertical axis is logarithmic.
    """
    experiment = results.experiment
    styles = {label: line_style(place) for label, place in places(experiment).items()}
    curves = curves_of(results, measure)
    lines: dict[str, TruthLine] = {}
    with mpl.rc_context(SETTINGS):
        figure, grid = _empty(experiment)
        for axes, panel in zip(grid, experiment.panels, strict=True):
            here = {label: curves.get((panel.title, label)) for label in styles}
            known = {label: curve for label, curve in here.items() if curve is not None}
            truth = truth_line(results, panel, measure) if known and not log else None
            if truth:
                lines[truth.label] = truth
            draw_panel(axes, panel.title, known, styles, MEASURES[measure], truth, log=log)
        drawn = {label: styles[label] for _, label in curves}
        used = {label: style for label, style in styles.items() if label in drawn}
        _write_legend(figure, experiment, used | dict.fromkeys(lines, TRUTH))
    return figure


def legend_handles(styles: Mapping[str, LineStyle]) -> list[Line2D]:
    """Return a short piece of every line, for a legend."""
    return [
        Line2D(
            [],
            [],
            color=style.colour,
            linestyle=style.dash,
            linewidth=style.width,
            marker=style.marker,
            markersize=4.5,
        )
        for style in styles.values()
    ]


def _empty(experiment: Experiment) -> tuple[Figure, list[Axes]]:
    n = len(experiment.panels)
    columns = min(2, n)
    rows = math.ceil(n / columns)
    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.08)
    lines = len(places(experiment))
    height = PANEL * rows * max(1.0, lines / LINES)
    figure = Figure(figsize=(5.4 * columns, height + 0.4 + LEGEND), layout=layout)
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for unused in axes[n:]:
        unused.remove()
    number = f"Figure {experiment.figure}: " if experiment.figure is not None else ""
    figure.suptitle(f"{number}{experiment.title}", color=INK, fontsize=12.5)
    return figure, axes[:n]


def _write_legend(figure: Figure, experiment: Experiment, styles: dict[str, LineStyle]) -> None:
    runs = len(experiment.seeds)
    what = f"mean of {runs} runs, band: 95% interval" if runs > 1 else "one run"
    for columns in range(min(4, len(styles)), 0, -1):
        legend = figure.legend(
            legend_handles(styles),
            list(styles),
            loc="outside lower center",
            title=f"{what}; at the end of a line its last value, ↑ where it leaves the panel",
            title_fontsize=8.5,
            ncols=columns,
            handlelength=3.2,
            columnspacing=1.8,
        )
        size = legend.get_window_extent()
        if columns == 1 or size.width <= figure.bbox.width:
            break
        legend.remove()  # long names would be cut off
    more = size.height / figure.dpi - LEGEND  # a long legend must not take from the panels
    figure.set_size_inches(figure.get_figwidth(), figure.get_figheight() + max(0.0, more))
