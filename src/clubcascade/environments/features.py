"""Features of items from a history of clicks: singular vectors, the same on every machine."""

from typing import Any

import numpy as np
from scipy import sparse

from clubcascade.core import Floats

DECIMALS = 9
"""Features are rounded so far: what is left of rounding errors below it is not a difference."""

_EQUAL = 1e-9
"""Eigenvalues that are nearer than this, relative to the largest, count as one."""


def item_features(history: Any, n_features: int) -> Floats:
    """Return the first right singular vectors of a 0/1 matrix, one row per item.

    The singular value decomposition leaves signs open, and rotations where singular values are
    equal, which is common in sparse histories. Both are fixed here by a rule of their own, so
    that features do not depend on the linear algebra library or on its number of threads.

    ``history`` is users x items, dense or sparse; vectors beyond the rank are zero.

    Examples
    --------
    >>> item_features(np.array([[1, 1, 0, 0], [0, 0, 1, 0]]), 3).round(3)
    array([[0.707, 0.   , 0.   ],
           [0.707, 0.   , 0.   ],
           [0.   , 1.   , 0.   ],
           [0.   , 0.   , 0.   ]])
    """
    clicks = sparse.csr_array(history).astype(np.float64)
    users, items = clicks.shape
    by_user = users <= items
    gram = (clicks @ clicks.T if by_user else clicks.T @ clicks).toarray()
    values, vectors = _eigenvectors(gram, n_features)
    if by_user:  # row sums of a sparse product: items of equal clicks get equal bits
        vectors = (clicks.T.tocsr() @ vectors) / np.sqrt(values)
    features = np.zeros((items, n_features))
    features[:, : vectors.shape[1]] = np.round(_signed(vectors), DECIMALS)
    return features + 0.0  # no negative zeros


def scaled(features: Floats, scaling: str) -> Floats:
    """Divide all rows by the largest norm (``"largest"``) or each by its own (``"unit"``)."""
    norms = np.sqrt((features * features).sum(axis=1, keepdims=True))
    divisor = norms if scaling == "unit" else norms.max(initial=0.0)
    result: Floats = features / np.where(divisor > 0, divisor, 1.0)
    return result


def _eigenvectors(gram: Floats, most: int) -> tuple[Floats, Floats]:
    """Return the largest eigenvalues above zero, at most ``most``, and a fixed basis for them."""
    values, vectors = np.linalg.eigh(gram)
    values, vectors = values[::-1], vectors[:, ::-1]
    tolerance = _EQUAL * max(float(values[0]), 1.0)
    rank = int(np.sum(values > tolerance))
    kept: list[Floats] = []
    first = 0
    while first < min(rank, most):
        last = first + 1
        while last < rank and values[last - 1] - values[last] <= tolerance:
            last += 1
        kept.append(_basis(vectors[:, first:last]))
        first = last
    count = min(rank, most)
    if not kept:
        return np.zeros(0), np.zeros((len(gram), 0))
    return np.maximum(values[:count], tolerance), np.concatenate(kept, axis=1)[:, :count]


def _basis(vectors: Floats) -> Floats:
    """Return a basis that depends on the space alone, not on the vectors that span it.

    The unit vectors are projected onto the space one after the other; each projection that the
    ones before do not yet span becomes the next vector.
    """
    if vectors.shape[1] == 1:
        return vectors
    found: list[Floats] = []
    for row in vectors:  # the projection of a unit vector, in the coordinates of the space
        rest = row - sum((np.dot(row, other) * other for other in found), np.zeros(len(row)))
        rest = rest - sum((np.dot(rest, other) * other for other in found), np.zeros(len(row)))
        length = float(np.linalg.norm(rest))
        if length > 1e-6:
            found.append(rest / length)
        if len(found) == vectors.shape[1]:
            break
    result: Floats = vectors @ np.array(found).T
    return result


def _signed(vectors: Floats) -> Floats:
    """Make the first of the largest entries of each column positive."""
    sizes = np.abs(vectors)
    first = np.argmax(sizes >= sizes.max(axis=0, initial=0.0) - _EQUAL, axis=0)
    signs = np.sign(vectors[first, np.arange(vectors.shape[1])])
    result: Floats = vectors * np.where(signs < 0, -1.0, 1.0)
    return result
