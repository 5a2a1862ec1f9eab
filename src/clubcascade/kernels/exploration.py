"""Which item of a spanner a user has explored least, compared with even exploration."""

from __future__ import annotations

from typing import Any

import numpy as np

from clubcascade.core import Floats, Ints
from clubcascade.kernels import factors, linear
from clubcascade.kernels.jit import kernel


@kernel
def least_explored(
    gram: Floats, reg: float, count: int, share: float, features: Any, spanner: Ints
) -> int:
    """Return the row of the spanner that a user has explored least, -1 if all are explored.

    A row x is not explored while ``x' (reg I + gram)^-1 x`` is above
    ``x' x / (reg + share count / r)``: what it would be if a share of the user's samples were
    spread evenly over the r rows.
    """
    d = gram.shape[0]
    inverse, direction = np.empty((d, d)), np.empty(d)
    factors.invert(gram, reg, np.empty((d, d)), inverse)
    even = reg + share * count / spanner.shape[0]
    most, found = 1.0, -1
    for j in range(spanner.shape[0]):
        x = features[spanner[j]]
        linear.times(inverse, x, direction)
        ratio = linear.dot(x, direction) * even / linear.dot(x, x)
        if ratio > most:
            most, found = ratio, spanner[j]
    return found
