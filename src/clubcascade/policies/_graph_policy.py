"""Policies over a graph of users that only loses edges: one ridge model per component.

What follows from the graph alone is here: which model serves whom, whom to serve, and the constant
by which edges are deleted. How weights are learned and compared is each policy's own.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from clubcascade import validation
from clubcascade.core import Ints
from clubcascade.errors import InvalidArgument
from clubcascade.graph import Complete, ErdosRenyi, Start, UserGraph
from clubcascade.kernels.edge_deletion import BLOCK
from clubcascade.policies._club_graph import ClubGraph
from clubcascade.policies._models import Models
from clubcascade.policies._ridge_policy import RidgePolicy
from clubcascade.policies._seeds import key_of
from clubcascade.policies._users import numbered


class GraphPolicy(RidgePolicy):
    """Users start in one graph; every connected component of it is served by one model."""

    reg: float
    edge_probability: float | None
    ask: int
    seed: int
    _graph: UserGraph

    # -- what a policy must say ----------------------------------------------------------------

    @property
    @abstractmethod
    def _inner(self) -> int:
        """Features as the kernels know them."""

    @abstractmethod
    def _allocate(self, graph: UserGraph) -> None:
        """Take over a graph and make all arrays for its users."""

    @abstractmethod
    def _pool(self, labels: Ints, guest: Models) -> None:
        """Make model 0 of ``guest`` the one of all samples of these components, maybe none."""

    @abstractmethod
    def _counts(self, numbers: Ints) -> Ints:
        """Return how many samples there are of each of these users."""

    # -- the graph -----------------------------------------------------------------------------

    def _start(self) -> Start:
        if self.edge_probability is None:
            return Complete()
        return ErdosRenyi(self.edge_probability, int(key_of(self.seed, "graph")))

    def labels(self) -> Ints:
        """Return the component of each user, in the order of their numbers."""
        return self._graph.labels()

    @property
    def graph(self) -> ClubGraph:
        """The graph over the users, by their ids; a look, not a handle."""
        return ClubGraph(self._graph, self.users)

    def _work(self) -> dict[str, npt.NDArray[Any]]:
        """Return the scratch arrays in which users are compared."""
        n = self._graph.capacity
        return {
            "neighbours": np.zeros(n, np.int64),
            "deleted": np.zeros(n, np.int64),
            "distance_work": np.zeros(max(BLOCK, self._inner), np.float32),
            "weights_work": np.zeros(max(BLOCK, self._inner), np.float32),
            "flags": np.zeros(BLOCK, np.uint64),
        }

    def _model_of(self, user: Hashable) -> tuple[Models, int]:
        labels = self._graph.arrays["label"]
        number = self._numbers.get(user, -1)
        if number >= 0:
            return self._models, int(labels[number])
        found = np.unique(labels[self._graph.links_of_newcomer()])
        if len(found) == 1:
            return self._models, int(found[0])
        guest = Models(self._inner, self.reg, capacity=1)
        guest.clear(0)
        self._pool(found, guest)
        return guest, 0

    def _take_users(self, state: dict[str, Any]) -> None:
        """Take over the users and the graph of a state, with new arrays."""
        self._numbers = numbered(state["users"])
        n = len(self._numbers)
        self._allocate(UserGraph.from_state(self._start(), state, n, prefix="graph_"))

    def _check_components(self, told: int) -> None:
        if told != self._graph.n_components:
            raise ValueError(f"tally must have {self._graph.n_components} components, got {told}")

    # -- gap relaxation ------------------------------------------------------------------------

    @property
    def alpha(self) -> float:
        """The edge-deletion constant that is in force now."""
        return float(self.compiled.alpha)

    def relax(self, *, alpha: float) -> None:
        """Make the edge-deletion constant smaller, from the next update on, without a restart.

        Nothing is deleted at once: line 10 tests the edges of the user who is served, so an edge
        that fails the stricter test goes when one of its two users is served next. A schedule goes
        on, as far as its steps are smaller still.

        Parameters
        ----------
        alpha
            The new constant, at most the one in force: what was deleted does not come back.

        Examples
        --------
        >>> from clubcascade import ClubCascade
        >>> policy = ClubCascade(n_features=2, alpha=2.0)
        >>> policy.relax(alpha=1.5)
        >>> policy.alpha
        1.5
        """
        smaller = validation.number("alpha", alpha, low=0, infinite=True)
        with self._lock:
            if smaller > self.alpha:
                raise InvalidArgument(
                    f"alpha must be at most the one in force, {self.alpha:g}, "
                    f"got {alpha!r}: an edge that is gone does not come back"
                )
            self.compiled.alpha = smaller

    # -- whom to serve -------------------------------------------------------------------------

    @property
    def asks(self) -> bool:
        """Tell whether the policy wants to choose whom to serve next."""
        return self.ask > 0 and bool(self.compiled.n_updates < self.ask)

    def choose_user(self, candidates: Iterable[Hashable]) -> Hashable:
        """Return the candidate of whom least is known, of those who are not alone already.

        That is whoever has the fewest samples, users who have not come yet first of all; ties go
        to the earlier candidate. A user without neighbours has no edge left to be tested: it is
        chosen only among its like.

        Parameters
        ----------
        candidates
            Users to choose from, known or not.

        Examples
        --------
        >>> from clubcascade import ClubCascade
        >>> policy = ClubCascade(n_features=1, users=["alice", "bob", "carol"])
        >>> policy.update("alice", [[1.0]], None)
        >>> policy.choose_user(["alice", "carol", "bob"])
        'carol'
        """
        if not isinstance(candidates, Iterable):
            raise InvalidArgument(f"candidates must be users, got {candidates!r}")
        choice = list(candidates)
        if not choice:
            raise InvalidArgument("candidates must name at least one user, got none")
        numbers = np.array([self.number(user, "candidates") for user in choice])
        with self._lock:
            met = numbers >= 0
            alone = np.zeros(len(numbers), bool)
            alone[met] = self._graph.arrays["degree"][numbers[met]] == 0
            counts = np.zeros(len(numbers), np.int64)
            counts[met] = self._counts(numbers[met])
            counts[alone] += 1 + counts.max()
            return choice[int(np.argmin(counts))]
