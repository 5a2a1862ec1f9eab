"""HierTS: every user has a model of its own, and all users share one learned prior."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from clubcascade import validation
from clubcascade.core import Catalog, Floats, Ints, Items, array_of
from clubcascade.kernels import entry_points
from clubcascade.kernels import hier_ts as kernels
from clubcascade.policies._compiled import CompiledPolicy
from clubcascade.policies._seeds import key_of
from clubcascade.policies._users import numbered, read_users

_PER_USER = {"gram": 2, "moment": 1, "square": 0, "count": 0}
"""Arrays of users, and how many times features each entry is."""
_PRIOR = {"mean": 1, "mean_factor": 2, "precision": 2}
_COUNTS = ("n_observations", "next_step")


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
    >>> import numpy as np
    >>> policy = HierTS(n_features=2, seed=7)
    >>> for user in range(20):
    ...     policy.update(user, np.eye(2), click=1)
    >>> policy.scores("a new user", np.eye(2)).round(1)
    array([0., 1.])
    """

    n_features: int

    def __init__(
        self, *, n_features: int, users: Iterable[Hashable] | None = None, seed: int = 0
    ) -> None:
        super().__init__()
        self.n_features = validation.whole("n_features", n_features, low=1)
        self._numbers = read_users(users)
        known = list(self._numbers)
        self._users = users if isinstance(users, range) or users is None else known
        self.seed = validation.whole("seed", seed, low=0)
        d = self.n_features
        self._prior = {"mean": np.zeros(d), "mean_factor": np.eye(d), "precision": d * np.eye(d)}
        self._arrays = self._room(max(len(known) + 1, 8))
        self._bind(
            noise_variance=kernels.NOISE_VARIANCE,
            n_users=len(known),
            n_observations=0,
            next_step=1,
            n_drawn=0,
        )

    @property
    def params(self) -> dict[str, Any]:
        """The constructor's arguments, as they were given."""
        return super().params | {"users": self._users}

    # -- arrays --------------------------------------------------------------------------------

    def _room(self, capacity: int) -> dict[str, npt.NDArray[Any]]:
        """Return arrays for so many users; the row behind the last user is always empty."""
        return {
            name: np.zeros(
                (capacity, *[self.n_features] * power), int if name == "count" else float
            )
            for name, power in _PER_USER.items()
        }

    def _bind(self, **scalars: Any) -> None:
        self.compiled = kernels.Hierarchical.make(
            **(scalars or self.compiled.scalars()),
            **self._arrays,
            **self._prior,
            key=key_of(self.seed, "draws"),
        )

    def _join(self, user: Hashable) -> int:
        number = len(self._numbers)
        if number + 1 == len(self._arrays["count"]):
            old, self._arrays = self._arrays, self._room(2 * number + 2)
            for name, value in old.items():
                self._arrays[name][: number + 1] = value
            self._bind()
        self._numbers[user] = number
        self.compiled.n_users = number + 1
        return number

    def _row(self, user: Hashable) -> int:
        return self._numbers.get(user, len(self._numbers))

    # -- lists ---------------------------------------------------------------------------------

    def ranking_view(self, catalog: Catalog, k: int) -> Any:
        """Return the catalogue's features."""
        return catalog._rows

    def training_view(self, catalog: Catalog) -> Any:
        """Return the catalogue's features."""
        return catalog._rows

    def _rank_new_user(
        self, user: Hashable, items: Floats | Catalog, rows: Ints, scores: Floats
    ) -> None:
        features = items._rows if isinstance(items, Catalog) else items
        entry_points.rank_items(self.compiled, len(self._numbers), features, rows, scores)

    @property
    def draws(self) -> bool:
        """Say yes: every list has its own draw."""
        return True

    # -- what was learned ----------------------------------------------------------------------

    def scores(self, user: Hashable, items: Items) -> Floats:
        """Return the expected attraction of every item, without a draw, within [0, 1]."""
        loose = self._read_items(items)
        rows = loose._rows if isinstance(loose, Catalog) else loose
        return np.clip(rows @ self.user_weights(user), 0.0, 1.0)

    def user_weights(self, user: Hashable) -> Floats:
        """Return the posterior mean of a user's weights; that of all for a new user."""
        self.number(user)
        with self._lock:
            weights: Floats = kernels.expected(self.compiled, self._row(user))
            return weights

    def cluster_weights(self, user: Hashable) -> Floats:
        """Return the mean of all users' weights, mu."""
        self.number(user)
        with self._lock:
            return self._prior["mean"].copy()

    @property
    def covariance(self) -> Floats:
        """The covariance of users' weights around their mean, Sigma."""
        with self._lock:
            return np.asarray(np.linalg.inv(self._prior["precision"]), dtype=float)

    @property
    def noise_variance(self) -> float:
        """The variance of an observation around its mean, s2."""
        return float(self.compiled.noise_variance)

    # -- state ---------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return all that was learned: arrays (copies) and plain values."""
        with self._lock:
            n, now = len(self._numbers), self.compiled.scalars()
            return {
                "users": list(self._numbers),
                "tally": np.array([now[name] for name in _COUNTS]),
                "draws": np.array([now["n_drawn"]]),
                "noise": np.array([now["noise_variance"]]),
                **{name: value[:n].copy() for name, value in self._arrays.items()},
                **{name: value.copy() for name, value in self._prior.items()},
            }

    def _take(self, state: dict[str, Any]) -> None:
        self._numbers = numbered(state["users"])
        n, d = len(self._numbers), self.n_features
        self._arrays = self._room(n + 8)
        for name, power in _PER_USER.items():
            into = self._arrays[name]
            into[:n] = array_of(state, name, (n, *[d] * power), into.dtype)
        for name, power in _PRIOR.items():
            self._prior[name] = array_of(state, name, (d,) * power).copy()
        for name in ("mean_factor", "precision"):
            if not (np.diag(self._prior[name]) > 0).all():
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

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Yield a policy for users that come, and one for known users."""
        yield cls(n_features=3, seed=3)
        yield cls(n_features=3, users=range(3), seed=4)
