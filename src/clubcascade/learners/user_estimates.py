"""What CLUB-cascade with a link keeps of each user: an estimate, and its samples or their sums."""

from typing import Any

import numpy as np
import numpy.typing as npt

from clubcascade.core import Floats, Ints, array_of
from clubcascade.core.paged_arrays import aligned_zeros, grown
from clubcascade.graph import UserGraph
from clubcascade.kernels import glm_club, samples
from clubcascade.kernels.edge_deletion import BLOCK, radius_of
from clubcascade.learners.likelihoods import GLM, make_store
from clubcascade.learners.models import OWN_INVERSES, Models
from clubcascade.learners.user_statistics import bound_blocks

_KEPT = ("weights", "count", "gram", "moment")


class UserEstimates:
    """Generalized linear estimates over ``d`` features: of each user, and of each component.

    Where the solver is ``"online"`` no samples are kept, so that each user's Gram matrix and
    moment are.

    Its methods are those of :class:`UserStatistics`.
    """

    def __init__(self, d: int, glm: GLM) -> None:
        self.d, self.glm, self.link = d, glm, glm.link
        self.arrays: dict[str, npt.NDArray[Any]] = {}

    def bind(self, models: Models, graph: UserGraph, **more: Any) -> Any:
        return glm_club.GLMClub.make(
            ridge=models.struct,
            fit=self.fits.struct,
            own=self.estimates.struct,
            store=self.store,
            link=self.link.compiled,
            graph=graph.struct,
            **self.arrays,
            **more,
        )

    def allocate(self, models: Models, graph: UserGraph) -> None:
        self.arrays, self.store = {}, make_store(self.d)
        self._reserve_arrays(graph)
        inverses = graph.n <= OWN_INVERSES
        self.fits = self.glm.likelihoods(models.arrays["weights"])
        self.estimates = self.glm.likelihoods(self.arrays["weights"], inverses=inverses)

    def reserve(self, models: Models, graph: UserGraph, n_users: int) -> None:
        self._reserve_arrays(graph)
        self.fits.reserve(models.arrays["weights"])
        self.estimates.reserve(self.arrays["weights"], n_users <= OWN_INVERSES)

    def _reserve_arrays(self, graph: UserGraph) -> None:
        n, d, old = graph.capacity, self.d, self.arrays
        rows = n if self.glm.solver == "online" else 0
        room = -(-n // BLOCK) * BLOCK  # whole blocks, so that a loop over one has no rest
        self.arrays = {
            "weights": grown(old.get("weights"), n, d),
            "count": grown(old.get("count"), n, dtype=np.int64),
            "gram": grown(old.get("gram"), rows, d, d),
            "moment": grown(old.get("moment"), rows, d),
            "radius": grown(old.get("radius"), room),
            "by_feature": aligned_zeros(d, room if graph.start.dense else 0, dtype=np.float32),
            "largest_norm": np.zeros(room // BLOCK if graph.start.dense else 0),
            "smallest_radius": np.ones(room // BLOCK if graph.start.dense else 0),
            "by_user": aligned_zeros(0, d + 1, dtype=np.float32),
        }
        if not old:
            self.arrays["radius"][: graph.n] = 1.0
        self._publish()

    def _publish(self) -> None:
        """Write down what users of dense graphs compare, feature by feature."""
        weights, shown = self.arrays["weights"], self.arrays["by_feature"]
        if shown.size:
            shown[:, : len(weights)] = weights.T
            bound_blocks(**self.arrays)

    def clear(self, label: int) -> None:
        self.fits.clear(label)

    def join(self, compiled: Any, models: Models, graph: UserGraph, links: Ints) -> None:
        """Let the next user in: solve for the samples of all components that it merges."""
        number, label, merged = graph.join()
        self.arrays["radius"][number] = 1.0
        if graph.arrays["size"][label] == 1:
            models.clear(label)
            self.clear(label)
        if merged:
            glm_club.merge(compiled, label, np.array([label, *merged]))
        glm_club.refresh_weights(compiled, links)
        compiled.n_clusters = graph.n_components

    def pool(self, compiled: Any, models: Models, labels: Ints, alone: Models) -> None:
        if len(labels):
            fit = self.glm.likelihoods(alone.arrays["weights"])
            glm_club.pool_new_user(compiled, labels, alone.struct, fit.struct)

    def counts(self, numbers: Ints) -> Ints:
        counts: Ints = self.arrays["count"][numbers]
        return counts

    def statistics(self, number: int) -> tuple[Floats, Floats, int]:
        a, count = self.arrays, int(self.arrays["count"][number])
        if self.glm.solver == "online":
            return np.array(a["gram"][number]), np.array(a["moment"][number]), count
        ids, looks, clicks = self.estimates.counts(number)
        rows = samples.items_of(self.store)[ids]
        return (rows.T * looks) @ rows, clicks @ rows, count

    def weights(self, number: int, models: Models, graph: UserGraph) -> Floats:
        if graph.arrays["degree"][number] == 0 and self.glm.solver == "exact":
            label = graph.arrays["label"][number]  # alone: its model is its own estimate
            return np.array(models.arrays["weights"][label])
        return np.array(self.arrays["weights"][number])

    def state(self, compiled: Any, graph: UserGraph) -> dict[str, Any]:
        met = np.flatnonzero(self.arrays["count"])
        kept = {name: self.arrays[name] for name in _KEPT if len(self.arrays[name])}
        fits = self.fits.state(np.arange(graph.n_labels))
        return {
            "tally": np.array([compiled.n_clusters]),
            "met": met,
            "items": samples.items_of(self.store),
            **{f"user_{name}": value[met] for name, value in kept.items()},
            **{f"own_{name}": value for name, value in self.estimates.state(met).items()},
            **{f"fit_{name}": value for name, value in fits.items()},
        }

    def load_state(self, state: dict[str, Any], compiled: Any, graph: UserGraph) -> int:
        """Take over what :meth:`state` returned; return the components that it tells of."""
        n_clusters = int(array_of(state, "tally", (1,), np.int64)[0])
        self.store = make_store(self.d, array_of(state, "items", (-1, self.d)))
        self.fits.load_state(np.arange(graph.n_labels), state, "fit_")
        met = array_of(state, "met", (-1,), np.int64, below=graph.n)
        if not (np.diff(met) > 0).all():
            raise ValueError("met must rise")
        self.estimates.load_state(met, state, "own_")
        for name in _KEPT:
            room = self.arrays[name]
            if len(room):
                wanted = (len(met), *room.shape[1:])
                room[met] = array_of(state, f"user_{name}", wanted, room.dtype)
        count = self.arrays["count"][met]
        self.arrays["radius"][met] = [radius_of(each, False) for each in count]
        self._publish()
        return n_clusters
