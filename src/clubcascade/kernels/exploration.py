"""Which direction has a user seen least of, compared with an even spread over a spanner."""

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
    """Return the row of the spanner that a user lacks most, -1 if it lacks none.

    A row x lacks when ``x' (reg I + gram)^-1 x`` is above ``x' x / (reg + share count / r)``: what
    it would be if a share of the user's samples were spread evenly over the r rows.
    """
    d = gram.shape[0]
    inverse, moved = np.empty((d, d)), np.empty(d)
    factors.invert(gram, reg, np.empty((d, d)), inverse)
    spread = reg + share * count / spanner.shape[0]
    most, found = 1.0, -1
    for j in range(spanner.shape[0]):
        x = features[spanner[j]]
        linear.times(inverse, x, moved)
        lack = linear.dot(x, moved) * spread / linear.dot(x, x)
        if lack > most:
            most, found = lack, spanner[j]
    return found
