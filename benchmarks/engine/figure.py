"""The growth of a round with users, items and features, drawn from ``bench.json``."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from clubcascade.model_file import atomic_write
from clubcascade.report.style import INK, SETTINGS, line_style

DPI = 150
PANELS = {
    "users": ("n_users", "users (sparse start)"),
    "items": ("n_items", "items"),
    "features": ("n_features", "features"),
}
"""Tables that are drawn, the key of the size in each, and the label of its axis."""

Rows = Sequence[Mapping[str, Any]]


def growth(tables: Mapping[str, Rows]) -> Figure | None:
    """Draw a panel per table: microseconds of a round against the size, both in logarithms.

    Parameters
    ----------
    tables
        Rows by the name of their table. Tables that are not there get no panel; None without any.
    """
    there = [name for name in PANELS if tables.get(name)]
    if not there:
        return None
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(3.5 * len(there) + 0.4, 3.3), layout="constrained")
        grid = figure.subplots(1, len(there), sharey=True, squeeze=False)
        for axes, name in zip(grid[0], there, strict=True):
            size, label = PANELS[name]
            panel(axes, tables[name], size)
            axes.set_xlabel(label)
        grid[0][0].set_ylabel("microseconds a round")
        figure.suptitle("How a round grows", x=0.01, ha="left", fontsize=11, color=INK)
    return figure


def panel(axes: Axes, rows: Rows, size: str) -> None:
    """Draw one panel, with the bare product beside it where that was measured."""
    lines = [("microseconds", "a round")]
    if all("product" in row for row in rows):
        lines.append(("product", "one X @ theta"))
    for position, (key, label) in enumerate(lines):
        style = line_style(2 * position)
        axes.plot(
            [row[size] for row in rows],
            [row[key] for row in rows],
            color=style.colour,
            linewidth=1.8,
            marker="os"[position],
            markersize=4.5,
            label=label,
        )
    if len(lines) > 1:
        axes.legend(loc="upper left")
    for row in rows:
        axes.annotate(
            f"{row['microseconds']:.3g}",
            (row[size], row["microseconds"]),
            xytext=(0, 6),
            textcoords="offset points",
            ha="center",
            fontsize=8,
            color=INK,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.margins(x=0.12, y=0.25)
    plain = FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(plain)
        axis.set_minor_formatter(NullFormatter())


def save_growth(folder: str | os.PathLike[str]) -> list[Path]:
    """Draw the growth of ``bench.json`` into its folder, as PNG and as SVG; return the paths."""
    found = json.loads((Path(folder) / "bench.json").read_text(encoding="utf-8"))
    figure = growth({table["name"]: table["rows"] for table in found["tables"]})
    if figure is None:
        return []
    paths = []
    for kind in ("png", "svg"):
        path = Path(folder) / f"growth.{kind}"
        metadata = {"Date": None} if kind == "svg" else None  # the same picture, the same file
        with mpl.rc_context(SETTINGS), atomic_write(path) as file:
            figure.savefig(file, format=kind, dpi=DPI, metadata=metadata)
        paths.append(path)
    return paths
