"""Rounds until the clusters are separated, and the sparsest start that keeps them connected."""

from __future__ import annotations

import math

from clubcascade import validation
from clubcascade.theory import _read as read


def exploration_rounds(
    n_users: int,
    n_features: int,
    gap: float,
    item_eigenvalue: float,
    horizon: int,
    delta: float | None = None,
) -> float:
    """Return T0(delta) of appendix A: rounds after which the clusters are correct.

    ``16 u ln(4 u T / delta) + 4 u max(512 d / (gamma^2 lambda_x) ln(4 u / delta),
    256 / lambda_x^2 ln(128 d / (lambda_x^2 delta)))``

    Parameters
    ----------
    n_users
        Number of users, u.
    n_features
        Number of features of an item, d.
    gap
        Smallest distance between the weights of two clusters, gamma, in (0, 2].
    item_eigenvalue
        Smallest eigenvalue of the items' second moment, lambda_x, in (0, 1].
    horizon
        Number of rounds, T.
    delta
        Probability of failure, in (0, 1]; by default ``1 / horizon``, as in the main theorem.

    Notes
    -----
    This is T0 as displayed. The event B_2i a few lines above it is printed with the constants
    1024 and 512 instead of 256 and 128.

    Examples
    --------
    >>> round(exploration_rounds(n_users=40, n_features=20, gap=1.0, item_eigenvalue=0.05,
    ...                          horizon=100_000))
    543576822
    """
    u = validation.whole("n_users", n_users, low=1)
    d = read.features(n_features)
    gap = validation.number("gap", gap, low=0, high=2, open_low=True)
    low = read.eigenvalue(item_eigenvalue)
    horizon = validation.whole("horizon", horizon, low=1)
    delta = 1 / horizon if delta is None else read.probability(delta)
    apart = 512 * d / (gap**2 * low) * math.log(4 * u / delta)
    seen = 256 / low**2 * math.log(128 * d / (low**2 * delta))
    return 16 * u * math.log(4 * u * horizon / delta) + 4 * u * max(apart, seen)


def edge_probability(n_users: int, n_clusters: int, smallest_share: float, delta: float) -> float:
    """Return the edge probability of the random start: ``min(1, m ln(u / delta) / (share u))``.

    Parameters
    ----------
    n_users
        Number of users, u.
    n_clusters
        Number of true clusters, m, at most u.
    smallest_share
        Every cluster has at least ``smallest_share * u / m`` users; in (0, 1], 1 if all clusters
        are equally large. The paper calls it beta in its discussion.
    delta
        Probability that some cluster's users do not hang together, in (0, 1].

    Notes
    -----
    The paper prints ``p = O(m log(u / delta) / beta)``, which is above 1 for every useful u: a
    factor ``1 / u`` is missing. The lemma it cites (Gentile, Li and Zappella 2014, Lemma 1)
    requires p of the order of ``log(u / delta) / s``, where s is the size of the smallest cluster,
    here ``share * u / m``. The constant is 1: a cluster of s users then has ``s exp(-p s)``,
    that is ``s delta / u``, users without a link to it on average, and all clusters together delta;
    a lone user is by far the most likely reason for a random graph not to be connected.

    Examples
    --------
    >>> round(edge_probability(n_users=900, n_clusters=5, smallest_share=1.0, delta=0.1), 4)
    0.0506
    >>> edge_probability(n_users=10, n_clusters=5, smallest_share=0.5, delta=0.1)
    1.0
    """
    u = validation.whole("n_users", n_users, low=1)
    m = read.clusters(n_clusters, n_users)
    share = validation.number("smallest_share", smallest_share, low=0, high=1, open_low=True)
    delta = read.probability(delta)
    return min(1.0, m * math.log(u / delta) / (share * u))
