"""What the best lists would have brought: the line that no policy can pass."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clubcascade.environments.arrivals import shares
from clubcascade.environments.tabular import TabularEnvironment


def ceiling(env: Any, k: int) -> float:
    """Return the share of rounds with a click if every user were shown their best ``k`` items.

    NaN where that is not known: items that change every round, or an environment of another kind.

    >>> from clubcascade.environments import Matrix
    >>> ceiling(Matrix([[0.5, 0.5, 0.0], [0, 0, 0]], items=np.eye(3)), k=2)
    0.375
    """
    if not isinstance(env, TabularEnvironment) or env.offered is not None:
        return math.nan
    attraction = np.asarray(env.attraction)
    best = np.partition(attraction, -k, axis=1)[:, -k:]
    clicked = 1.0 - np.prod(1.0 - best, axis=1)
    cumulated = shares(env.arrivals, env.n_users)
    weights = np.diff(cumulated, prepend=0.0) if cumulated.size else None
    return float(np.average(clicked[env.kind], weights=weights))
