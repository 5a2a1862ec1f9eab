"""HierTS: every user has a model of its own, and all users share one learned prior."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from clubcascade import validation
from clubcascade.core import Catalog, Floats, Ints, Items, array_of
from clubcascade.core.paged_arrays import grown, written_rows
from clubcascade.kernels import entry_points
from clubcascade.kernels import hier_ts as kernels
from clubcascade.learners.base import Learner
from clubcascade.learners.seeds import key_of
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.policies._users import kept_users, read_users

_PER_USER = {"gram": 2, "moment": 1, "square": 0, "count": 0}
"""Arrays of users, and how many times features each entry is."""
_PRIOR = {"mean": 1, "mean_factor": 2, "precision": 2}
_COUNTS = ("n_observations", "next_step")


class _Hierarchy(Learner):
    """Sums of every user's observations, and the prior of all users' weights."""

    draws = True

    def __init__(self, d: int, n_users: int, key: np.uint64) -> None:
        self.d, self._key = d, key
        self.prior = {"mean": np.zeros(d), "mean_factor": np.eye(d), "precision": d * np.eye(d)}
        self._arrays: dict[str, npt.NDArray[Any]] = {}
        self._arrays = self._room(max(n_users + 1, 8))
        self._bind(
            noise_variance=kernels.NOISE_VARIANCE,
            n_users=n_users,
            n_observations=0,
            next_step=1,
            n_drawn=0,
        )

    def _room(self, capacity: int) -> dict[str, npt.NDArray[Any]]:
        """Return arrays for so many users; the row behind the last user is always empty."""
        return {
            name: grown(
                self._arrays.get(name),
                capacity,
                *[self.d] * power,
                dtype=np.int64 if name == "count" else np.float64,
            )
            for name, power in _PER_USER.items()
        }

    def _bind(self, **scalars: Any) -> None:
        self.compiled = kernels.Hierarchical.make(
            **(scalars or self.compiled.scalars()), **self._arrays, **self.prior, key=self._key
        )

    def join(self, user: Hashable, number: int) -> None:
        if number + 1 == len(self._arrays["count"]):
            self._arrays = self._room(2 * number + 2)
            self._bind()
        self.compiled.n_users = number + 1

    def rank_new_user(
        self, user: Hashable, number: int, items: Floats | Catalog, rows: Ints, scores: Floats
    ) -> None:
        """Rank by the row behind the last user."""
        features = items._rows if isinstance(items, Catalog) else items
        entry_points.rank_items(self.compiled, number, features, rows, scores)

    def state(self, n_users: int) -> dict[str, Any]:
        now, met = self.compiled.scalars(), np.flatnonzero(self._arrays["count"][:n_users])
        return {
            "tally": np.array([now[name] for name in _COUNTS]),
            "draws": np.array([now["n_drawn"]]),
            "noise": np.array([now["noise_variance"]]),
            **{name: written_rows(value[:n_users], met) for name, value in self._arrays.items()},
            **{name: value.copy() for name, value in self.prior.items()},
        }

    def load_state(self, state: dict[str, Any], users: Mapping[Hashable, int]) -> None:
        n, d = len(users), self.d
        self._arrays = self._room(n + 8)
        for name, power in _PER_USER.items():
            into = self._arrays[name]
            into[:n] = array_of(state, name, (n, *[d] * power), into.dtype)
        for name, power in _PRIOR.items():
            self.prior[name] = array_of(state, name, (d,) * power).copy()
        for name in ("mean_factor", "precision"):
            if not (np.diag(self.prior[name]) > 0).all():
                raise ValueError(f"{name} must have a positive diagonal")
        noise = float(array_of(state, "noise", (1,))[0])
        if not noise > 0:
            raise ValueError(f"noise must be positive, got {noise}")
        counts = array_of(state, "tally", (len(_COUNTS),), np.int64).tolist()
        self._bind(
            noise_variance=noise,
            n_users=n,
            n_drawn=int(array_of(state, "draws", (1,), np.int64)[0]),
            **dict(zip(_COUNTS, counts, strict=True)),
        )


class HierTS(CompiledPolicy):
    """Hierarchical Thompson sampling: weights of users come from one normal prior, learned by EM.

    ``w_i ~ N(mu, Sigma)`` and ``y = w_i . x + N(0, s2)``. ``recommend`` draws mu from its
    posterior, then the user's weights given mu. When the number of observations has grown by a
    tenth, one EM step over all users estimates mu (by generalised least squares), Sigma and s2.
    The step takes time in proportion to the number of users. There is nothing to tune.

    Parameters
    ----------
    n_features
        Number of features of an item.
    users
        Users known beforehand; others join at their first ``update``.
    seed
        Seed of the draws.

    References
    ----------
    Hong, Kveton, Zaheer and Ghavamzadeh, "Hierarchical Bayesian bandits", AISTATS 2022: there
    Sigma and s2 are known. Lists are those of the largest drawn means, as in CascadeLinTS.

    Examples
    --------
    >>> policy = HierTS(n_features=2, seed=7)
    >>> for user in range(20):
    ...     policy.update(user, np.eye(2), click=1)
    >>> policy.scores("a new user", np.eye(2)).round(1)
    array([0., 1.])
    """

    n_features: int
    _learner: _Hierarchy

    def __init__(
        self, *, n_features: int, users: Iterable[Hashable] | None = None, seed: int = 0
    ) -> None:
        self.n_features = validation.whole("n_features", n_features, low=1)
        self.seed = validation.whole("seed", seed, low=0)
        known = read_users(users)
        self._given = {"users": kept_users(users, known)}
        learner = _Hierarchy(self.n_features, len(known), key_of(self.seed, "draws"))
        super().__init__(learner, known)

    def scores(self, user: Hashable, items: Items) -> Floats:
        """Return the expected attraction of every item, without a draw, within [0, 1]."""
        loose = self._read_items(items)
        rows = loose._rows if isinstance(loose, Catalog) else loose
        return np.clip(rows @ self.user_weights(user), 0.0, 1.0)

    def user_weights(self, user: Hashable) -> Floats:
        """Return the posterior mean of a user's weights; that of all for a new user."""
        self.number(user)
        with self._lock:
            row = self._numbers.get(user, len(self._numbers))
            weights: Floats = kernels.expected(self.compiled, row)
            return weights

    def cluster_weights(self, user: Hashable) -> Floats:
        """Return the mean of all users' weights, mu."""
        self.number(user)
        with self._lock:
            return self._learner.prior["mean"].copy()

    @property
    def covariance(self) -> Floats:
        """The covariance of users' weights around their mean, Sigma."""
        with self._lock:
            return np.asarray(np.linalg.inv(self._learner.prior["precision"]), dtype=float)

    @property
    def noise_variance(self) -> float:
        """The variance of an observation around its mean, s2."""
        return float(self.compiled.noise_variance)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Yield a policy for users that come, and one for known users."""
        yield cls(n_features=3, seed=3)
        yield cls(n_features=3, users=range(3), seed=4)
