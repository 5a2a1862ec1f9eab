"""How lines look: colours that colour-blind readers can tell apart, and a dash pattern each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

INK = "#222222"
FAINT = "#8a8a8a"

_COLOURS = ("#D55E00", "#E69F00", "#0072B2", "#56B4E9", "#CC79A7", "#009E73", "#000000")
"""Okabe and Ito's palette without its yellow, which is lost on white."""

_DASHES: tuple[Any, ...] = (
    "solid",
    (0, (5, 1.6)),
    "solid",
    (0, (6, 1.5, 1.2, 1.5)),
    (0, (1.4, 1.2)),
    "solid",
    (0, (3, 1, 1, 1, 1, 1)),
)

SETTINGS: Any = {
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.labelsize": 9.5,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.7,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "svg.hashsalt": "clubcascade",
}
"""Matplotlib settings of our figures."""


@dataclass(frozen=True, slots=True)
class LineStyle:
    """Colour, dash pattern and width of a line."""

    colour: str
    dash: Any
    width: float


def line_style(position: int) -> LineStyle:
    """Give the style of the line at a position of the legend; no two of the first 49 are alike.

    >>> line_style(0).colour, line_style(0).width > line_style(1).width
    ('#D55E00', True)
    """
    shift = position // len(_COLOURS)
    dash = _DASHES[(position + shift) % len(_DASHES)]
    return LineStyle(_COLOURS[position % len(_COLOURS)], dash, 2.2 if position == 0 else 1.6)
