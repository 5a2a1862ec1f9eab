"""The final values at the ends of the lines, moved apart so that all can be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from clubcascade.report.curves import Curve
from clubcascade.report.measures import Measure
from clubcascade.report.numbers import number
from clubcascade.report.style import LineStyle

GAP = 0.055
"""From one value to the next, of the height of a panel, unless there are too many."""


def write_final_values(
    axes: Axes,
    curves: Mapping[str, Curve],
    styles: Mapping[str, LineStyle],
    measure: Measure,
    ends: tuple[float, float],
) -> None:
    """Write the last value of every line right of the panel."""
    labels = list(curves)
    top = ends[1]
    finals = [curves[label].final for label in labels]
    heights = [_height(axes, min(final, top), ends) for final in finals]
    gap = min(GAP, 1.0 / max(len(labels) - 1, 1))
    for label, final, height in zip(labels, finals, spread(heights, gap, 0.0, 1.0), strict=True):
        cut = final > top
        axes.annotate(
            f"{'↑ ' if cut else ''}{number(final, measure.name)}",
            xy=(1.0, height),
            xycoords="axes fraction",
            xytext=(5, 0),
            textcoords="offset points",
            color=styles[label].colour,
            fontsize=8.5,
            fontweight="bold" if cut else "normal",
            va="center",
            annotation_clip=False,
        )


def _height(axes: Axes, value: float, ends: tuple[float, float]) -> float:
    """Return where a value is between the ends of the axis, as a share."""
    scale = np.log if axes.get_yscale() == "log" else float
    low, high, here = (float(scale(max(v, ends[0]))) for v in (*ends, value))
    return (here - low) / (high - low)


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
