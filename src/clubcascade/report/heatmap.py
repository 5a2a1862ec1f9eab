"""A sweep over two parameters as a heat map, with its limits as margins."""

import math
from collections.abc import Mapping

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from clubcascade.experiment import Results
from clubcascade.report.estimates import number
from clubcascade.report.measures import MEASURES, Measure, curves_of
from clubcascade.report.style import COLOURS, INK, SETTINGS
from clubcascade.report.sweeps import Sweep

PALETTE = "cividis"
"""Dark to light alike for all eyes."""

MARGIN = 0.4
"""Height of the gap between the grid and a limit, in cells."""


def heat_map(results: Results, sweep: Sweep, measure: str) -> Figure:
    """Draw the last values of a sweep, a map per panel."""
    curves = curves_of(results, measure)
    panels = results.experiment.panels
    columns = min(2, len(panels))
    lines = math.ceil(len(panels) / columns)
    with mpl.rc_context({**SETTINGS, "axes.grid": False}):
        size = (5.6 * columns, (1.7 + 0.5 * len(sweep.rows)) * lines + 0.5)
        figure = Figure(figsize=size, layout="constrained")
        grid = list(figure.subplots(lines, columns, squeeze=False).flat)
        for axes, panel in zip(grid, panels, strict=False):
            keys = [(panel.title, c.label) for c in results.experiment.policies]
            here = {key[1]: curves[key].final for key in keys if key in curves}
            draw_map(axes, panel.title, sweep, here, MEASURES[measure])
        for unused in grid[len(panels) :]:
            unused.remove()
        seeds = len(results.experiment.seeds)
        runs = f"mean of {seeds} runs" if seeds > 1 else "one run"
        title = f"{results.experiment.title}\n{MEASURES[measure].label} at the end, {runs}"
        figure.suptitle(title, color=INK, fontsize=11.5)
    return figure


def draw_map(
    axes: Axes, title: str, sweep: Sweep, values: Mapping[str, float], measure: Measure
) -> None:
    """Draw the map of one panel: a cell per policy, the best one framed; others in the title."""
    found = {label: values[label] for label in sweep.labels if label in values}
    beside = [
        f"{label}: {number(v, measure.name)}" for label, v in values.items() if label not in found
    ]
    axes.set_title("\n".join([title, *beside]), color=INK)
    if not found:
        axes.text(0.5, 0.5, "no results", ha="center", va="center", transform=axes.transAxes)
        return
    best = (min if measure.better == "low" else max)(found.values())
    low, high = min(found.values()), max(found.values())
    norm: Normalize = LogNorm(low, high) if 0 < low < high else Normalize(low, high)
    if low == high:
        norm = Normalize(low - 1, high + 1)
    middles, names, top = [], [], 0.0
    for i, row in enumerate(sweep.rows):
        top += MARGIN if i and bool(row.limit) != bool(sweep.rows[i - 1].limit) else 0.0
        for x, column in enumerate(sweep.columns):
            value = found.get(row.labels.get(column, ""))
            if value is not None:
                colour = mpl.colormaps[PALETTE](norm(value))
                draw_cell(axes, x, top, colour, number(value, measure.name), value == best)
        middles.append(top + 0.5)
        names.append(f"{row.name}\n({row.limit})" if row.limit else row.name)
        top += 1.0
    width = len(sweep.columns)
    axes.set(xlim=(0, width), ylim=(top, 0), xlabel=sweep.names[1], ylabel=sweep.names[0])
    axes.set_xticks(np.arange(width) + 0.5, sweep.columns)
    axes.set_yticks(middles, names)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    _write_scale(axes, norm, measure)


def draw_cell(
    axes: Axes, x: float, y: float, colour: tuple[float, ...], text: str, best: bool
) -> None:
    """Draw one cell of a map, its upper left corner at (x, y); the best one is framed."""
    axes.add_patch(Rectangle((x, y), 1, 1, facecolor=colour, edgecolor="white", linewidth=1.5))
    if best:
        frame = Rectangle((x + 0.03, y + 0.04), 0.94, 0.92, fill=False)
        frame.set(edgecolor=COLOURS[0], linewidth=2.5, zorder=3)
        axes.add_patch(frame)
    light = 0.3 * colour[0] + 0.59 * colour[1] + 0.11 * colour[2] > 0.5
    weight = "bold" if best else "normal"
    ink = "black" if light else "white"
    axes.text(x + 0.5, y + 0.5, text, ha="center", va="center", color=ink, weight=weight)


def _write_scale(axes: Axes, norm: Normalize, measure: Measure) -> None:
    scale = mpl.cm.ScalarMappable(norm=norm, cmap=PALETTE)
    low, high = float(norm.vmin or 0.0), float(norm.vmax or 1.0)
    between = np.geomspace if isinstance(norm, LogNorm) else np.linspace
    ticks = between(low, high, 5).tolist()
    bar = axes.figure.colorbar(scale, ax=axes, label=measure.label)
    bar.set_ticks(ticks, labels=[number(tick, measure.name) for tick in ticks])
    bar.minorticks_off()
    bar.outline.set_visible(False)
