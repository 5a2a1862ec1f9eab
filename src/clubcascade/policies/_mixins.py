"""What policies tell of their learners: scores and weights, clusters and their graph."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal

import numpy as np

from clubcascade import validation
from clubcascade.core import Catalog, Floats, Ints, Items, Policy
from clubcascade.errors import InvalidArgument
from clubcascade.graph import Complete, ErdosRenyi, Start
from clubcascade.kernels import ranking
from clubcascade.learners.seeds import key_of

StartName = Literal["complete", "random"]


class LinearScoresMixin:
    """Scores and weights of a :class:`CompiledPolicy` whose learner is a :class:`RidgeLearner`."""

    def scores(self: Any, user: Hashable, items: Items) -> Floats:
        """Return the upper confidence bound of every item's click, capped at 1 as in the paper."""
        mean, width, radius = self._parts(user, items)
        bound, link = mean + radius * width, self._learner.link
        capped: Floats = np.minimum(bound if link is None else link.mu(bound), 1.0)
        return capped

    def _parts(self: Any, user: Hashable, items: Items) -> tuple[Floats, Floats, float]:
        """Return mean and width of every item, and the confidence radius."""
        number, loose, learner = self.number(user), self._read_items(items), self._learner
        features = learner.training_view if isinstance(loose, Catalog) else learner.padded
        rows = features(loose)
        mean, width = np.empty(len(rows)), np.empty(len(rows))
        with self._lock:
            models, g = learner.model_of(user, len(self._numbers) if number < 0 else number)
            weights, inverse = models.arrays["weights"][g], models.arrays["inverse"][g]
            ranking.score_items(weights, inverse, rows, np.arange(len(rows)), mean, width)
            radius = learner.confidence_radius(models, g)
        return mean, width, float(radius)

    @property
    def has_scores(self: Any) -> bool:
        """Say yes, if lists are ranked by the very scores that :meth:`scores` returns."""
        return self._learner.link is None and not self._learner.draws

    def _convert_scores(
        self, user: Hashable, items: Floats | Catalog, rows: Ints, scores: Floats
    ) -> None:
        np.minimum(scores, 1.0, out=scores)

    def cluster_weights(self: Any, user: Hashable) -> Floats:
        """Return the weights of the model that serves a user."""
        number = self.number(user)
        with self._lock:
            number = len(self._numbers) if number < 0 else number
            models, g = self._learner.model_of(user, number)
            return np.array(models.arrays["weights"][g])

    def user_weights(self: Any, user: Hashable) -> Floats:
        """Return the weights learned for a user: its own, or those of its model."""
        number = self._known(user)
        with self._lock:
            weights: Floats = self._learner.user_weights(user, number)
            return weights

    def statistics(self: Any, user: Hashable) -> tuple[Floats, Floats, int]:
        """Return (gram, moment, count) behind these weights; no ridge term inside ``gram``."""
        number = self._known(user)
        with self._lock:
            sums: tuple[Floats, Floats, int] = self._learner.statistics(user, number)
            return sums


class ClubMixin(LinearScoresMixin):
    """What policies over a :class:`ClubModels` tell of their graph."""

    @property
    def alpha(self: Any) -> float:
        """The edge-deletion constant that is in force."""
        return float(self.compiled.alpha)

    def _lower_alpha(self: Any, alpha: float) -> None:
        """Delete edges by a smaller constant, from the next update on."""
        with self._lock:
            self.compiled.alpha = min(alpha, self.alpha)

    @property
    def graph(self: Any) -> ClubGraph:
        """The graph over the users, by their ids; to look at, not to change."""
        return ClubGraph(self)


def club_inside(policy: Policy) -> Any:
    """Return a policy over a graph of users; raise if it is another one."""
    if not isinstance(policy, ClubMixin):
        raise InvalidArgument(
            f"policy must be a ClubCascade or another policy over a graph of users, got {policy!r}"
        )
    return policy


class ClubGraph:
    """The users' graph in the users' own ids; nobody joins while it is read."""

    def __init__(self, policy: Any) -> None:
        self._policy = policy

    def edges(self) -> list[tuple[Hashable, Hashable]]:
        """Return every edge once."""
        with self._policy._lock:
            users, graph = self._policy.users, self._policy._learner.graph
            return [(users[i], users[other]) for i, other in graph.edges()]

    def links_of_newcomer(self) -> list[Hashable]:
        """Return the users that the next user to join will be linked with."""
        with self._policy._lock:
            users, graph = self._policy.users, self._policy._learner.graph
            return [users[i] for i in graph.links_of_newcomer()]


def read_start(start: StartName, edge_probability: float | None, seed: int) -> Start:
    """Return the start of the graph that the arguments name."""
    validation.choice("start", start, ("complete", "random"))
    if start == "complete":
        if edge_probability is not None:
            raise InvalidArgument(
                f"edge_probability must be left out of a complete start, got "
                f'{edge_probability!r}; use start="random"'
            )
        return Complete()
    if edge_probability is None:
        raise InvalidArgument(
            "edge_probability must be a number in [0, 1] for a random start, for example "
            "clubcascade.theory.edge_probability(...), got None"
        )
    p = validation.number("edge_probability", edge_probability, low=0, high=1)
    return ErdosRenyi(p, int(key_of(seed, "graph")))
