"""The theory of the paper: the constants of its theorems, and what they promise.

Everything here is worked out on paper beforehand; no policy learns from it. The arguments, with
their symbols in the paper::

    n_users          u         number of users
    n_clusters       m         number of true clusters, at most u
    n_features       d         number of features of an item
    k                K         length of the list
    horizon          T         number of rounds
    reg              lambda    ridge constant, above 0; the regret bounds want at least K
    gap              gamma     smallest distance between the weights of two clusters, in (0, 2]
    item_eigenvalue  lambda_x  smallest eigenvalue of the items' second moment, in (0, 1]
    delta            delta     probability of failure, in (0, 1]
    slope            c_mu      smallest slope of the link function on [-2, 2], above 0
    lipschitz        kappa_mu  Lipschitz constant of the link function, at least c_mu

The constants are made for proofs, and they are large: with them hardly an edge is cut, and hardly
a bound lies below the number of rounds, before millions of rounds have passed.

References
----------
S. Li, "Online Clustering of Contextual Cascading Bandits", AAAI 2018. Theorem, corollary, lemma
and appendix numbers are of this paper.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from clubcascade import validation

__all__ = [
    "RegretBound",
    "alpha",
    "alpha_glm",
    "beta",
    "beta_glm",
    "confidence_radius",
    "edge_probability",
    "exploration_rounds",
    "item_eigenvalue",
    "regret_bound",
    "regret_bound_glm",
    "regret_bound_known_clusters",
    "regret_bound_one_cluster",
]

_count = partial(validation.whole, low=1)
_positive = partial(validation.number, low=0, open_low=True)
_share = partial(validation.number, low=0, high=1, open_low=True)


def beta(n_features: int, horizon: int, n_clusters: int, reg: float) -> float:
    """Return the exploration constant of Theorem 2.

    ``sqrt(d ln(1 + T / (lambda d)) + 2 ln(4 m T)) + sqrt(lambda)``: the confidence radius after
    ``horizon`` observations at level ``1 / (4 m T)``. The theorem requires lambda >= K.

    Examples
    --------
    >>> round(beta(n_features=20, horizon=100_000, n_clusters=5, reg=4.0), 3)
    15.102
    """
    horizon = _count("horizon", horizon)
    n_clusters = _count("n_clusters", n_clusters)
    return confidence_radius(n_features, horizon, reg, delta=1 / (4 * n_clusters * horizon))


def alpha(n_features: int, item_eigenvalue: float) -> float:
    """Return the edge-deletion constant of Theorem 2: ``sqrt(32 d / lambda_x)``.

    Examples
    --------
    >>> round(alpha(n_features=20, item_eigenvalue=0.05), 2)
    113.14
    """
    d = _count("n_features", n_features)
    return math.sqrt(32 * d / _share("item_eigenvalue", item_eigenvalue))


def confidence_radius(
    n_features: int, count: float, reg: float, delta: float, noise: float = 1.0
) -> float:
    """Return beta(t, delta) of Lemma 1: how far a ridge estimate is from the truth.

    With probability ``1 - delta``, for all t at once, the distance in the norm of the regularized
    Gram matrix is at most ``R sqrt(d ln(1 + t / (lambda d)) + 2 ln(1 / delta)) + sqrt(lambda)``.
    ``count`` is the number of observations, t; ``noise`` the sub-Gaussian constant of the noise, R:
    the theorems take 1, a click needs 1/2.

    Examples
    --------
    >>> confidence_radius(n_features=2, count=0, reg=4.0, delta=1.0)
    2.0
    >>> round(confidence_radius(n_features=20, count=1000, reg=4.0, delta=0.05), 3)
    9.619
    """
    d = _count("n_features", n_features)
    count = validation.number("count", count, low=0)
    reg = _positive("reg", reg)
    delta = _share("delta", delta)
    noise = validation.number("noise", noise, low=0)
    growth = d * math.log1p(count / (reg * d))
    return noise * math.sqrt(growth - 2 * math.log(delta)) + math.sqrt(reg)


def item_eigenvalue(items: npt.ArrayLike) -> float:
    """Return lambda_x of a sample of items: the smallest eigenvalue of the mean of ``x x'``.

    ``items`` has one row of features per item, of Euclidean norm at most 1. The value is at most
    ``1 / d``, and 0 if the items do not span all directions.

    Examples
    --------
    >>> item_eigenvalue([[1.0, 0.0], [0.0, 0.5]])
    0.125
    """
    rows = validation.feature_rows("items", items)
    moment = rows.T @ rows / len(rows)
    return max(0.0, float(np.linalg.eigvalsh(moment)[0]))


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
    256 / lambda_x^2 ln(128 d / (lambda_x^2 delta)))``. By default delta is ``1 / horizon``, as in
    the main theorem.

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
    u = _count("n_users", n_users)
    d = _count("n_features", n_features)
    gap = validation.number("gap", gap, low=0, high=2, open_low=True)
    low = _share("item_eigenvalue", item_eigenvalue)
    horizon = _count("horizon", horizon)
    delta = 1 / horizon if delta is None else _share("delta", delta)
    apart = 512 * d / (gap**2 * low) * math.log(4 * u / delta)
    seen = 256 / low**2 * math.log(128 * d / (low**2 * delta))
    return 16 * u * math.log(4 * u * horizon / delta) + 4 * u * max(apart, seen)


def edge_probability(n_users: int, n_clusters: int, smallest_share: float, delta: float) -> float:
    """Return the edge probability of the random start: ``min(1, m ln(u / delta) / (share u))``.

    Every cluster has at least ``smallest_share * u / m`` users: a number in (0, 1], 1 if all
    clusters are equally large, which the paper calls beta in its discussion. ``delta`` is the
    probability that some cluster's users do not hang together.

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
    u = _count("n_users", n_users)
    m = _clusters(n_clusters, n_users)
    share = _share("smallest_share", smallest_share)
    delta = _share("delta", delta)
    return min(1.0, m * math.log(u / delta) / (share * u))


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

    Examples
    --------
    >>> bound = regret_bound(n_users=40, n_clusters=5, n_features=20, k=4, horizon=100_000,
    ...                      gap=1.0, item_eigenvalue=0.05, reg=4.0)
    >>> round(bound.learning), round(bound.clustering)
    (788407, 543576822)
    """
    n_clusters = _clusters(n_clusters, n_users)
    reg = _ridge(k, reg)
    widths = _sum_of_widths(n_features, n_clusters, k, horizon, reg)
    return RegretBound(
        learning=2 * beta(n_features, horizon, n_clusters, reg) * widths,
        clustering=exploration_rounds(n_users, n_features, gap, item_eigenvalue, horizon),
    )


def regret_bound_one_cluster(
    n_features: int, k: int, horizon: int, reg: float | None = None
) -> RegretBound:
    """Return the bound of the corollary: one cluster, nothing to find out about the users.

    ``reg`` is by default K, as in the corollary.

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
    reg = _ridge(k, k if reg is None else reg)
    widths = _sum_of_widths(n_features, 1, k, horizon, reg)
    return RegretBound(2 * beta(n_features, horizon, 1, reg) * widths, 0.0)


def regret_bound_known_clusters(
    n_features: int, cluster_rounds: Iterable[int], k: int, reg: float
) -> RegretBound:
    """Return the bound for a policy that knows the true clusters.

    The sum over clusters in the proof of Theorem 2 (the line that cites the self-normalized sum),
    at level ``1 / (4 m T)``: ``2 sum_j beta_j sqrt(2 d K T_j ln(1 + T_j K / (lambda d)))``, where
    T_j of the T rounds (``cluster_rounds``) belong to cluster j, which may have none. It is never
    above the learning part of :func:`regret_bound`.

    Examples
    --------
    >>> bound = regret_bound_known_clusters(20, [50_000, 50_000], k=4, reg=4.0)
    >>> round(bound.total)
    458528
    """
    rounds = [validation.whole("cluster_rounds", each, low=0) for each in cluster_rounds]
    reg = _ridge(k, reg)
    total = _count("the sum of cluster_rounds", sum(rounds))
    delta = 1 / (4 * len(rounds) * total)
    learning = sum(
        2
        * confidence_radius(n_features, each, reg, delta)
        * _sum_of_widths(n_features, 1, k, each, reg)
        for each in rounds
        if each
    )
    return RegretBound(learning, 0.0)


def beta_glm(
    n_features: int, horizon: int, n_clusters: int, item_eigenvalue: float, slope: float
) -> float:
    """Return the exploration constant of the theorem on generalized linear rewards.

    ``sqrt(8 / lambda_x + d ln(T / d) + 2 ln(4 m T)) / c_mu``, for T of at least d.

    Examples
    --------
    >>> round(beta_glm(20, 100_000, 5, item_eigenvalue=0.05, slope=0.1), 2)
    189.57
    """
    d = _count("n_features", n_features)
    horizon = validation.whole("horizon", horizon, low=d)
    n_clusters = _count("n_clusters", n_clusters)
    inside = 8 / _share("item_eigenvalue", item_eigenvalue) + d * math.log(horizon / d)
    inside += 2 * math.log(4 * n_clusters * horizon)
    return math.sqrt(inside) / _positive("slope", slope)


def alpha_glm(n_features: int, item_eigenvalue: float, slope: float) -> float:
    """Return the edge-deletion constant for generalized linear rewards.

    ``sqrt(32 d / (lambda_x c_mu^2))``, as the theorem states it.

    Notes
    -----
    Appendix B prints another constant, ``16 sqrt(d) / (lambda_x c_mu)``, which is larger by the
    factor ``sqrt(8 / lambda_x)``. The theorem's agrees with the linear case at c_mu = 1.

    Examples
    --------
    >>> round(alpha_glm(n_features=20, item_eigenvalue=0.05, slope=0.1), 1)
    1131.4
    """
    return alpha(n_features, item_eigenvalue) / _positive("slope", slope)


def regret_bound_glm(
    n_users: int,
    n_clusters: int,
    n_features: int,
    k: int,
    horizon: int,
    gap: float,
    item_eigenvalue: float,
    reg: float,
    slope: float,
    lipschitz: float,
) -> RegretBound:
    """Return the bound of the theorem on generalized linear rewards.

    ``learning`` is ``2 kappa_mu beta sqrt(2 d m K T ln(1 + K T / (lambda d)))``. The appendix
    gives no constants for the other term, whose order is that of the linear case: ``clustering``
    is the linear T0(1/T).

    Examples
    --------
    >>> bound = regret_bound_glm(n_users=40, n_clusters=5, n_features=20, k=4, horizon=100_000,
    ...                          gap=1.0, item_eigenvalue=0.05, reg=4.0, slope=0.1, lipschitz=0.25)
    >>> round(bound.learning), round(bound.clustering)
    (2474195, 543576822)
    """
    n_clusters = _clusters(n_clusters, n_users)
    reg = _ridge(k, reg)
    slope = _positive("slope", slope)
    lipschitz = validation.number("lipschitz", lipschitz, low=slope)
    radius = beta_glm(n_features, horizon, n_clusters, item_eigenvalue, slope)
    widths = _sum_of_widths(n_features, n_clusters, k, horizon, reg)
    return RegretBound(
        learning=2 * lipschitz * radius * widths,
        clustering=exploration_rounds(n_users, n_features, gap, item_eigenvalue, horizon),
    )


def _clusters(n_clusters: int, n_users: int) -> int:
    """Check m, at most u."""
    return validation.whole("n_clusters", n_clusters, low=1, high=_count("n_users", n_users))


def _ridge(k: int, reg: float) -> float:
    """Check a ridge constant that the theorem wants to be at least the length of the list."""
    return validation.number("reg", reg, low=_count("k", k))


def _sum_of_widths(n_features: int, n_clusters: int, k: int, horizon: int, reg: float) -> float:
    """Bound the sum of all widths: ``sqrt(2 d m K T ln(1 + T K / (lambda d)))``."""
    d = _count("n_features", n_features)
    horizon = _count("horizon", horizon)
    k = _count("k", k)
    grown = math.log1p(horizon * k / (reg * d))
    return math.sqrt(2 * d * n_clusters * k * horizon * grown)
