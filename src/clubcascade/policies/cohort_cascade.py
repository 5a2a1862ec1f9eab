"""CohortCascade: the policy to use by default; nothing to tune."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any, Literal, Self
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from clubcascade import validation
from clubcascade.core import Catalog, Floats, Ints, Items, array_of, fill
from clubcascade.errors import UnknownUser
from clubcascade.kernels import cohort as _answers  # noqa: F401
from clubcascade.kernels import cohort_constants as constants
from clubcascade.kernels import cohort_posterior as posterior
from clubcascade.kernels import cohort_state, entry_points, packed_items
from clubcascade.links import read_link
from clubcascade.learners.arrays import aligned_zeros
from clubcascade.learners.cohort_checks import check_cohorts
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.learners.models import Models
from clubcascade.learners.seeds import key_of
from clubcascade.policies._users import numbered, read_users

_USERS = ("gram", "moment", "count", "label", "due", "after", "before")
_COHORTS = ("root", "root_count", "prior", "prior_log_det", "size", "head", "split_due")
_LEARNED = {"error": "error", "predictor": "way"}
"""Arrays of the selection, and their names in a state and its files."""
_SAVED = {
    "noise": ("noise_variance", "move_rate"),
    "tally": ("n_lists", "n_cohorts", "n_users", "last_model", "n_assigned"),
    "draws": ("n_drawn",),
}
"""Scalars that are saved, by the arrays of the file that hold them."""
_WORK_VECTORS = ("list_moment", "residual_work", "product_work", "mean_work", "deviation_work")
_WORK_MATRICES = ("list_gram", "factor_work", "matrix_work", "inverse_work", "precision_work")


class CohortCascade(CompiledPolicy):
    """CohortCascade: finds who is alike, learns each user's own taste, and needs no tuning.

    Every user has weights of its own, which lie around those of its cohort, which lie around
    everyone's. A user without history is served as everyone, soon as its cohort, and with enough
    feedback as itself: how far to trust each level is judged by what would have predicted past
    clicks best. Cohorts are found by moving users, one at a time, to the cohort under which their
    feedback is most probable; they may split, merge and vanish. To explore, weights are drawn from
    what is believed (Thompson sampling), as widely as past predictions were wrong; an item counts
    by the better of the draw and its mirror image, and each place of a list is chosen as if those
    before had been passed over. A few new users, the pioneers, follow their own taste whatever is
    judged best, or differences that are never shown would never be found.

    Parameters
    ----------
    n_features
        Number of features of an item.
    users
        Users known beforehand; others join at their first ``update``.
    link
        How weights and item make a probability: ``"identity"`` (their inner product, cut to
        [0, 1]) or ``"logistic"``.
    explore
        Width of the draws in standard deviations of the belief; twice that for cohorts.
    reg
        Ridge constant of the cohorts' and everyone's weights.
    max_cohorts
        The most cohorts at a time; whoever fits none stays with everyone.
    seed
        Seed of the draws (``recommend``) and of the moves (``update``).

    Examples
    --------
    >>> import numpy as np
    >>> policy = CohortCascade(n_features=2, seed=7)
    >>> items = np.eye(2)
    >>> for _ in range(40):
    ...     policy.update("alice", items[[1, 0]], click=1)
    ...     policy.update("bob", items[[0, 1]], click=1)
    >>> policy.recommend("alice", items, k=1), policy.recommend("bob", items, k=1)
    (array([0]), array([1]))
    >>> policy.clusters()
    [{'alice'}, {'bob'}]
    """

    n_features: int

    def __init__(
        self,
        *,
        n_features: int,
        users: Iterable[Hashable] | None = None,
        link: Literal["identity", "logistic"] = "identity",
        explore: float = 0.25,
        reg: float = 1.0,
        max_cohorts: int = 256,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.n_features = validation.whole("n_features", n_features, low=1)
        self.link = validation.choice("link", link, ("identity", "logistic"))
        self.explore = validation.factor("explore", explore)
        self.reg = validation.ridge("reg", reg)
        self.max_cohorts = validation.whole("max_cohorts", max_cohorts, low=1)
        self.seed = validation.whole("seed", seed, low=0)
        self._numbers = read_users(users)
        known = list(self._numbers)
        self._given = users if isinstance(users, range) or users is None else known
        self._packed: WeakKeyDictionary[Catalog, Any] = WeakKeyDictionary()
        self.compiled = None
        self._allocate()
        self._reserve(max(len(known) + 1, 8), n_users=len(known))

    @property
    def params(self) -> dict[str, Any]:
        """The constructor's arguments, as they were given."""
        return super().params | {"users": self._given}

    # -- arrays --------------------------------------------------------------------------------

    def _allocate(self) -> None:
        d, most = self.n_features, self.max_cohorts + 1
        logistic = self.link == "logistic"
        self._models = Models(d, self.reg, most)
        self._arrays: dict[str, npt.NDArray[Any]] = {
            "root": aligned_zeros(most, d, d),
            "root_count": np.zeros(most, np.int64),
            "prior": aligned_zeros(most, d, d),
            "prior_log_det": np.zeros(most),
            "size": np.zeros(most, np.int64),
            "head": np.zeros(most, np.int64),
            "split_due": np.zeros(most, np.int64),
            "error": np.zeros(
                (constants.N_BUCKETS + 1, constants.N_PREDICTORS + 1)
            ),  # last row: scratch
            "predictor": np.full(constants.N_BUCKETS, constants.FIRST_PREDICTOR),
            **{name: aligned_zeros(d) for name in _WORK_VECTORS},
            **{name: aligned_zeros(d, d) for name in _WORK_MATRICES},
            "split_user": np.zeros(constants.MAX_SPLIT_USERS, np.int64),
            "split_side": np.zeros(constants.MAX_SPLIT_USERS, np.int64),
            "candidate_work": np.zeros(constants.SCORED_CANDIDATES, np.int64),
        }
        self._scalars: dict[str, Any] = {
            "explore": self.explore,
            "within_variance": constants.WITHIN_VARIANCE,
            "between_variance": constants.BETWEEN_VARIANCE,
            "mean_widening": constants.MEAN_WIDENING,
            "logistic": logistic,
            "draws_moves": True,
            "measures_noise": True,
            "mirrors_draws": True,
            "sequential": True,
            "noise_variance": constants.INITIAL_NOISE
            * (constants.LOGISTIC_NOISE if logistic else 1.0),
            "move_rate": 1.0,
            "n_lists": 0,
            "n_cohorts": 0,
            "n_users": 0,
            "last_model": 0,
            "n_assigned": 0,
            "n_drawn": 0,
        }
        for g in range(most):
            self._models.clear(g)
            self._arrays["root"][g] = np.sqrt(self.reg) * np.eye(d)
        self._capacity = 0

    def _reserve(self, capacity: int, **changes: Any) -> None:
        """Make room for ``capacity`` users; one more row than users, for strangers."""
        d, a, kept = self.n_features, self._arrays, self._capacity
        old = {name: a[name] for name in _USERS if name in a}
        a["gram"], a["moment"] = aligned_zeros(capacity, d, d), aligned_zeros(capacity, d)
        for name in ("count", "label", "due", "after", "before"):
            a[name] = np.zeros(capacity, np.int64)
        for name, value in old.items():
            a[name][:kept] = value[:kept]
        self._capacity = capacity
        self._bind(**changes)

    def _bind(self, **changes: Any) -> None:
        """Bind arrays and scalars into the structure that the kernels take."""
        known = self._scalars if self.compiled is None else self.compiled.scalars()
        self.compiled = cohort_state.Cohort.make(
            ridge=self._models.struct,
            **self._arrays,
            **(known | changes),
            draw_key=key_of(self.seed, "draws"),
            move_key=key_of(self.seed, "moves"),
        )

    # -- users and items -----------------------------------------------------------------------

    def _join(self, user: Hashable) -> int:
        number = len(self._numbers)
        if number + 1 == self._capacity:
            self._reserve(2 * self._capacity)
        self._numbers[user] = number
        self.compiled.n_users = number + 1
        return number

    def _row(self, user: Hashable) -> int:
        """Row of a user's statistics; a stranger gets the row that is always empty."""
        number = self._numbers.get(user, -1)
        return number if number >= 0 else len(self._numbers)

    def ranking_view(self, catalog: Catalog, k: int) -> Any:
        """Return the catalogue as it is ranked."""
        found = self._packed.get(catalog)
        if found is None:
            found = self._packed[catalog] = packed_items.pack(
                catalog._rows, np.arange(len(catalog))
            )
        return found

    def training_view(self, catalog: Catalog) -> Any:
        """Return the catalogue's features."""
        return catalog._rows

    def _rank_new_user(
        self, user: Hashable, items: Floats | Catalog, rows: Ints, scores: Floats
    ) -> None:
        node = len(self._numbers)
        if isinstance(items, Catalog):
            entry_points.rank_catalog(
                self.compiled, node, self.ranking_view(items, len(rows)), rows, scores
            )
        else:
            entry_points.rank_items(self.compiled, node, items, rows, scores)

    @property
    def draws(self) -> bool:
        """Say yes: every list has its own draw."""
        return True

    def labels(self) -> Ints:
        """Return the cohort of each user, 0 before it has one, in the order of their numbers."""
        return np.array(self._arrays["label"][: len(self._numbers)], dtype=np.intp)

    # -- answers -------------------------------------------------------------------------------

    def scores(self, user: Hashable, items: Items) -> Floats:
        """Return the expected attraction of every item, without a draw, within [0, 1]."""
        loose = self._read_items(items)
        rows = loose._rows if isinstance(loose, Catalog) else loose
        z = rows @ self._expected(user)
        return read_link("logistic").mu(z) if self.link == "logistic" else np.clip(z, 0.0, 1.0)

    @property
    def has_scores(self) -> bool:
        """Say yes."""
        return True

    def _convert_scores(
        self, user: Hashable, items: Floats | Catalog, rows: Ints, scores: Floats
    ) -> None:
        weights = self._arrays["mean_work"]
        posterior.mean_weights(self.compiled, self._row(user), weights)
        table = items._rows if isinstance(items, Catalog) else items
        np.dot(table.take(rows, axis=0), weights, out=scores)
        if self.link == "logistic":
            scores[:] = read_link("logistic").mu(scores)
        else:
            np.minimum(np.maximum(scores, 0.0, out=scores), 1.0, out=scores)

    def _means(self, user: Hashable, items: Items) -> Floats:
        """Return what is expected of every item."""
        return self.scores(user, items)

    def _expected(self, user: Hashable) -> Floats:
        self.number(user)
        weights = np.empty(self.n_features)
        with self._lock:
            posterior.mean_weights(self.compiled, self._row(user), weights)
        return weights

    def _parts(self, user: Hashable, items: Items) -> tuple[Floats, Floats, float]:
        """Return what is expected of every item, and how widely that is drawn (one deviation)."""
        loose = self._read_items(items)
        rows = loose._rows if isinstance(loose, Catalog) else loose
        mean = rows @ self._expected(user)
        with self._lock:
            node, a = self._row(user), self._arrays
            way = posterior.predictor_of(self.compiled, node)
            ways = len(constants.PRECISIONS) + 1
            root = a["root"][a["label"][node] if way >= ways else 0]
            scale = self.explore * np.sqrt(self.compiled.noise_variance)
            own: Any = 0.0
            pulled: Any = rows.T
            if way % ways < len(constants.PRECISIONS):
                pull = constants.PRECISIONS[way % ways]
                ridge = a["gram"][node] + pull * np.eye(self.n_features)
                solved = np.linalg.solve(ridge, rows.T)
                own, pulled = (rows.T * solved).sum(axis=0), pull * solved
            centre = np.linalg.solve(np.triu(root).T, pulled)
        width = scale * np.sqrt(own + constants.MEAN_WIDENING**2 * (centre**2).sum(axis=0))
        return mean, width, 1.0

    def user_weights(self, user: Hashable) -> Floats:
        """Return the weights expected of a user."""
        self._known(user)
        return self._expected(user)

    def cluster_weights(self, user: Hashable) -> Floats:
        """Return the weights of a user's cohort, everyone's for a stranger."""
        self.number(user)
        with self._lock:
            label = self._arrays["label"][self._row(user)]
            return np.array(self._models.arrays["weights"][label])

    def statistics(self, user: Hashable) -> tuple[Floats, Floats, int]:
        """Return the user's own (gram, moment, count); no ridge term inside ``gram``."""
        number = self._known(user)
        with self._lock:
            a = self._arrays
            return a["gram"][number].copy(), a["moment"][number].copy(), int(a["count"][number])

    def _known(self, user: Hashable) -> int:
        number = self.number(user)
        if number < 0:
            raise UnknownUser(f"user must be one that the policy has met, got {user!r}")
        return number

    # -- state ---------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return all that was learned: arrays (copies) and plain values."""
        with self._lock:
            n, a = len(self._numbers), self._arrays
            kept = {name: a[name][:n] for name in _USERS}
            now = self.compiled.scalars()
            kept |= {saved: a[name] for name, saved in _LEARNED.items()}
            kept |= {
                name: np.array([now[part] for part in parts]) for name, parts in _SAVED.items()
            }
            used = now["last_model"] + 1
            kept |= {name: a[name][:used] for name in _COHORTS}
            copies = {name: value.copy() for name, value in kept.items()}
            return {"users": list(self._numbers), **copies, **self._models.state(used)}

    def _take(self, state: dict[str, Any]) -> None:
        self._numbers = numbered(state["users"])
        n, a = len(self._numbers), self._arrays
        self._reserve(max(n + 1, 8))
        fill(a["error"], state, "error")
        fill(a["predictor"], state, _LEARNED["predictor"], constants.N_PREDICTORS)
        scalars: dict[str, Any] = {}
        for name, parts in _SAVED.items():
            dtype = np.float64 if name == "noise" else np.int64
            values = array_of(state, name, (len(parts),), dtype)
            scalars |= dict(zip(parts, values.tolist(), strict=True))
        used = scalars["last_model"] + 1
        for name in _USERS:
            fill(a[name][:n], state, name, used if name == "label" else None)
        for name in _COHORTS:
            fill(a[name][:used], state, name)
        self._models.load_state(state, used)
        check_cohorts(a, scalars, n)
        self._bind(**scalars)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Yield one policy for users that come, one for known users, and one with a link."""
        yield cls(n_features=3, seed=3)
        yield cls(n_features=3, users=range(3), max_cohorts=2, seed=4)
        yield cls(n_features=3, link="logistic", seed=5)
