"""What policies with a link function have in common: the link, its penalty and its solver."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from clubcascade import validation
from clubcascade.core import Floats
from clubcascade.links import Link, read_link
from clubcascade.learners.likelihoods import Likelihoods

Solver = Literal["exact", "online"]
LEAST_PENALTY = 1e-6
"""A smaller penalty leaves separable samples beyond the precision of a double."""


class GLM(NamedTuple):
    """A generalized linear model: its link, the penalty of its weights, and how it is solved."""

    link: Link
    penalty: float
    solver: Solver

    @classmethod
    def read(cls, link: str | Link, penalty: float | None, solver: Solver, reg: float) -> GLM:
        """Check the arguments; the penalty is by default that of a linear model of that slope."""
        known = read_link(link)
        solver = validation.choice("solver", solver, ("exact", "online"))
        if penalty is None:
            return cls(known, max(known.lipschitz * reg, LEAST_PENALTY), solver)
        high = validation.MOST_RIDGE
        return cls(known, validation.number("penalty", penalty, low=LEAST_PENALTY, high=high), solver)

    def beta(self, beta: float | None) -> float:
        """Check ``beta``; by default 1 over the link's largest slope."""
        return 1.0 / self.link.lipschitz if beta is None else validation.factor("beta", beta)

    def likelihoods(self, weights: Floats, *, inverses: bool = True) -> Likelihoods:
        """Return estimates that have seen nothing, one per row of ``weights``."""
        online = self.solver == "online"
        return Likelihoods(weights, penalty=self.penalty, online=online, inverses=inverses)

    def given(self, **arguments: Any) -> dict[str, Any]:
        """Return arguments as they are saved: as they were given, an own link as its table."""
        return arguments | {"link": self.link.saved()}
