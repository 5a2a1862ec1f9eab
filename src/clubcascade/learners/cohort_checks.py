"""Cohorts that were read: what the kernels rely on is checked once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

ROUNDING = 1e-9
"""Share of its trace by which a matrix may fall short of positive semidefinite."""

PART = 256
"""Matrices that are looked at together: few enough for the cache."""


def check_cohorts(arrays: dict[str, npt.NDArray[Any]], scalars: Mapping[str, Any], n: int) -> None:
    """Raise unless every cohort of ``n`` users is one ring, and all that is counted is right."""
    label, after, before = (arrays[name][:n] for name in ("label", "after", "before"))
    size, head = arrays["size"], arrays["head"]
    placed = np.flatnonzero(label)
    users = np.bincount(label[placed], minlength=len(size))
    if not np.array_equal(size, users):
        raise ValueError("size must count the users of each cohort")
    cohorts = np.flatnonzero(size)
    told = [scalars[name] for name in ("n_cohorts", "n_users", "n_assigned")]
    right = [len(cohorts), n, len(placed)]
    if told != right:
        raise ValueError(f"tally must count cohorts, users and users with one, {right}, got {told}")
    if (after[placed] >= n).any() or not np.array_equal(label[after[placed]], label[placed]):
        raise ValueError("after must be a user of the same cohort")
    if (before[placed] >= n).any() or not np.array_equal(before[after[placed]], placed):
        raise ValueError("before must be the other way round than after")
    links = csr_array((np.ones(len(placed), np.int8), (placed, after[placed])), shape=(n, n))
    rings = connected_components(links, directed=False)[0] - (n - len(placed))
    if rings != len(cohorts):
        raise ValueError(f"after must be one ring for each of {len(cohorts)} cohorts, got {rings}")
    if (head >= max(n, 1)).any() or not np.array_equal(label[head[cohorts]], cohorts):
        raise ValueError("head must be a user of the cohort")
    if min(scalars["noise_variance"], scalars["move_rate"]) < 0.0:
        raise ValueError("noise must be at least 0")
    if scalars["answered"] < 0.0 or scalars["promised"] < -1.0:
        raise ValueError("calibration must be at least 0, or -1 and 0 for none")
    if arrays["error"][:-1].min() < 0.0:  # the last row is scratch
        raise ValueError("error must be at least 0")
    if arrays["mixture_error"].min() < 0.0:
        raise ValueError("mixture_error must be at least 0")
    check_semidefinite("gram", arrays["gram"][:n])


def check_semidefinite(name: str, matrices: npt.NDArray[Any]) -> None:
    """Raise unless all of some symmetric matrices are positive semidefinite, up to rounding.

    >>> check_semidefinite("gram", np.array([[[1.0, 0.0], [0.0, -0.5]]]))
    Traceback (most recent call last):
        ...
    ValueError: gram must be positive semidefinite
    """
    one = np.eye(matrices.shape[-1])
    for start in range(0, len(matrices), PART):
        part = matrices[start : start + PART]
        tolerance = ROUNDING * (1.0 + np.trace(part, axis1=1, axis2=2))
        try:
            np.linalg.cholesky(part + tolerance[:, None, None] * one)
        except np.linalg.LinAlgError:
            raise ValueError(f"{name} must be positive semidefinite") from None
