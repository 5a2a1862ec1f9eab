"""Lists as the public code of 2017 makes them: each bonus times a uniform number of its own."""

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
    """Rank with each bonus multiplied by its own uniform number, as the 2017 code does."""
    weights, inverse = ridge.weights[g], ridge.inverse[g]
    moved = np.empty(features.shape[1])
    filled = 0
    for j in range(offered.shape[0]):
        x = features[offered[j]]
        linear.times(inverse, x, moved)
        width = math.sqrt(max(linear.dot(x, moved), 0.0))
        shake = counter_rng.uniform(state.key, state.n_drawn, j)
        score = linear.dot(weights, x) + shake * state.beta * width
        if filled < rows.shape[0] or score > scores[filled - 1]:
            filled = ranking.insert(scores, rows, filled, score, j)
    state.n_drawn += 1
