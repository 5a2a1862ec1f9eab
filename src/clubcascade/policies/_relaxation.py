"""Gap relaxation: steps by which the deletion constant becomes smaller while a policy runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from clubcascade import validation
from clubcascade.core import Floats
from clubcascade.errors import InvalidArgument

Schedule = Sequence[Sequence[float]]


def read_schedule(steps: Schedule | None, alpha: float) -> list[tuple[int, float]] | None:
    """Return steps ``(updates, alpha)`` as given, checked against the alpha of the start.

    >>> read_schedule([[1000, 1.5], [5000, 1.0]], alpha=2.0)
    [(1000, 1.5), (5000, 1.0)]
    """
    if steps is None:
        return None
    wanted = "alpha_schedule must be steps (updates, alpha)"
    if isinstance(steps, str) or not isinstance(steps, Iterable):
        raise InvalidArgument(f"{wanted}, got {steps!r}")
    read = [_step(step, wanted) for step in steps]
    if any(after[0] <= before[0] for before, after in pairwise(read)):
        raise InvalidArgument(f"{wanted} with rising numbers of updates, got {steps!r}")
    alphas = [alpha, *(step[1] for step in read)]
    if any(after > before for before, after in pairwise(alphas)):
        raise InvalidArgument(
            f"{wanted} in which alpha only falls, from {alpha:g} at the start, got {steps!r}: "
            f"an edge that is gone does not come back"
        )
    return read


def _step(step: Any, wanted: str) -> tuple[int, float]:
    if isinstance(step, str) or not isinstance(step, Sequence) or len(step) != 2:
        raise InvalidArgument(f"{wanted}, got {step!r} among them")
    return (
        validation.whole("updates of alpha_schedule", step[0], low=1),
        validation.number("alpha of alpha_schedule", step[1], low=0, infinite=True),
    )


def as_array(steps: list[tuple[int, float]] | None) -> Floats:
    """Return the steps as the kernels take them: one row each."""
    return np.array(steps or np.zeros((0, 2)), dtype=np.float64).reshape(-1, 2)
