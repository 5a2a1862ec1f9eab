"""The regret that the theorem, its corollary and its proof promise for linear rewards."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from clubcascade import validation
from clubcascade.theory import _read as read
from clubcascade.theory.clustering import exploration_rounds
from clubcascade.theory.constants import beta, confidence_radius


@dataclass(frozen=True, slots=True)
class RegretBound:
    """An upper bound of the expected cumulative regret, in its two parts.

    Parameters
    ----------
    learning
        Rounds lost while the weights of correct clusters are learned.
    clustering
        Rounds lost until the clusters are correct.

    Examples
    --------
    >>> RegretBound(learning=300.0, clustering=50.0).total
    350.0
    """

    learning: float
    clustering: float

    @property
    def total(self) -> float:
        """Both parts together. A value above the horizon says nothing: no regret is larger."""
        return self.learning + self.clustering


def regret_bound(
    n_users: int,
    n_clusters: int,
    n_features: int,
    k: int,
    horizon: int,
    gap: float,
    item_eigenvalue: float,
    reg: float,
) -> RegretBound:
    """Return the bound of Theorem 2 for CLUB-cascade with its alpha and beta.

    ``learning`` is ``2 beta sqrt(2 d m K T ln(1 + T K / (lambda d)))``. ``clustering`` is T0(1/T),
    the explicit form of the term ``O(u (d / (gamma^2 lambda_x) + 1 / lambda_x^2) ln T)``; the
    chance that the proof's events fail adds at most one more round.

    Parameters
    ----------
    n_users
        Number of users, u.
    n_clusters
        Number of true clusters, m, at most u.
    n_features
        Number of features of an item, d.
    k
        Length of the list, K.
    horizon
        Number of rounds, T.
    gap
        Smallest distance between the weights of two clusters, gamma, in (0, 2].
    item_eigenvalue
        Smallest eigenvalue of the items' second moment, lambda_x, in (0, 1].
    reg
        Ridge constant, lambda; the theorem holds for lambda >= K.

    Examples
    --------
    >>> bound = regret_bound(n_users=40, n_clusters=5, n_features=20, k=4, horizon=100_000,
    ...                      gap=1.0, item_eigenvalue=0.05, reg=4.0)
    >>> round(bound.learning), round(bound.clustering)
    (788407, 543576822)
    """
    n_clusters = read.clusters(n_clusters, n_users)
    reg = read.ridge_for(k, reg)
    widths = sum_of_widths(n_features, n_clusters, k, horizon, reg)
    return RegretBound(
        learning=2 * beta(n_features, horizon, n_clusters, reg) * widths,
        clustering=exploration_rounds(n_users, n_features, gap, item_eigenvalue, horizon),
    )


def regret_bound_one_cluster(
    n_features: int, k: int, horizon: int, reg: float | None = None
) -> RegretBound:
    """Return the bound of the corollary: one cluster, nothing to find out about the users.

    Parameters
    ----------
    n_features
        Number of features of an item, d.
    k
        Length of the list, K.
    horizon
        Number of rounds, T.
    reg
        Ridge constant, lambda, at least K; by default K, as in the corollary.

    Notes
    -----
    The corollary prints ``2 (sqrt(d T ln(1 + T / (lambda d)) + 2 ln(4 T)) + sqrt(lambda))
    sqrt(2 d K ln(1 + T K / (lambda d)))``, with T in the first root. Its proof takes the first
    line of the theorem's bound with m = 1 and T0 = 0, where T stands in the second root; so does
    this function. The printed form is smaller than what is proved: the terms ``2 ln(4 T)`` and
    ``sqrt(lambda)`` have lost their factor ``sqrt(T)``. Both are of order ``d sqrt(K T) ln T``.

    Examples
    --------
    >>> bound = regret_bound_one_cluster(n_features=20, k=4, horizon=100_000)
    >>> round(bound.total), bound.clustering
    (349705, 0.0)
    """
    reg = read.ridge_for(k, validation.whole("k", k, low=1) if reg is None else reg)
    widths = sum_of_widths(n_features, 1, k, horizon, reg)
    return RegretBound(2 * beta(n_features, horizon, 1, reg) * widths, 0.0)


def regret_bound_known_clusters(
    n_features: int, cluster_rounds: Iterable[int], k: int, reg: float
) -> RegretBound:
    """Return the bound for a policy that knows the true clusters.

    The sum over clusters in the proof of Theorem 2 (the line that cites the self-normalized sum),
    at level ``1 / (4 m T)``: ``2 sum_j beta_j sqrt(2 d K T_j ln(1 + T_j K / (lambda d)))``, where
    T_j of the T rounds belong to cluster j. It is never above the learning part of
    :func:`regret_bound`.

    Parameters
    ----------
    n_features
        Number of features of an item, d.
    cluster_rounds
        Rounds of each cluster's users, T_j; a cluster may have none.
    k
        Length of the list, K.
    reg
        Ridge constant, lambda, at least K.

    Examples
    --------
    >>> bound = regret_bound_known_clusters(20, [50_000, 50_000], k=4, reg=4.0)
    >>> round(bound.total)
    458528
    """
    rounds = [validation.whole("cluster_rounds", each, low=0) for each in cluster_rounds]
    reg = read.ridge_for(k, reg)
    total = validation.whole("the sum of cluster_rounds", sum(rounds), low=1)
    delta = 1 / (4 * len(rounds) * total)
    learning = sum(
        2
        * confidence_radius(n_features, each, reg, delta)
        * sum_of_widths(n_features, 1, k, each, reg)
        for each in rounds
        if each
    )
    return RegretBound(learning, 0.0)


def sum_of_widths(n_features: int, n_clusters: int, k: int, horizon: int, reg: float) -> float:
    """Bound the sum of all widths: ``sqrt(2 d m K T ln(1 + T K / (lambda d)))``."""
    d = read.features(n_features)
    horizon = validation.whole("horizon", horizon, low=1)
    k = validation.whole("k", k, low=1)
    grown = math.log1p(horizon * k / (reg * d))
    return math.sqrt(2 * d * n_clusters * k * horizon * grown)
