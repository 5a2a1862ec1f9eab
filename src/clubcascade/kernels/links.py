"""Link functions: the mean of a click as a function of ``weights . x``, and its slope.

Identity, logistic and probit by their formulas; any other link by a table of its values and
slopes, read by cubic (Hermite) interpolation and continued as a straight line.
"""

from __future__ import annotations

import math

from clubcascade.core import Floats
from clubcascade.kernels.jit import Struct, kernel, struct

IDENTITY, LOGISTIC, PROBIT, TABLE = 0, 1, 2, 3
_ROOT_HALF = math.sqrt(0.5)
_DENSITY = 1.0 / math.sqrt(2.0 * math.pi)


@struct
class CompiledLink(Struct):
    """``table`` (2 x points: means, slopes) over a grid from ``first`` on, ``spacing`` apart."""

    table: Floats
    kind: int
    first: float
    spacing: float


@kernel
def logistic(z: float) -> tuple[float, float]:
    """Mean and slope; both keep their relative precision in the tails."""
    e = math.exp(-abs(z))
    small = e / (1.0 + e)
    return (1.0 / (1.0 + e) if z >= 0.0 else small), small / (1.0 + e)


@kernel
def probit(z: float) -> tuple[float, float]:
    """Mean and slope of the normal distribution function."""
    return 0.5 * math.erfc(-z * _ROOT_HALF), _DENSITY * math.exp(-0.5 * z * z)


@kernel
def look_up(table: Floats, first: float, spacing: float, z: float) -> tuple[float, float]:
    """Mean and slope from a table: the cubic of two neighbours, beyond the ends a line."""
    last = table.shape[1] - 1
    place = (z - first) / spacing
    if not place > 0.0:
        return table[0, 0] + (z - first) * table[1, 0], table[1, 0]
    if place >= last:
        end = first + last * spacing
        return table[0, last] + (z - end) * table[1, last], table[1, last]
    i = int(place)
    t = place - i
    low, high = table[0, i], table[0, i + 1]
    rise, from_low, from_high = high - low, spacing * table[1, i], spacing * table[1, i + 1]
    bend = 3.0 * rise - 2.0 * from_low - from_high
    turn = from_low + from_high - 2.0 * rise
    mean = low + t * (from_low + t * (bend + t * turn))
    return mean, (from_low + t * (2.0 * bend + 3.0 * t * turn)) / spacing


@kernel
def at(link: CompiledLink, z: float) -> tuple[float, float]:
    """Mean and slope of a link at one point."""
    kind = link.kind
    if kind == LOGISTIC:
        return logistic(z)
    if kind == PROBIT:
        return probit(z)
    if kind == TABLE:
        return look_up(link.table, link.first, link.spacing, z)
    return z, 1.0


@kernel
def evaluate(link: CompiledLink, z: Floats, n: int, mean: Floats, slope: Floats) -> None:
    """Means and slopes at the first ``n`` entries of ``z``."""
    kind = link.kind
    if kind == LOGISTIC:
        for j in range(n):
            mean[j], slope[j] = logistic(z[j])
    elif kind == PROBIT:
        for j in range(n):
            mean[j], slope[j] = probit(z[j])
    elif kind == TABLE:
        for j in range(n):
            mean[j], slope[j] = look_up(link.table, link.first, link.spacing, z[j])
    else:
        for j in range(n):
            mean[j], slope[j] = z[j], 1.0
