"""Counter-based standard normal numbers: the ziggurat method (Marsaglia and Tsang, 2000).

The bell curve is covered by 256 layers of one area, each a rectangle but for its end. A layer is
chosen, then a point in it; nearly always it lies under the curve for certain, without a logarithm.
The result is exactly normal, up to the precision of numbers.
"""

from __future__ import annotations

import math

import numpy as np

from clubcascade.core import Floats
from clubcascade.kernels.counter_rng import bits, mix, unit
from clubcascade.kernels.jit import kernel

TAIL = 3.6541528853610088
"""Where the lowest layer of the ziggurat ends; beyond it is the tail of the normal law."""


def _ziggurat() -> tuple[Floats, Floats]:
    """Return the right edges of 256 layers of one area, and the curve's heights there."""
    edges = np.zeros(257)
    area = TAIL * math.exp(-0.5 * TAIL**2)
    area += math.sqrt(math.pi / 2.0) * math.erfc(TAIL / math.sqrt(2.0))
    edges[0], edges[1] = area / math.exp(-0.5 * TAIL**2), TAIL
    for layer in range(2, 256):
        height = area / edges[layer - 1] + math.exp(-0.5 * edges[layer - 1] ** 2)
        edges[layer] = math.sqrt(-2.0 * math.log(height))
    return edges, np.exp(-0.5 * edges**2)


_EDGES, _HEIGHTS = _ziggurat()
_S8, _LAYER, _ONE = np.uint64(8), np.uint64(255), np.uint64(1)


@kernel
def _beyond(word: np.uint64) -> float:
    """Return a normal number that is larger than ``TAIL`` (Marsaglia, 1964)."""
    while True:
        word = mix(word)
        more = -math.log(1.0 - unit(word)) / TAIL
        word = mix(word)
        if -2.0 * math.log(1.0 - unit(word)) > more * more:
            return TAIL + more


@kernel
def _normal_of(word: np.uint64) -> float:
    """Make a standard normal number of random bits; if they do not suffice, of more made of them.

    The lowest 8 choose a layer, the next one the side, the upper 53 how far out.
    """
    while True:
        layer = int(word & _LAYER)
        side = 1.0 - 2.0 * float((word >> _S8) & _ONE)
        x = unit(word) * _EDGES[layer]
        if x < _EDGES[layer + 1]:
            return side * x
        if layer == 0:
            return side * _beyond(word)
        word = mix(word)
        low, high = _HEIGHTS[layer], _HEIGHTS[layer + 1]
        if low + unit(word) * (high - low) < math.exp(-0.5 * x * x):
            return side * x
        word = mix(word)


@kernel
def normals(key: np.uint64, t: int, out: Floats) -> None:
    """Fill ``out`` with standard normal numbers, those of round ``t``."""
    for place in range(out.shape[0]):
        out[place] = _normal_of(bits(key, t, place))
