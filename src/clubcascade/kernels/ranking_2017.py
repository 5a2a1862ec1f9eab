"""The ranking of the public 2017 code: each bonus times a uniform number of its own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clubcascade.core import Floats
from clubcascade.kernels import counter_rng, linear, ranking
from clubcascade.kernels.jit import kernel


@kernel
def rank_2017(
    state: Any, ridge: Any, g: int, features: Floats, offered: Any, rows: Any, scores: Floats
) -> None:
    """Rank by ``x . w + u beta |x|_(M^-1)`` with u uniform on [0, 1), one per item."""
    weights, inverse = ridge.weights[g], ridge.inverse[g]
    direction = np.empty(features.shape[1])
    filled = 0
    for j in range(offered.shape[0]):
        x = features[offered[j]]
        linear.times(inverse, x, direction)
        width = math.sqrt(max(linear.dot(x, direction), 0.0))
        u = counter_rng.uniform(state.key, state.n_drawn, j)
        score = linear.dot(weights, x) + u * state.beta * width
        if filled < rows.shape[0] or score > scores[filled - 1]:
            filled = ranking.insert(scores, rows, filled, score, j)
    state.n_drawn += 1
