"""How the parameters of policies with a link function are read."""

from __future__ import annotations

from clubcascade import validation
from clubcascade.learners.likelihoods import GLM, Solver
from clubcascade.links import Link, read_link

LEAST_PENALTY = 1e-6
"""A smaller penalty leaves separable samples beyond the precision of a double."""


def read_glm(link: str | Link, penalty: float | None, solver: Solver, reg: float) -> GLM:
    """Check the arguments; the penalty is by default that of a linear model of the same slope."""
    known = read_link(link)
    solver = validation.choice("solver", solver, ("exact", "online"))
    if penalty is None:
        return GLM(known, max(known.lipschitz * reg, LEAST_PENALTY), solver)
    high = validation.MOST_RIDGE
    weight = validation.number("penalty", penalty, low=LEAST_PENALTY, high=high)
    return GLM(known, weight, solver)


def read_beta(beta: float | None, link: Link) -> float:
    """Check ``beta``; by default it is 1 over the link's largest slope."""
    return 1.0 / link.lipschitz if beta is None else validation.factor("beta", beta)
