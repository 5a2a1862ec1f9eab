"""Sums of clicks without lists: what a user did not click counts a little as not clicked."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from clubcascade.core import Floats, Ints
from clubcascade.datasets.files import Progress, silent

PART = 512
"""Users whose sums are made at a time."""


def click_sums(
    clicks: sparse.csr_array, vectors: Floats, users: Ints
) -> tuple[Floats, Floats, Floats]:
    """Return of each user: the sum of ``f f'`` and of ``f`` over the clicked items, and how many.

    >>> clicks = sparse.csr_array(np.array([[1.0, 1.0]]))
    >>> click_sums(clicks, np.array([[1.0, 0.0], [0.6, 0.8]]), np.array([0]))[1]
    array([[1.6, 0.8]])
    """
    d = vectors.shape[1]
    outer, moment = np.zeros((len(users), d, d)), np.zeros((len(users), d))
    starts, ends = clicks.indptr[users], clicks.indptr[users + 1]
    for place, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        clicked = vectors[clicks.indices[start:end]]
        np.matmul(clicked.T, clicked, out=outer[place])
        clicked.sum(axis=0, out=moment[place])
    return outer, moment, (ends - starts).astype(np.float64)


def weighed(
    outer: Floats, number: Floats, vectors: Floats, weight: float, whole: Floats | None = None
) -> tuple[Floats, Ints]:
    """Return ``weight F'F + (1 - weight) sum f f'`` of each user, and how many observations it is.

    ``whole`` is ``F'F``, if it is known.
    """
    whole = vectors.T @ vectors if whole is None else whole
    count = number + weight * (len(vectors) - number)
    return weight * whole + (1.0 - weight) * outer, np.maximum(np.rint(count), 1).astype(np.int64)


def everyone(clicks: sparse.csr_array, vectors: Floats, weight: float) -> tuple[Floats, Floats]:
    """Return the sums of all users together, without those of each: (gram, moment)."""
    number = np.asarray(clicks.sum(axis=0), dtype=np.float64)
    outer = vectors.T @ (vectors * number[:, None])
    whole = clicks.shape[0] * (vectors.T @ vectors)
    return weight * whole + (1.0 - weight) * outer, vectors.T @ number


def estimates(gram: Floats, moment: Floats, mean: Floats, precision: float) -> Floats:
    """Return the weights of users by ridge regression, drawn towards a mean with a precision."""
    ridge = gram + precision * np.eye(gram.shape[-1])
    moments = (moment + precision * mean)[..., None]
    return np.asarray(np.linalg.solve(ridge, moments), np.float64)[..., 0]


def sums(
    clicks: sparse.csr_array,
    vectors: Floats,
    weight: float,
    strength: float = 1.0,
    progress: Progress = silent,
) -> Iterator[tuple[Floats, Floats, Ints]]:
    """Yield gram matrices, moments and counts of all users, times ``strength``, some at a time."""
    whole, n = vectors.T @ vectors, clicks.shape[0]
    for first in range(0, n, PART):
        users = np.arange(first, min(first + PART, n))
        outer, moment, number = click_sums(clicks, vectors, users)
        gram, count = weighed(outer, number, vectors, weight, whole)
        number = np.maximum(np.rint(strength * count), 1.0).astype(np.int64)
        yield strength * gram, strength * moment, number
        progress("adding up clicks", int(users[-1]) + 1, n)
