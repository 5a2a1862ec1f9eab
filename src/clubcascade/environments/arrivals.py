"""Who comes how often: all alike, a few regulars and many rare users, or as given."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from clubcascade import validation
from clubcascade.core import Floats
from clubcascade.errors import InvalidArgument

Arrivals = Literal["uniform", "zipf"] | Mapping[str, float] | npt.ArrayLike


def shares(arrivals: Any, n_users: int) -> Floats:
    """Return cumulative shares of the users; nothing for uniform arrivals.

    >>> shares("zipf", 3).round(3)
    array([0.545, 0.818, 1.   ])
    """
    if isinstance(arrivals, str):
        validation.choice("arrivals", arrivals, ("uniform", "zipf"))
        return np.zeros(0) if arrivals == "uniform" else _cumulated(_zipf(1.0, n_users))
    if isinstance(arrivals, Mapping):
        if list(arrivals) != ["zipf"]:
            raise InvalidArgument(f'arrivals must be {{"zipf": exponent}}, got {dict(arrivals)!r}')
        exponent = validation.number("exponent of arrivals", arrivals["zipf"], low=0, high=20)
        return _cumulated(_zipf(exponent, n_users))
    weights = np.asarray(arrivals, dtype=np.float64)
    good = weights.shape == (n_users,) and np.all(np.isfinite(weights)) and np.all(weights >= 0)
    if not good or weights.sum() <= 0:
        raise InvalidArgument(
            f'arrivals must be "uniform", "zipf", {{"zipf": exponent}} or {n_users} weights >= 0 '
            f"with a positive sum, got {arrivals!r}"
        )
    return _cumulated(weights)


def _zipf(exponent: float, n_users: int) -> Floats:
    """Weights of users by rank: the first user comes most."""
    return np.asarray(np.arange(1, n_users + 1, dtype=np.float64) ** -exponent)


def _cumulated(weights: Floats) -> Floats:
    total: Floats = np.cumsum(weights / weights.sum())
    total[np.flatnonzero(weights)[-1] :] = 1.0
    return total
