"""One panel of a figure: lines with bands, the final values at their ends, a readable scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from clubcascade.report.curves import Curve
from clubcascade.report.style import INK, LineStyle

DWARFED = 5.0
"""A line that ends this many times above all lines below it is cut off at the top."""


def draw_panel(
    axes: Axes,
    title: str,
    curves: Mapping[str, Curve],
    styles: Mapping[str, LineStyle],
    *,
    ylabel: str,
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
    ylabel
        What the vertical axis shows.
    """
    axes.set_title(title, color=INK)
    axes.set_xlabel("round t")
    axes.set_ylabel(ylabel)
    if not curves:
        axes.text(0.5, 0.5, "no results", ha="center", va="center", transform=axes.transAxes)
        return
    for label, curve in curves.items():
        style = styles[label]
        axes.plot(
            curve.round,
            curve.mean,
            color=style.colour,
            linestyle=style.dash,
            linewidth=style.width,
            label=label,
        )
        if curve.seeds > 1:
            axes.fill_between(
                curve.round, curve.low, curve.high, color=style.colour, alpha=0.15, linewidth=0
            )
    top = readable_top([curve.final for curve in curves.values()])
    axes.set_ylim(-0.02 * top, top)
    axes.set_xlim(0, max(curve.round[-1] for curve in curves.values()))
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(FuncFormatter(_thousands))
    axes.yaxis.set_major_formatter(FuncFormatter(_thousands))
    _write_final_values(axes, curves, styles, top)


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
    blocks: list[tuple[float, int]] = []
    for i in order:
        centre, size = float(places[i]), 1
        while True:
            centre = min(max(centre, low + gap * (size - 1) / 2), high - gap * (size - 1) / 2)
            if not blocks:
                break
            before, count = blocks[-1]
            if before + gap * (count - 1) / 2 + gap <= centre - gap * (size - 1) / 2 + 1e-12:
                break
            blocks.pop()
            centre = (before * count + centre * size) / (count + size)
            size += count
        blocks.append((centre, size))
    moved = [0.0] * len(places)
    spots = [centre + gap * (j - (size - 1) / 2) for centre, size in blocks for j in range(size)]
    for i, spot in zip(order, spots, strict=True):
        moved[int(i)] = spot
    return moved


def _write_final_values(
    axes: Axes, curves: Mapping[str, Curve], styles: Mapping[str, LineStyle], top: float
) -> None:
    labels = list(curves)
    finals = [curves[label].final for label in labels]
    places = spread([min(final, top) for final in finals], 0.055 * top, 0.0, top)
    for label, final, place in zip(labels, finals, places, strict=True):
        cut = final > top
        axes.annotate(
            f"{'↑ ' if cut else ''}{final:,.0f}",
            xy=(1.0, place),
            xycoords=("axes fraction", "data"),
            xytext=(5, 0),
            textcoords="offset points",
            color=styles[label].colour,
            fontsize=8.5,
            fontweight="bold" if cut else "normal",
            va="center",
            annotation_clip=False,
        )


def _thousands(value: float, position: int | None = None) -> str:
    return f"{value:,.0f}" if abs(value) >= 1 or value == 0 else f"{value:g}"
