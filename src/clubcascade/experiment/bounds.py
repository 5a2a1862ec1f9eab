"""Lines that are worked out instead of run: what the theorems promise.

A bound stands among the policies of an experiment file. Its regret at round t is the bound of a run
of t rounds; it has no clicks and no clusters.
"""

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from clubcascade import theory, validation
from clubcascade.core import Floats, Ints
from clubcascade.errors import InvalidArgument


class Bound(Protocol):
    """A bound of the regret in a world whose truth is known."""

    def regret(self, env: Any, k: int, rounds: Ints) -> Floats:
        """Return the bound after each of these numbers of rounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TheoremBound:
    """The bound of Theorem 2 for CLUB-cascade with the theorem's constants.

    ``reg`` is lambda; the theorem wants at least k. The ``part`` ``"learning"`` is what is lost
    once the clusters are known.
    """

    reg: float = 4.0
    part: Literal["whole", "learning"] = "whole"

    def __post_init__(self) -> None:
        validation.choice("part", self.part, ("whole", "learning"))

    def regret(self, env: Any, k: int, rounds: Ints) -> Floats:
        """Return the bound after each of these numbers of rounds."""
        world = {
            "n_users": env.n_users,
            "n_clusters": len(_sizes(env)),
            "n_features": env.n_features,
            "gap": _gap(env),
            "item_eigenvalue": theory.item_eigenvalue(env.catalog.features),
            "reg": self.reg,
        }
        bounds = [theory.regret_bound(k=k, horizon=int(t), **world) for t in rounds]
        return np.array([b.learning if self.part == "learning" else b.total for b in bounds])


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownClustersBound:
    """The bound for a policy that knows the true clusters, if users come evenly."""

    reg: float = 4.0

    def regret(self, env: Any, k: int, rounds: Ints) -> Floats:
        """Return the bound after each of these numbers of rounds."""
        shares = _sizes(env) / env.n_users
        return np.array(
            [
                theory.regret_bound_known_clusters(
                    env.n_features, [max(1, round(t * share)) for share in shares], k, self.reg
                ).total
                for t in rounds.tolist()
            ]
        )


BOUNDS: dict[str, type[Any]] = {
    "theorem_bound": TheoremBound,
    "known_clusters_bound": KnownClustersBound,
}
"""The bounds by the name that an experiment file gives them."""


def _sizes(env: Any) -> Ints:
    if getattr(env, "partition", None) is None:
        raise InvalidArgument("a bound needs an environment whose true clusters are known")
    return np.unique(env.partition, return_counts=True)[1]


def _gap(env: Any) -> float:
    """Return the smallest distance between the weights of two clusters."""
    weights = getattr(env, "weights", None)
    if weights is None or len(weights) < 2:
        raise InvalidArgument("the theorem's bound needs the weights of two clusters or more")
    apart = np.linalg.norm(weights[:, None] - weights[None], axis=2)
    return min(2.0, float(apart[np.triu_indices(len(weights), 1)].min()))
