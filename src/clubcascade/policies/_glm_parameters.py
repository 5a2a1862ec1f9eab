"""What the policies with a link function have in common: how their parameters are read."""

from __future__ import annotations

from typing import Literal

from clubcascade import theory, validation
from clubcascade.errors import InvalidArgument
from clubcascade.links import Link
from clubcascade.policies._club_parameters import refuse_both

Solver = Literal["exact", "online"]
LEAST_PENALTY = 1e-6
"""A smaller penalty leaves separable samples beyond the precision of a double."""


def read_solver(solver: Solver) -> Solver:
    """Read the ``solver`` argument."""
    chosen: Solver = validation.choice("solver", solver, ("exact", "online"))
    return chosen


def read_penalty(penalty: float | None, link: Link, reg: float) -> float:
    """Read the ``penalty`` argument; by default that of a linear model of the link's slope."""
    if penalty is None:
        return max(link.lipschitz * reg, LEAST_PENALTY)
    return validation.number("penalty", penalty, low=LEAST_PENALTY, high=validation.MOST_RIDGE)


def read_beta(
    beta: float | None,
    link: Link,
    n_features: int,
    horizon: int | None,
    n_clusters: int | None,
    item_eigenvalue: float | None,
) -> float:
    """Read the ``beta`` argument: given, of Theorem 4, or 1 over the largest slope."""
    refuse_both("beta", beta, "horizon", horizon)
    if beta is not None:
        return validation.factor("beta", beta)
    if horizon is None:
        return 1.0 / link.lipschitz
    if n_clusters is None or item_eigenvalue is None:
        raise InvalidArgument(
            "n_clusters and item_eigenvalue must be named with horizon, got "
            f"{n_clusters!r} and {item_eigenvalue!r}"
        )
    return theory.beta_glm(n_features, horizon, n_clusters, item_eigenvalue, link.slope)


def read_alpha(
    alpha: float | None, link: Link, n_features: int, item_eigenvalue: float | None
) -> float:
    """Read the ``alpha`` argument: given, of Theorem 4, or 2 over the largest slope."""
    if alpha is not None:
        return validation.number("alpha", alpha, low=0, infinite=True)
    if item_eigenvalue is not None:
        return theory.alpha_glm(n_features, item_eigenvalue, link.slope)
    return 2.0 / link.lipschitz
