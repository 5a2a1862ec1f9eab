"""The theorem on generalized linear rewards: its constants and its bound."""

from __future__ import annotations

import math

from clubcascade import validation
from clubcascade.theory import _read as read
from clubcascade.theory.bounds import RegretBound, sum_of_widths
from clubcascade.theory.clustering import exploration_rounds
from clubcascade.theory.constants import alpha


def beta_glm(
    n_features: int, horizon: int, n_clusters: int, item_eigenvalue: float, slope: float
) -> float:
    """Return the exploration constant of the theorem on generalized linear rewards.

    ``sqrt(8 / lambda_x + d ln(T / d) + 2 ln(4 m T)) / c_mu``

    Parameters
    ----------
    n_features
        Number of features of an item, d.
    horizon
        Number of rounds, T, at least d.
    n_clusters
        Number of true clusters, m.
    item_eigenvalue
        Smallest eigenvalue of the items' second moment, lambda_x, in (0, 1].
    slope
        Smallest slope of the link function on [-2, 2], c_mu, above 0.

    Examples
    --------
    >>> round(beta_glm(20, 100_000, 5, item_eigenvalue=0.05, slope=0.1), 2)
    189.57
    """
    d = read.features(n_features)
    horizon = validation.whole("horizon", horizon, low=d)
    n_clusters = validation.whole("n_clusters", n_clusters, low=1)
    inside = 8 / read.eigenvalue(item_eigenvalue) + d * math.log(horizon / d)
    inside += 2 * math.log(4 * n_clusters * horizon)
    return math.sqrt(inside) / read.slope(slope)


def alpha_glm(n_features: int, item_eigenvalue: float, slope: float) -> float:
    """Return the edge-deletion constant for generalized linear rewards.

    ``sqrt(32 d / (lambda_x c_mu^2))``, as the theorem states it.

    Parameters
    ----------
    n_features
        Number of features of an item, d.
    item_eigenvalue
        Smallest eigenvalue of the items' second moment, lambda_x, in (0, 1].
    slope
        Smallest slope of the link function on [-2, 2], c_mu, above 0.

    Notes
    -----
    Appendix B prints another constant, ``16 sqrt(d) / (lambda_x c_mu)``, which is larger by the
    factor ``sqrt(8 / lambda_x)``. The theorem's agrees with the linear case at c_mu = 1.

    Examples
    --------
    >>> round(alpha_glm(n_features=20, item_eigenvalue=0.05, slope=0.1), 1)
    1131.4
    """
    return alpha(n_features, item_eigenvalue) / read.slope(slope)


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
        Number of rounds, T, at least d.
    gap
        Smallest distance between the weights of two clusters, gamma, in (0, 2].
    item_eigenvalue
        Smallest eigenvalue of the items' second moment, lambda_x, in (0, 1].
    reg
        The lambda inside the logarithm, at least K.
    slope
        Smallest slope of the link function on [-2, 2], c_mu, above 0.
    lipschitz
        Lipschitz constant of the link function, kappa_mu, at least c_mu.

    Examples
    --------
    >>> bound = regret_bound_glm(n_users=40, n_clusters=5, n_features=20, k=4, horizon=100_000,
    ...                          gap=1.0, item_eigenvalue=0.05, reg=4.0, slope=0.1, lipschitz=0.25)
    >>> round(bound.learning), round(bound.clustering)
    (2474195, 543576822)
    """
    n_clusters = read.clusters(n_clusters, n_users)
    reg = read.ridge_for(k, reg)
    slope = read.slope(slope)
    lipschitz = validation.number("lipschitz", lipschitz, low=slope)
    radius = beta_glm(n_features, horizon, n_clusters, item_eigenvalue, slope)
    widths = sum_of_widths(n_features, n_clusters, k, horizon, reg)
    return RegretBound(
        learning=2 * lipschitz * radius * widths,
        clustering=exploration_rounds(n_users, n_features, gap, item_eigenvalue, horizon),
    )
