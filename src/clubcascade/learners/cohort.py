"""What CohortCascade learns: statistics of users, and models of cohorts and of everyone."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from clubcascade.core import Catalog, Floats, Ints, array_of, fill
from clubcascade.core.paged_arrays import aligned_zeros, grown, written_rows
from clubcascade.kernels import cohort as _answers  # noqa: F401
from clubcascade.kernels import cohort_constants as constants
from clubcascade.kernels import cohort_models, cohort_state, entry_points, packed_items
from clubcascade.kernels import cohort_posterior as posterior
from clubcascade.learners.base import Learner
from clubcascade.learners.cohort_checks import check_cohorts
from clubcascade.learners.item_memory import no_items
from clubcascade.learners.models import Models
from clubcascade.learners.seeds import key_of

_USERS = ("gram", "moment", "count", "label", "due", "after", "before")
_LARGE = ("gram", "moment")
_COHORTS = ("root", "root_count", "prior", "prior_log_det", "size", "head", "split_due")
_LEARNED = {"error": "error", "mixture_error": "mixture_error", "predictor": "way"}
"""Arrays of the selection, and their names in a state and its files."""
_SAVED = {
    "noise": ("noise_variance", "move_rate"),
    "tally": ("n_lists", "n_cohorts", "n_users", "last_model", "n_assigned"),
    "draws": ("n_drawn",),
    "calibration": ("promised", "answered"),
}
"""Scalars that are saved, by the arrays of the file that hold them."""
_WORK_VECTORS = (
    *("list_moment", "residual_work", "product_work", "mean_work"),
    *("deviation_work", "prior_work", "expected_work"),
)
_WORK_MATRICES = ("list_gram", "factor_work", "matrix_work", "inverse_work", "precision_work")


class CohortModels(Learner):
    """Model 0 is everyone's, the others are of cohorts; a row per user, and one that stays empty.

    Parameters
    ----------
    d
        Number of features.
    n_users
        Users known beforehand.
    logistic
        Whether the link is logistic.
    explore, reg, max_cohorts, half_life, seed
        As for :class:`clubcascade.CohortCascade`; half_life 0 for no forgetting.
    """

    draws = True

    def __init__(
        self,
        d: int,
        n_users: int,
        *,
        logistic: bool,
        explore: float,
        reg: float,
        max_cohorts: int,
        half_life: int,
        seed: int,
    ) -> None:
        self.d, self.explore = d, explore
        self._users = (*_USERS, "lists") if half_life else _USERS
        self._keys = {"draw_key": key_of(seed, "draws"), "move_key": key_of(seed, "moves")}
        self._packed: WeakKeyDictionary[Catalog, dict[int, Any]] = WeakKeyDictionary()
        self.compiled = None
        self._allocate(reg, max_cohorts + 1, logistic, half_life)
        self._reserve(max(n_users + 1, 8), n_users=n_users)

    def _allocate(self, reg: float, most: int, logistic: bool, half_life: int) -> None:
        d = self.d
        self.models = Models(d, reg, most)
        self.arrays: dict[str, npt.NDArray[Any]] = {
            "root": aligned_zeros(most, d, d),
            "root_count": np.zeros(most, np.int64),
            "stale": np.zeros(most, np.bool_),
            "prior": aligned_zeros(most, d, d),
            "prior_log_det": np.zeros(most),
            "size": np.zeros(most, np.int64),
            "head": np.zeros(most, np.int64),
            "split_due": np.zeros(most, np.int64),
            "error": np.zeros(
                (constants.N_BUCKETS + 1, constants.N_PREDICTORS + 1)
            ),  # last row: scratch
            "mixture_error": np.zeros((constants.N_BUCKETS, 2)),
            "predictor": np.full(constants.N_BUCKETS, constants.FIRST_PREDICTOR),
            **{name: aligned_zeros(d) for name in _WORK_VECTORS},
            **{name: aligned_zeros(d, d) for name in _WORK_MATRICES},
            "split_user": np.zeros(constants.MAX_SPLIT_USERS, np.int64),
            "split_side": np.zeros(constants.MAX_SPLIT_USERS, np.int64),
            "candidate_work": np.zeros(constants.SCORED_CANDIDATES, np.int64),
        }
        self._nothing = no_items(0)
        self._scalars: dict[str, Any] = {
            "explore": self.explore,
            "within_variance": constants.WITHIN_VARIANCE,
            "between_variance": constants.BETWEEN_VARIANCE,
            "mean_widening": constants.MEAN_WIDENING,
            "logistic": logistic,
            "half_life": half_life,
            "draws_moves": True,
            "measures_noise": True,
            "mirrors_draws": True,
            "sequential": True,
            "noise_variance": constants.INITIAL_NOISE
            * (constants.LOGISTIC_NOISE if logistic else 1.0),
            "item_share": 0.0,
            "move_rate": 1.0,
            "promised": -1.0,
            "answered": 0.0,
            "n_lists": 0,
            "n_cohorts": 0,
            "n_users": 0,
            "last_model": 0,
            "n_assigned": 0,
            "n_drawn": 0,
            "expected_for": -1,
        }
        for g in range(most):
            self.models.clear(g)
            self.arrays["root"][g] = np.sqrt(reg) * np.eye(d)
        self._capacity = 0

    def _reserve(self, capacity: int, **changes: Any) -> None:
        """Make room for ``capacity`` users; one more row than users, for new ones."""
        d, a = self.d, self.arrays
        shapes = {"gram": (d, d), "moment": (d,)}
        self.arrays = a | {
            name: grown(
                a.get(name),
                capacity,
                *shapes.get(name, ()),
                dtype=np.float64 if name in shapes else np.int64,
            )
            for name in (*_USERS, "lists")
        }
        self._capacity = capacity
        self._bind(**changes)

    def _bind(self, **changes: Any) -> None:
        self.compiled = self._bound(self.arrays, **changes)

    def _bound(self, arrays: dict[str, npt.NDArray[Any]], **changes: Any) -> Any:
        """Bind arrays and scalars into the structure that the kernels take."""
        known = self._scalars if self.compiled is None else self.compiled.scalars()
        return cohort_state.Cohort.make(
            ridge=self.models.struct,
            nothing_recalled=self._nothing,
            **arrays,
            **(known | changes),
            **self._keys,
        )

    def join(self, user: Hashable, number: int) -> None:
        """Make room for the user's statistics."""
        self.join_many((user,), number)

    def join_many(self, users: Sequence[Hashable], first: int) -> None:
        """Make room for the statistics of users: at once, since each write binds all scalars."""
        last = first + len(users)
        if last >= self._capacity:
            self._reserve(max(2 * self._capacity, last + 1))
        self.compiled.n_users = last

    def labels(self, n_users: int) -> Ints:
        """Return the cohort of each user, 0 before it has one, in the order of their numbers."""
        return np.array(self.arrays["label"][:n_users], dtype=np.intp)

    def ranking_view(self, catalog: Catalog, k: int) -> Any:
        """Return the catalogue as it is ranked."""
        return self._view(catalog, 0)

    def _view(self, catalog: Catalog, part: int) -> Any:
        """Return the view of one of several threads: each has its own, for it holds scratch."""
        views = self._packed.setdefault(catalog, {})
        if part not in views:
            views[part] = packed_items.pack(catalog._rows, np.arange(len(catalog)))
        return views[part]

    def reader(self, part: int, ahead: int, catalog: Catalog, k: int) -> tuple[Any, Any]:
        """Return what one of several threads ranks with."""
        scratch = (*_WORK_VECTORS, *_WORK_MATRICES)
        own = {name: aligned_zeros(*self.arrays[name].shape) for name in scratch}
        state = self._bound(self.arrays | own, n_drawn=self.compiled.n_drawn + ahead)
        return state, self._view(catalog, part)

    def skip_draws(self, n: int) -> None:
        """Go on as if ``n`` lists had been drawn."""
        self.compiled.n_drawn += n

    def rank_new_user(
        self, user: Hashable, number: int, items: Floats | Catalog, rows: Ints, scores: Floats
    ) -> None:
        """Rank by the row that stays empty, which is that of the next user."""
        if isinstance(items, Catalog):
            view = self.ranking_view(items, len(rows))
            entry_points.rank_catalog(self.compiled, number, view, rows, scores)
        else:
            entry_points.rank_items(self.compiled, number, items, rows, scores)

    def mean_weights(self, number: int, out: Floats) -> Floats:
        """Fill ``out`` with the weights expected of a user, and return it."""
        posterior.mean_weights(self.compiled, number, out)
        return out

    def widths(self, number: int, rows: Floats) -> Floats:
        """Return how widely the attraction of items is drawn for a user: one deviation each."""
        a, precisions = self.arrays, constants.PRECISIONS
        predictor, levels = posterior.predictor_of(self.compiled, number), len(precisions) + 1
        root = a["root"][a["label"][number] if predictor >= levels else 0]
        own: Any = 0.0
        shrunk: Any = rows.T
        if predictor % levels < len(precisions):
            precision = precisions[predictor % levels]
            solved = np.linalg.solve(a["gram"][number] + precision * np.eye(self.d), rows.T)
            own, shrunk = (rows.T * solved).sum(axis=0), precision * solved
        mean = np.linalg.solve(np.triu(root).T, shrunk)
        scale = posterior.draw_scale(self.compiled)
        spread: Floats = scale * np.sqrt(own + constants.MEAN_WIDENING**2 * (mean**2).sum(axis=0))
        return spread

    def state(self, n_users: int) -> dict[str, Any]:
        """Return copies of the statistics of users and the models of cohorts."""
        cohort_models.settle_all(self.compiled)
        a, now = self.arrays, self.compiled.scalars()
        kept = {name: a[name][:n_users] for name in self._users}
        kept |= {saved: a[name] for name, saved in _LEARNED.items()}
        kept |= {name: np.array([now[part] for part in parts]) for name, parts in _SAVED.items()}
        used = now["last_model"] + 1
        kept |= {name: a[name][:used] for name in _COHORTS}
        copies = {name: value.copy() for name, value in kept.items() if name not in _LARGE}
        met = np.flatnonzero(a["count"][:n_users] + a["lists"][:n_users])
        copies |= {name: written_rows(a[name][:n_users], met) for name in _LARGE}
        return {**copies, **self.models.state(used)}

    def load_state(self, state: dict[str, Any], users: Mapping[Hashable, int]) -> None:
        """Take over what :meth:`state` returned."""
        n = len(users)
        self._reserve(max(n + 1, 8))
        a = self.arrays
        fill(a["error"], state, "error")
        fill(a["mixture_error"], state, "mixture_error")
        fill(a["predictor"], state, _LEARNED["predictor"], constants.N_PREDICTORS)
        scalars: dict[str, Any] = {}
        for name, parts in _SAVED.items():
            dtype = np.int64 if name in ("tally", "draws") else np.float64
            values = array_of(state, name, (len(parts),), dtype)
            scalars |= dict(zip(parts, values.tolist(), strict=True))
        used = scalars["last_model"] + 1
        for name in self._users:
            fill(a[name][:n], state, name, used if name == "label" else None)
        for name in _COHORTS:
            fill(a[name][:used], state, name)
        self.models.load_state(state, used)
        check_cohorts(a, scalars, n)
        self._bind(**scalars)
