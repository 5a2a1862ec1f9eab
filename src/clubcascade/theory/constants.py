"""The constants that the theorems give an algorithm: alpha, beta, and what they are made of."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from clubcascade import validation
from clubcascade.theory import _read as read


def beta(n_features: int, horizon: int, n_clusters: int, reg: float) -> float:
    """Return the exploration constant of Theorem 2.

    ``sqrt(d ln(1 + T / (lambda d)) + 2 ln(4 m T)) + sqrt(lambda)``: the confidence radius after
    ``horizon`` observations at level ``1 / (4 m T)``.

    Parameters
    ----------
    n_features
        Number of features of an item, d.
    horizon
        Number of rounds, T.
    n_clusters
        Number of true clusters, m.
    reg
        Ridge constant, lambda, above 0. The theorem requires lambda >= K.

    Examples
    --------
    >>> round(beta(n_features=20, horizon=100_000, n_clusters=5, reg=4.0), 3)
    15.102
    """
    horizon = validation.whole("horizon", horizon, low=1)
    n_clusters = validation.whole("n_clusters", n_clusters, low=1)
    return confidence_radius(n_features, horizon, reg, delta=1 / (4 * n_clusters * horizon))


def alpha(n_features: int, item_eigenvalue: float) -> float:
    """Return the edge-deletion constant of Theorem 2: ``sqrt(32 d / lambda_x)``.

    Parameters
    ----------
    n_features
        Number of features of an item, d.
    item_eigenvalue
        Smallest eigenvalue of the items' second moment, lambda_x, in (0, 1]; see
        :func:`item_eigenvalue`.

    Examples
    --------
    >>> round(alpha(n_features=20, item_eigenvalue=0.05), 2)
    113.14
    """
    d = read.features(n_features)
    return math.sqrt(32 * d / read.eigenvalue(item_eigenvalue))


def confidence_radius(
    n_features: int, count: float, reg: float, delta: float, noise: float = 1.0
) -> float:
    """Return beta(t, delta) of Lemma 1: how far a ridge estimate is from the truth.

    With probability ``1 - delta``, for all t at once, the distance in the norm of the regularized
    Gram matrix is at most ``R sqrt(d ln(1 + t / (lambda d)) + 2 ln(1 / delta)) + sqrt(lambda)``.

    Parameters
    ----------
    n_features
        Number of features of an item, d.
    count
        Number of observations, t, at least 0.
    reg
        Ridge constant, lambda, above 0.
    delta
        Probability of failure, in (0, 1].
    noise
        Sub-Gaussian constant R of the noise, at least 0. The theorems take 1; a click needs 1/2.

    Examples
    --------
    >>> confidence_radius(n_features=2, count=0, reg=4.0, delta=1.0)
    2.0
    >>> round(confidence_radius(n_features=20, count=1000, reg=4.0, delta=0.05), 3)
    9.619
    """
    d = read.features(n_features)
    count = validation.number("count", count, low=0)
    reg = read.ridge(reg)
    delta = read.probability(delta)
    noise = validation.number("noise", noise, low=0)
    growth = d * math.log1p(count / (reg * d))
    return noise * math.sqrt(growth - 2 * math.log(delta)) + math.sqrt(reg)


def item_eigenvalue(items: npt.ArrayLike) -> float:
    """Return lambda_x of a sample of items: the smallest eigenvalue of the mean of ``x x'``.

    It is at most ``1 / d`` for items of norm at most 1, and 0 if they do not span all directions.

    Parameters
    ----------
    items
        One row of features per item, of Euclidean norm at most 1.

    Examples
    --------
    >>> item_eigenvalue([[1.0, 0.0], [0.0, 0.5]])
    0.125
    """
    rows = validation.feature_rows("items", items)
    moment = rows.T @ rows / len(rows)
    return max(0.0, float(np.linalg.eigvalsh(moment)[0]))
