"""How far an axis reaches: all lines, but for a few that would dwarf the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from clubcascade.report.curves import Curve
from clubcascade.report.measures import Measure

DWARFED = 3.0
"""A line that ends this many times above all lines below it is cut off at the top."""


def set_limits(
    axes: Axes, curves: Mapping[str, Curve], measure: Measure, truth: float | None
) -> tuple[float, float]:
    """Choose the ends of the axis, and set them."""
    finals = [curve.final for curve in curves.values()]
    if measure.name == "rand_index":
        low, top = min(-0.05, *(float(curve.mean.min()) for curve in curves.values())), 1.05
    elif measure.better == "low":
        top = readable_top(finals)
        low = -0.02 * top
    else:
        highest = max(float(curve.mean.max()) for curve in curves.values())
        top = 1.06 * max(highest, truth or 0.0) or 1.0
        low = 0.0
    axes.set_ylim(low, top)
    return low, top


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
