"""What the formulas take: each symbol of the paper read and checked in one place."""

from __future__ import annotations

from clubcascade import validation


def features(n_features: int) -> int:
    """Read d, the number of features."""
    return validation.whole("n_features", n_features, low=1)


def clusters(n_clusters: int, n_users: int) -> int:
    """Read m, at most u."""
    n_users = validation.whole("n_users", n_users, low=1)
    return validation.whole("n_clusters", n_clusters, low=1, high=n_users)


def ridge(reg: float) -> float:
    """Read lambda, above 0."""
    return validation.number("reg", reg, low=0, open_low=True)


def ridge_for(k: int, reg: float) -> float:
    """Read a ridge constant that the theorem wants to be at least the length of the list."""
    return validation.number("reg", reg, low=validation.whole("k", k, low=1))


def probability(delta: float) -> float:
    """Read a probability of failure, in (0, 1]."""
    return validation.number("delta", delta, low=0, high=1, open_low=True)


def eigenvalue(value: float) -> float:
    """Read lambda_x, in (0, 1]."""
    return validation.number("item_eigenvalue", value, low=0, high=1, open_low=True)


def slope(slope: float) -> float:
    """Read c_mu, above 0."""
    return validation.number("slope", slope, low=0, open_low=True)
