"""The heat map of the field: panels x policies, coloured by the ratio to the best of the panel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from benchmarks.evaluation.field_ratios import GROUPS, PanelRatios, standings
from clubcascade import validation
from clubcascade.report.estimates import number
from clubcascade.report.figures import save
from clubcascade.report.folders import EDGE, KNOWN
from clubcascade.report.heatmap import PALETTE, draw_cell
from clubcascade.report.style import INK, SETTINGS

MOST = 10.0
"""Where the colours end; larger ratios have the last one."""

TICKS = (1, 1.2, 1.5, 2, 3, 5, MOST)

CELL = (0.62, 0.25)
"""Width and height of a cell, in inches."""

LETTER = 0.064
"""Width of a letter of the names, in inches."""

GAP = 0.5
"""Between groups, and before the policies that know the clusters, in cells."""


class _Row(NamedTuple):
    """A panel and whose tuned values are at an edge, or the medians of a group: None is marked."""

    name: str
    ratios: dict[str, float]
    marked: set[str] | None


def save_field_map(found: Sequence[PanelRatios], picture: Path) -> Path:
    """Draw the map into a file, as PNG or SVG by its ending."""
    validation.choice("ending of the picture", picture.suffix.lower(), (".png", ".svg"))
    return save(field_map(found), picture)


def field_map(found: Sequence[PanelRatios]) -> Figure:
    """Draw a row per panel, below the medians of its group, and a column per policy.

    The best policy of a panel is framed; who does not play has no cell.
    """
    kinds = {label: kind for each in found for label, kind in each.policies.items()}
    labels = [each.label for each in standings(found)]
    at = {x: i + (GAP if kinds[x] in KNOWN else 0.0) for i, x in enumerate(labels)}
    norm = LogNorm(1.0, MOST, clip=True)
    colours = mpl.colormaps[PALETTE].reversed()
    rows = list(_rows(found))
    tops = np.arange(len(rows)) + GAP * (np.cumsum([row.marked is None for row in rows]) - 1)
    width, height = max(at.values()) + 1, tops[-1] + 1
    with mpl.rc_context({**SETTINGS, "axes.grid": False, "font.size": 8.5}):
        drawn = Figure()
        axes = _axes(drawn, (width, height), [row.name for row in rows], labels)
        for row, top in zip(rows, tops.tolist(), strict=True):
            for label, value in row.ratios.items():
                best = row.marked is not None and value == 1.0 and kinds[label] not in KNOWN
                text = number(value) + (EDGE.strip() if label in (row.marked or ()) else "")
                draw_cell(axes, at[label], top, colours(norm(max(value, 1.0))), text, best)
        axes.set(xlim=(0, width), ylim=(height, 0))
        axes.set_xticks(np.array(list(at.values())) + 0.4, labels, rotation=40, ha="left")
        axes.set_yticks(tops + 0.5, [row.name for row in rows])
        axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
        axes.spines[:].set_visible(False)
        for tick, row in zip(axes.get_yticklabels(), rows, strict=True):
            tick.set_fontweight("bold" if row.marked is None else "normal")
        inset = axes.inset_axes((-6.4 / width, 1 + 1.6 / height, 6 / width, 0.8 / height))
        scale = mpl.cm.ScalarMappable(norm, colours)
        bar = drawn.colorbar(scale, inset, orientation="horizontal")
        bar.set_ticks(TICKS, labels=[*(f"{tick:g}" for tick in TICKS[:-1]), f"≥ {MOST:g}"])
        bar.minorticks_off()
        bar.outline.set_visible(False)
        inset.set_title("ratio to the best policy of the panel", color=INK, fontsize=9.5)
    return drawn


def _axes(
    drawn: Figure, cells: tuple[float, float], names: Sequence[str], labels: Sequence[str]
) -> Axes:
    """Add axes of so many cells, with room for the longest names."""
    longest, slanted = (LETTER * max(map(len, texts)) for texts in (names, labels))
    left, right, top = max(4.3, longest + 0.2), 0.8 * slanted, max(1.0, 0.65 * slanted + 0.3)
    width, height = cells[0] * CELL[0], cells[1] * CELL[1]
    size = left + width + right, top + height + 0.1
    drawn.set_size_inches(*size)
    box = left / size[0], 0.1 / size[1], width / size[0], height / size[1]
    return drawn.add_axes(box)


def _rows(found: Sequence[PanelRatios]) -> Iterator[_Row]:
    for group in GROUPS:
        there = [each for each in found if each.group == group]
        if there:
            medians = {each.label: each.median.value for each in standings(there)}
            yield _Row(f"{group}: median of {len(there)}", medians, None)
        for each in there:
            edges = {label for title, label in each.run.edges if title == each.panel.title}
            yield _Row(each.panel.title, each.ratios, edges)
