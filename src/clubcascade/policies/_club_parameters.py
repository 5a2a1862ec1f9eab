"""How the parameters of CLUB-cascade are read: given, or taken from the theorem."""

from __future__ import annotations

import math
from typing import Any, Literal

from clubcascade import theory, validation
from clubcascade.errors import InvalidArgument

Variant = Literal["paper", "code2017"]
Explore = Literal["ucb", "spanner"]


def refuse_both(name: str, value: Any, other: str, theorems: Any) -> None:
    """Raise if a constant is given, and also what its value in the theorem is made from."""
    if value is not None and theorems is not None:
        raise InvalidArgument(
            f"{name} must be left out when {other} names the theorem's, got {value!r}"
        )


def read_alpha(
    alpha: float | None, n_features: int, item_eigenvalue: float | None, variant: Variant
) -> float:
    """Read the ``alpha`` argument: given, of Theorem 2, or that of the variant."""
    refuse_both("alpha", alpha, "item_eigenvalue", item_eigenvalue)
    if alpha is not None:
        return validation.number("alpha", alpha, low=0, infinite=True)
    if item_eigenvalue is not None:
        return theory.alpha(n_features, item_eigenvalue)
    return 8.0 * math.sqrt(n_features) if variant == "code2017" else 2.0


def read_beta(
    beta: float | None,
    n_features: int,
    horizon: int | None,
    n_clusters: int | None,
    reg: float,
) -> float:
    """Read the ``beta`` argument: given, of Theorem 2, or 1."""
    refuse_both("beta", beta, "horizon", horizon)
    if beta is not None:
        return validation.factor("beta", beta)
    if horizon is None:
        return 1.0
    if n_clusters is None:
        raise InvalidArgument("n_clusters must be named with horizon, got None")
    return theory.beta(n_features, horizon, n_clusters, reg)


def read_explore(explore: Any, variant: Variant) -> Explore:
    """Read the ``explore`` argument."""
    chosen: Explore = validation.choice("explore", explore, ("ucb", "spanner"))
    if chosen == "spanner" and variant == "code2017":
        raise InvalidArgument(
            'explore must be "ucb" for the 2017 variant, whose items have a bias, got "spanner"'
        )
    return chosen


def read_edge_probability(
    p: float | None,
    start: Literal["complete", "random"],
    n_users: int,
    n_clusters: int | None,
    smallest_share: float | None,
    delta: float,
) -> float | None:
    """Read ``edge_probability``: given or of the paper's discussion; None for a complete start."""
    if start == "complete":
        for name, value in (("edge_probability", p), ("smallest_share", smallest_share)):
            if value is not None:
                raise InvalidArgument(
                    f"{name} must be left out of a complete start, got {value!r}; use "
                    f'start="random"'
                )
        return None
    if p is not None and smallest_share is not None:
        raise InvalidArgument(
            "smallest_share must be left out when edge_probability is given, "
            f"got {smallest_share!r}"
        )
    if p is not None:
        return validation.number("edge_probability", p, low=0, high=1)
    if n_clusters is None or smallest_share is None or n_users == 0:
        raise InvalidArgument(
            "edge_probability must be in [0, 1] for a random start, or users, n_clusters and "
            f"smallest_share must be named to take it from the paper, got {n_users} users, "
            f"n_clusters {n_clusters!r} and smallest_share {smallest_share!r}"
        )
    return theory.edge_probability(n_users, n_clusters, smallest_share, delta)
