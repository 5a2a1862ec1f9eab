"""One panel of a figure: lines with bands, the final values at their ends, a readable scale."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from clubcascade.report.curves import Curve
from clubcascade.report.labels import write_final_values
from clubcascade.report.limits import set_limits
from clubcascade.report.measures import Measure
from clubcascade.report.style import INK, LineStyle
from clubcascade.report.truth import TruthLine

MARKS = 8
"""Markers on a line, about."""
TITLE = 52
"""Letters of a panel's title in one line."""


def draw_panel(
    axes: Axes,
    title: str,
    curves: Mapping[str, Curve],
    styles: Mapping[str, LineStyle],
    measure: Measure,
    truth: TruthLine | None = None,
    *,
    log: bool = False,
) -> None:
    """Draw the curves of one panel.

    Parameters
    ----------
    axes
        Where to draw.
    title
        Title of the panel.
    curves
        The curve of each label.
    styles
        The style of each label.
    measure
        What the vertical axis shows.
    truth
        The line of the truth, if it is known.
    log
        Whether the vertical axis is logarithmic.
    """
    axes.set_title(textwrap.fill(title, TITLE), color=INK)
    axes.set_xlabel("round t")
    axes.set_ylabel(measure.label)
    if not curves:
        axes.text(0.5, 0.5, "no results", ha="center", va="center", transform=axes.transAxes)
        return
    for position, (label, curve) in enumerate(curves.items()):
        _draw_line(axes, label, curve, styles[label], position / len(curves))
    end = max(curve.round[-1] for curve in curves.values())
    axes.set_xlim(0, end)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(FuncFormatter(_millions if end >= 2e6 else _thousands))
    if log:
        axes.set_yscale("log")
        low, top = axes.get_ylim()
    else:
        low, top = set_limits(axes, curves, measure, truth.at(end) if truth else None)
        if truth:
            axes.plot([0, end], [truth.at(0), truth.at(end)], color=INK, ls=(0, (1, 2)), lw=1.0)
    axes.yaxis.set_major_formatter(FuncFormatter(_thousands))
    write_final_values(axes, curves, styles, measure, (low, top))


def _draw_line(axes: Axes, label: str, curve: Curve, style: LineStyle, phase: float) -> None:
    n = len(curve.round)
    axes.plot(
        curve.round,
        curve.mean,
        color=style.colour,
        linestyle=style.dash,
        linewidth=style.width,
        marker=style.marker,
        markersize=4,
        markevery=(int(phase * n / MARKS), max(1, n // MARKS)),
        label=label,
    )
    if curve.seeds > 1:
        axes.fill_between(
            curve.round, curve.low, curve.high, color=style.colour, alpha=0.15, linewidth=0
        )


def _thousands(value: float, position: int | None = None) -> str:
    return f"{value + 0.0:,.12g}"  # all digits of a round number, so that no two are alike


def _millions(value: float, position: int | None = None) -> str:
    return f"{value / 1e6:,.12g}M" if value else "0"
