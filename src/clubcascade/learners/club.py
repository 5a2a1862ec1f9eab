"""Models over a graph of users that only loses edges: one per connected component."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from clubcascade.core import Floats, Ints, array_of
from clubcascade.graph import Start, UserGraph
from clubcascade.kernels.edge_deletion import BLOCK
from clubcascade.learners.models import OWN_INVERSES, Models
from clubcascade.learners.ridge import RidgeLearner
from clubcascade.learners.user_estimates import UserEstimates
from clubcascade.learners.user_statistics import UserStatistics


class ClubModels(RidgeLearner):
    """A graph over the users, a model per component, and what is kept of each user."""

    def __init__(
        self,
        users: UserStatistics | UserEstimates,
        start: Start,
        n_users: int,
        *,
        alpha: float,
        beta: float,
        reg: float,
    ) -> None:
        super().__init__(Models(users.d, reg, capacity=1), (beta, 0.0, 1.0), users.link)
        self.users, self._alpha = users, alpha
        self._allocate(UserGraph(start, n_users))
        for label in range(self.graph.n_components):
            self.models.clear(label)
            users.clear(label)

    def _allocate(self, graph: UserGraph) -> None:
        self.graph = graph
        self.models = Models(self.users.d, self.models.reg, graph.capacity)
        self.users.allocate(self.models, graph)
        self._bind(alpha=self._alpha, beta=self.radius[0], n_clusters=graph.n_components)

    def _bind(self, **scalars: Any) -> None:
        """Bind the arrays into the structure that the kernels take, with scratch of its own."""
        n, width = self.graph.capacity, max(BLOCK, self.users.d)
        work: dict[str, npt.NDArray[Any]] = {
            "neighbours": np.zeros(n, np.int64),
            "deleted": np.zeros(n, np.int64),
            "distance_work": np.zeros(width, np.float32),
            "weights_work": np.zeros(width, np.float32),
            "flags": np.zeros(BLOCK, np.uint64),
        }
        scalars = scalars or self.compiled.scalars()
        self.compiled = self.users.bind(self.models, self.graph, **work, **scalars)

    def join(self, user: Hashable, number: int) -> None:
        graph, links = self.graph, self.graph.links_of_newcomer()
        changed = graph.reserve(links)
        if graph.capacity > self.models.capacity or number == OWN_INVERSES:
            self.models.reserve(graph.capacity)
            self.users.reserve(self.models, graph, number + 1)
            changed = True
        if changed:
            self._bind()
        self.users.join(self.compiled, self.models, graph, links)

    def labels(self, n_users: int) -> Ints:
        return self.graph.labels()

    def model_of(self, user: Hashable, number: int) -> tuple[Models, int]:
        """Return the model of a user's component; of a new user, of all that it will join."""
        labels = self.graph.arrays["label"]
        if number < self.graph.n:
            return self.models, int(labels[number])
        found = self.graph.labels_of_newcomer()
        if len(found) == 1:
            return self.models, int(found[0])
        alone = Models(self.users.d, self.models.reg, capacity=1)
        alone.clear(0)
        self.users.pool(self.compiled, self.models, found, alone)
        return alone, 0

    def statistics(self, user: Hashable, number: int) -> tuple[Floats, Floats, int]:
        return self.users.statistics(number)

    def user_weights(self, user: Hashable, number: int) -> Floats:
        return self.users.weights(number, self.models, self.graph)

    def state(self, n_users: int) -> dict[str, Any]:
        return {
            **self.users.state(self.compiled, self.graph),
            "alpha": np.array([self.compiled.alpha]),
            **{f"graph_{name}": value for name, value in self.graph.state().items()},
            **self.models.state(self.graph.n_labels),
        }

    def load_state(self, state: dict[str, Any], users: Mapping[Hashable, int]) -> None:
        self._allocate(UserGraph.from_state(self.graph.start, state, len(users), prefix="graph_"))
        self.models.load_state(state, self.graph.n_labels)
        found = self.users.load_state(state, self.compiled, self.graph)
        right = self.graph.n_components
        if found != right:
            raise ValueError(f"tally must have {right} components, got {found}")
        if "alpha" in state:  # files of 0.1.0 have none
            self.compiled.alpha = float(array_of(state, "alpha", (1,))[0])
        self._bind()
