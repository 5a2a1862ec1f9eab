"""The style of figures: colours that colour-blind readers can tell apart, dashes, markers."""

from dataclasses import dataclass
from itertools import count
from typing import Any

from clubcascade.experiment import Experiment

INK = "#222222"
FAINT = "#8a8a8a"
DPI = 150

COLOURS = ("#D55E00", "#E69F00", "#0072B2", "#56B4E9", "#CC79A7", "#009E73", "#000000")
"""Okabe and Ito's palette without its yellow, which is lost on white."""

DARK_COLOURS = ("#FF7F2A", "#F5BD3D", "#4C9FE6", "#9AD6F7", "#E7A3CB", "#35C99E", "#F2F2F2")
"""The same colours, lighter, for a dark page."""

OWN = 5
"""The place of CohortCascade; no other line has its colour."""

WIDE = (0, OWN)
"""The places of wide lines."""

DASHES: tuple[tuple[float, ...], ...] = (
    (),
    (5, 1.6),
    (),
    (6, 1.5, 1.2, 1.5),
    (1.4, 1.2),
    (),
    (3, 1, 1, 1, 1, 1),
)
"""Lengths of strokes and gaps, in widths of the line; none: a solid line."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
SYMBOLS = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x")
GLYPHS = "●■▲◆▼✚✖"
"""The markers as Matplotlib, Plotly and plain text have them."""

PLACES = {
    "club_cascade": 0,
    "c3_ucb": 2,
    "cascade_lin_ucb": 3,
    "multiple_lin_ucb": 4,
    "known_clusters": 6,
    "cascade_lin_ts": 10,
    "cascade_kl_ucb": 13,
    "cohort_cascade": OWN,
    "random": 20,
}
"""The places of policies that many figures have, so that they are the same in all."""

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
    """Colour on a light and a dark page, width, dashes, and the marker as each library has it."""

    colour: str
    dark: str
    width: float
    dash: tuple[float, ...] = ()
    marker: str = ""
    symbol: str = ""
    glyph: str = ""

    def matplotlib(self) -> dict[str, Any]:
        """Return the arguments of a Matplotlib line."""
        dash = (0, self.dash) if self.dash else "solid"
        line = {"color": self.colour, "linestyle": dash, "linewidth": self.width}
        return {**line, "marker": self.marker}


def line_style(place: int) -> LineStyle:
    """Give the style of a place; no two of the first 49 are alike.

    >>> line_style(0).colour, line_style(0).width > line_style(1).width
    ('#D55E00', True)
    """
    colour, shape = place % len(COLOURS), (place + place // len(COLOURS)) % len(MARKERS)
    return LineStyle(
        COLOURS[colour],
        DARK_COLOURS[colour],
        2.2 if place in WIDE else 1.6,
        DASHES[shape],
        MARKERS[shape],
        SYMBOLS[shape],
        GLYPHS[shape],
    )


def styles(experiment: Experiment) -> dict[str, LineStyle]:
    """Give every policy of an experiment a style, by label.

    The first of a kind that many figures have gets its own place, the others what is left.
    """
    taken: dict[str, int] = {}
    for contender in experiment.policies:
        place = PLACES.get(contender.policy)
        if place is not None and place not in taken.values():
            taken[contender.label] = place
    others = (place for place in count() if place % len(COLOURS) != OWN)
    free = (place for place in others if place not in taken.values())
    labels = [contender.label for contender in experiment.policies]
    places = {label: taken[label] if label in taken else next(free) for label in labels}
    return {label: line_style(place) for label, place in places.items()}
