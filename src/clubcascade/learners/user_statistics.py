"""What CLUB-cascade keeps of each user: statistics, and a ridge estimate of its own."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from clubcascade.core import Floats, Ints, array_of, fill
from clubcascade.core.paged_arrays import aligned_zeros, grown, written_rows
from clubcascade.graph import UserGraph
from clubcascade.kernels import club, factors
from clubcascade.kernels.edge_deletion import BLOCK
from clubcascade.learners.models import OWN_INVERSES, Models

_ROWS = ("gram", "moment", "count", "inverse", "age")
_USERS = ("row", "weights", "radius")


def bound_blocks(
    weights: Floats, radius: Floats, largest_norm: Floats, smallest_radius: Floats, **rest: Any
) -> None:
    """Write down the largest norm and the smallest radius of every block of users."""
    norms = np.zeros(len(radius))
    norms[: len(weights)] = np.linalg.norm(weights, axis=1)
    radii = np.where(radius > 0.0, radius, 1.0)  # 0: no such user yet
    largest_norm[:] = norms.reshape(-1, BLOCK).max(axis=1)
    smallest_radius[:] = radii.reshape(-1, BLOCK).min(axis=1)


class UserStatistics:
    """Statistics over ``d`` features of each user, and its ridge estimate.

    What is large (Gram matrices, inverses) is kept in rows that are given out as users first
    come; zeros are pages that the machine gives only when they are first written, so that users
    who never come cost a few hundred bytes each.

    ``code2017``: rank and compare as the 2017 code does. ``n_random``: rounds at the start whose
    lists are random. ``key``: that of the random numbers.
    """

    link = None

    def __init__(
        self,
        d: int,
        discounts: Sequence[float] | None = None,
        *,
        code2017: bool = False,
        n_random: int = 0,
        key: np.uint64 | None = None,
    ) -> None:
        self.d = d
        self.arrays: dict[str, npt.NDArray[Any]] = {}
        self._bound = {
            "discounts": np.array(discounts or (), dtype=float),
            "key": np.uint64(0 if key is None else key),
            "elimination_work": aligned_zeros(d, -(-(d + 1) // 8) * 8),
        }
        counts = dict.fromkeys(("n_rows", "n_drawn", "n_updates"), 0)
        self._first: dict[str, Any] = {"code2017": code2017, "n_random": n_random, **counts}

    def bind(self, models: Models, graph: UserGraph, **more: Any) -> Any:
        """Return the structure that the kernels take."""
        fixed = {"ridge": models.struct, "graph": graph.struct, **self._bound}
        return club.Club.make(**fixed, **self.arrays, **(self._first | more))

    def allocate(self, models: Models, graph: UserGraph) -> None:
        """Make all arrays, for users of whom nothing is known."""
        self.arrays = {}
        self.reserve(models, graph, graph.n)

    def reserve(self, models: Models, graph: UserGraph, n_users: int) -> None:
        """Make room for as many users as the graph has room for; keeps what there is."""
        d, capacity, old = self.d, graph.capacity, self.arrays
        self.dense, inverses = graph.start.dense, capacity if n_users <= OWN_INVERSES else 0
        room = -(-capacity // BLOCK) * BLOCK  # whole blocks, so that a loop over one has no rest
        compared = -(-(d + 1) // 16) * 16  # weights and radius, each user in its own cache lines
        self.arrays = {
            "gram": grown(old.get("gram"), capacity, d, d),
            "moment": grown(old.get("moment"), capacity, d),
            "count": grown(old.get("count"), capacity, dtype=np.int64),
            "inverse": grown(old.get("inverse"), inverses, d, d),
            "age": grown(old.get("age"), capacity, dtype=np.int64),
            "row": grown(old.get("row"), capacity, dtype=np.int64),
            "weights": grown(old.get("weights"), capacity, d),
            "radius": grown(old.get("radius"), room),
            "by_feature": aligned_zeros(d, room if self.dense else 0, dtype=np.float32),
            "largest_norm": np.zeros(room // BLOCK if self.dense else 0),
            "smallest_radius": np.ones(room // BLOCK if self.dense else 0),
            "by_user": grown(
                old.get("by_user"), 0 if self.dense else capacity, compared, dtype=np.float32
            ),
        }
        if not old:
            self.arrays["row"][:n_users] = -1
            self.arrays["radius"][:n_users] = 1.0
        if self.dense:
            self._publish(graph.n)

    def _publish(self, n: int) -> None:
        """Write down what users compare: feature by feature in dense graphs, else user by user."""
        a = self.arrays
        if self.dense:
            a["by_feature"][:, :n] = a["weights"][:n].T
            bound_blocks(**a)
        else:
            met = self._met(n)
            a["by_user"][met, : self.d] = a["weights"][met]
            a["by_user"][met, self.d] = a["radius"][met]

    def _met(self, n: int) -> Ints:
        """Return those of the first ``n`` users who have come."""
        return np.flatnonzero(self.arrays["row"][:n] >= 0)

    def clear(self, label: int) -> None:
        """Do nothing: a component has no more than its ridge model."""

    def join(self, compiled: Any, models: Models, graph: UserGraph, links: Ints) -> None:
        """Let the next user in, with these links."""
        club.join(compiled, graph.n, links)
        graph.n += 1

    def pool(self, compiled: Any, models: Models, labels: Ints, alone: Models) -> None:
        """Make model 0 of ``alone`` the one of all samples of these components."""
        for name in ("gram", "moment", "count"):
            alone.arrays[name][0] = models.arrays[name][labels].sum(axis=0)
        alone.renew(0)

    def counts(self, numbers: Ints) -> Ints:
        """Return how many samples there are of each of these users."""
        rows = self.arrays["row"][numbers]
        return np.where(rows >= 0, self.arrays["count"][rows], 0)

    def statistics(self, number: int) -> tuple[Floats, Floats, int]:
        """Return copies of a user's own (gram, moment, count)."""
        a, row = self.arrays, self.arrays["row"][number]
        if row < 0:
            return np.zeros((self.d, self.d)), np.zeros(self.d), 0
        return np.array(a["gram"][row]), np.array(a["moment"][row]), int(a["count"][row])

    def weights(self, number: int, models: Models, graph: UserGraph) -> Floats:
        """Return the ridge estimate of a user's own samples."""
        gram, moment, _ = self.statistics(number)
        work, out = np.empty((self.d, self.d + 1)), np.empty(self.d)
        factors.ridge_weights(gram, moment, models.reg, work, out)
        return out

    def state(self, compiled: Any, graph: UserGraph) -> dict[str, Any]:
        """Return copies of what is in use."""
        now, used = compiled.scalars(), compiled.n_rows
        return {
            "tally": np.array([now["n_rows"], now["n_clusters"]]),
            "draws": np.array([now["n_drawn"]]),
            "updates": np.array([now["n_updates"]]),
            **{f"user_{name}": self.arrays[name][:used].copy() for name in _ROWS},
            **{f"user_{name}": self.arrays[name][: graph.n].copy() for name in ("row", "radius")},
            "user_weights": written_rows(self.arrays["weights"][: graph.n], self._met(graph.n)),
        }

    def load_state(self, state: dict[str, Any], compiled: Any, graph: UserGraph) -> int:
        """Take over what :meth:`state` returned; return the components that it tells of."""
        n_rows, n_clusters = array_of(state, "tally", (2,), np.int64).tolist()
        compiled.assign(n_rows=n_rows, n_drawn=int(array_of(state, "draws", (1,), np.int64)[0]))
        if "updates" in state:  # files of 0.1.0 have none
            compiled.n_updates = int(array_of(state, "updates", (1,), np.int64)[0])
        for name in _ROWS:
            fill(self.arrays[name][:n_rows], state, f"user_{name}")
        for name in _USERS:
            below = n_rows if name == "row" else None
            fill(self.arrays[name][: graph.n], state, f"user_{name}", below, low=-1)
        row = self.arrays["row"][: graph.n]
        if not np.array_equal(np.sort(row[row >= 0]), np.arange(n_rows)):
            raise ValueError(f"user_row must give each of {n_rows} rows to one user")
        self._publish(graph.n)
        return int(n_clusters)
