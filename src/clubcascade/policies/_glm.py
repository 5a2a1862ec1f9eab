"""What the policies with a link function have in common: how their parameters are read."""

from collections.abc import Mapping
from typing import Any, ClassVar

from clubcascade import validation
from clubcascade.learners.likelihoods import GLM, Solver
from clubcascade.links import Link, read_link
from clubcascade.policies._legacy import MOVED_GLM
from clubcascade.policies._mixins import LinearScoresMixin

LEAST_PENALTY = 1e-6
"""A smaller penalty leaves separable samples beyond the precision of a double."""


class GLMMixin(LinearScoresMixin):
    """A :class:`CompiledPolicy` with a link function."""

    moved_parameters: ClassVar[Mapping[str, str]] = MOVED_GLM
    n_features: Any
    beta: float
    reg: float

    def _read_glm(
        self: Any,
        n_features: int,
        link: str | Link,
        beta: float | None,
        reg: float,
        penalty: float | None,
        solver: Solver,
    ) -> GLM:
        """Check and keep the arguments that all of them have.

        ``beta`` is by default 1 over the link's largest slope, the penalty that of a linear model
        of the same slope.
        """
        self.n_features = validation.whole("n_features", n_features, low=1)
        self.reg = validation.ridge("reg", reg)
        known = read_link(link)
        weight, high = max(known.lipschitz * self.reg, LEAST_PENALTY), validation.MOST_RIDGE
        solver = validation.choice("solver", solver, ("exact", "online"))
        if penalty is not None:
            weight = validation.number("penalty", penalty, low=LEAST_PENALTY, high=high)
        self.link, self.penalty, self.solver = glm = GLM(known, weight, solver)
        self.beta = 1.0 / known.lipschitz if beta is None else validation.factor("beta", beta)
        self._given = {"beta": beta, "penalty": penalty, "link": known.saved()}
        return glm
