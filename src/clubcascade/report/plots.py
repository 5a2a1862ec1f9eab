"""Curves as a Matplotlib figure: a panel per environment, lines with bands, one legend for all."""

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator
from scipy.optimize import isotonic_regression

from clubcascade.experiment import Experiment, Results
from clubcascade.report.estimates import number
from clubcascade.report.measures import MEASURES, Curve, Measure, Reference, curves_of, reference
from clubcascade.report.style import INK, SETTINGS, LineStyle, styles

REFERENCE = LineStyle(INK, INK, 1.0, (1, 2))
DWARFED = 3.0
"""A line that ends this many times above all lines below it is cut off at the top."""

MARKS, TITLE = 8, 52
"""Markers on a line, about; letters of a panel's title in one line."""

GAP = 0.055
"""From one final value to the next, of the height of a panel, unless there are too many."""

PANEL, LEGEND = 3.4, 0.9
"""Inches: height of a panel with few lines, and what is always there for the legend."""


def curve_figure(results: Results, *, measure: str, log: bool = False) -> Figure:
    """Draw one measure of all policies, one panel per environment."""
    experiment = results.experiment
    line_styles = styles(experiment)
    curves = curves_of(results, measure)
    used = {
        label: style
        for label, style in line_styles.items()
        if any(label == key[1] for key in curves)
    }
    with mpl.rc_context(SETTINGS):
        figure, grid = _empty(experiment)
        for axes, panel in zip(grid, experiment.panels, strict=True):
            here = {label: curves.get((panel.title, label)) for label in line_styles}
            known = {label: curve for label, curve in here.items() if curve is not None}
            line = reference(results, panel, measure) if known and not log else None
            used |= {line.label: REFERENCE} if line else {}
            draw_panel(axes, panel.title, known, line_styles, MEASURES[measure], line, log=log)
        _write_legend(figure, experiment, used)
    return figure


def draw_panel(
    axes: Axes,
    title: str,
    curves: Mapping[str, Curve],
    line_styles: Mapping[str, LineStyle],
    measure: Measure,
    line: Reference | None = None,
    *,
    log: bool = False,
) -> None:
    """Draw the curves of one panel, with the line of what an oracle reaches if it is known."""
    axes.set_title(textwrap.fill(title, TITLE), color=INK)
    axes.set_xlabel("round t")
    axes.set_ylabel(measure.label)
    if not curves:
        axes.text(0.5, 0.5, "no results", ha="center", va="center", transform=axes.transAxes)
        return
    for position, (label, curve) in enumerate(curves.items()):
        n, phase = len(curve.round), position / len(curves)
        marks = int(phase * n / MARKS), max(1, n // MARKS)
        style = line_styles[label].matplotlib()
        axes.plot(curve.round, curve.mean, label=label, markersize=4, markevery=marks, **style)
        if curve.seeds > 1:
            band = {"color": style["color"], "alpha": 0.15, "linewidth": 0}
            axes.fill_between(curve.round, curve.low, curve.high, **band)
    end = max(curve.round[-1] for curve in curves.values())
    axes.set_xlim(0, end)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(FuncFormatter(_millions if end >= 2e6 else _thousands))
    if log:
        axes.set_yscale("log")
    else:
        axes.set_ylim(*limits(list(curves.values()), measure, line.at(end) if line else 0.0))
        if line:
            dotted = REFERENCE.matplotlib()
            axes.plot([0, end], [line.at(0), line.at(end)], **dotted)
    axes.yaxis.set_major_formatter(FuncFormatter(_thousands))
    _write_final_values(axes, curves, line_styles, measure)


def limits(curves: Sequence[Curve], measure: Measure, top: float) -> tuple[float, float]:
    """Choose the ends of the vertical axis; what an oracle reaches is ``top``."""
    if measure.name == "rand_index":
        return min(-0.05, *(float(curve.mean.min()) for curve in curves)), 1.05
    if measure.better == "low":
        high = readable_top([curve.final for curve in curves])
        return -0.02 * high, high
    return 0.0, 1.06 * max(top, *(float(curve.mean.max()) for curve in curves)) or 1.0


def readable_top(finals: Sequence[float]) -> float:
    """Choose the top of the axis: all lines, or all but a few that dwarf the rest.

    >>> readable_top([100.0, 200.0, 400.0, 20_000.0])
    480.0
    >>> round(readable_top([100.0, 200.0, 400.0]))
    448
    """
    ordered = sorted(finals)
    for below, above in zip(ordered, ordered[1:], strict=False):
        enough = 2 * sum(value <= below for value in ordered) >= len(ordered)
        if enough and below > 0 and above > DWARFED * below:
            return 1.2 * below
    return 1.12 * ordered[-1] if ordered[-1] > 0 else 1.0


def spread(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move labels apart so that neighbours are at least ``gap`` away, within [low, high].

    >>> spread([1.0, 1.1, 5.0], gap=1.0, low=0.0, high=10.0)
    [0.55, 1.55, 5.0]
    """
    order = np.argsort(places, kind="stable")
    steps = gap * np.arange(len(order))
    nearest = isotonic_regression(np.asarray(places)[order] - steps).x  # least squares, in order
    moved = np.empty(len(order))
    moved[order] = np.clip(nearest, low, high - steps[-1]) + steps
    return [float(place) for place in moved]


def legend_handles(line_styles: Iterable[LineStyle]) -> list[Line2D]:
    """Return a short piece of every line, for a legend."""
    return [Line2D([], [], markersize=4.5, **style.matplotlib()) for style in line_styles]


def _write_final_values(
    axes: Axes, curves: Mapping[str, Curve], line_styles: Mapping[str, LineStyle], measure: Measure
) -> None:
    """Write the last value of every line right of the panel."""
    low, top = axes.get_ylim()
    scale = np.log if axes.get_yscale() == "log" else float
    a, b = float(scale(low)), float(scale(top))
    finals = [curve.final for curve in curves.values()]
    heights = [(float(scale(min(max(final, low), top))) - a) / (b - a) for final in finals]
    gap = min(GAP, 1.0 / max(len(finals) - 1, 1))
    spots = spread(heights, gap, 0.0, 1.0)
    for label, final, height in zip(curves, finals, spots, strict=True):
        cut = final > top
        axes.annotate(
            f"{'↑ ' if cut else ''}{number(final, measure.name)}",
            xy=(1.0, height),
            xycoords="axes fraction",
            xytext=(5, 0),
            textcoords="offset points",
            color=line_styles[label].colour,
            fontsize=8.5,
            fontweight="bold" if cut else "normal",
            va="center",
            annotation_clip=False,
        )


def _empty(experiment: Experiment) -> tuple[Figure, list[Axes]]:
    n = len(experiment.panels)
    columns = min(2, n)
    rows = math.ceil(n / columns)
    height = PANEL * rows * max(1.0, len(experiment.policies) / int(1 / GAP))
    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.08)
    figure = Figure(figsize=(5.4 * columns, height + 0.4 + LEGEND), layout=layout)
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for unused in axes[n:]:
        unused.remove()
    number_ = f"Figure {experiment.figure}: " if experiment.figure is not None else ""
    figure.suptitle(f"{number_}{experiment.title}", color=INK, fontsize=12.5)
    return figure, axes[:n]


def _write_legend(
    figure: Figure, experiment: Experiment, line_styles: dict[str, LineStyle]
) -> None:
    runs = len(experiment.seeds)
    what = f"mean of {runs} runs, band: 95% interval" if runs > 1 else "one run"
    for columns in range(min(4, len(line_styles)), 0, -1):
        legend = figure.legend(
            legend_handles(line_styles.values()),
            list(line_styles),
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


def _thousands(value: float, position: int | None = None) -> str:
    return f"{value + 0.0:,.12g}"  # all digits of a round number, so that no two are alike


def _millions(value: float, position: int | None = None) -> str:
    return f"{value / 1e6:,.12g}M" if value else "0"
