"""A world held in tables: items, and how attractive each is to each kind of user."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from clubcascade import validation
from clubcascade.click import Cascade, ClickModel
from clubcascade.core import Catalog, Feedback, Floats, Ints
from clubcascade.errors import ClubCascadeError, InvalidArgument
from clubcascade.kernels import world as kernels


class Table:
    """Users of several kinds, a table of items, and the attraction of each item to each kind.

    Parameters
    ----------
    features
        One row per item.
    attraction
        Kinds x items: probability that an item attracts a user of a kind.
    kind
        The kind of each user.
    offered
        How many items may be shown in a round; None: all of them, always.
    arrivals
        ``"uniform"``, or how often each user comes relative to the others.
    click
        The click model; by default the cascade.
    partition
        The true cluster of each user, where there is one.
    """

    def __init__(
        self,
        features: Floats,
        attraction: Floats,
        kind: Ints,
        *,
        offered: int | None = None,
        arrivals: Literal["uniform"] | npt.ArrayLike = "uniform",
        click: ClickModel | None = None,
        partition: Ints | None = None,
    ) -> None:
        self.n_users = len(kind)
        self.n_items = len(features) if offered is None else offered
        self.n_features = int(features.shape[1])
        self.partition = partition
        self.click = Cascade() if click is None else click
        self.offered = offered
        self.arrivals = arrivals
        self.catalog = Catalog(features)
        self.attraction = attraction
        self.kind = np.asarray(kind, dtype=np.int64)
        self._shares = _shares(arrivals, self.n_users)
        self._best: dict[tuple[int, int], float] = {}
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Start again: the same seed gives the same arrivals and the same luck."""
        seed = validation.whole("seed", seed, low=0)
        self.keys = np.random.SeedSequence(seed).generate_state(4, np.uint64)
        self.round = -1
        self._rows: Ints | None = None
        self.world: Any = kernels.make(
            self.catalog._rows,
            self.attraction,
            self.kind,
            self._shares,
            self.click.stop,
            np.array([self.offered or 0]),
            self.keys,
        )

    def next_user(self) -> tuple[int, Floats | Catalog]:
        """Start a round: who comes, and the items that may be shown."""
        self.round += 1
        user = int(kernels.visitor(self.world, self.round))
        if self.offered is None:
            return user, self.catalog
        self._rows = np.empty(self.offered, np.int64)
        kernels.offer(self.world, self.round, self._rows)
        return user, self.catalog.features[self._rows]

    def respond(self, user: int, ranking: Ints) -> Feedback:
        """Let the user of this round look at the list."""
        rows = self._table_rows(ranking)
        rewards = np.empty(len(rows))
        known = kernels.respond(self.world, self.round, user, rows, rewards)
        return Feedback(examined=known, clicks=tuple(np.flatnonzero(rewards).tolist()))

    def value(self, user: int, ranking: Ints) -> float:
        """Return the probability that the user leaves the list of this round satisfied."""
        return float(kernels.value(self.world, user, self._table_rows(ranking)))

    def regret(self, user: int, ranking: Ints) -> float:
        """Return the expected loss against the best list of this round."""
        return self.best_value(user, len(ranking)) - self.value(user, ranking)

    def best_value(self, user: int, k: int) -> float:
        """Return the value of the best list of ``k`` of this round."""
        kind = int(self.kind[user])
        if self._rows is not None:
            return float(kernels.best_value(self.world, self.attraction[kind, self._rows], k))
        if (kind, k) not in self._best:
            self._best[kind, k] = float(kernels.best_value(self.world, self.attraction[kind], k))
        return self._best[kind, k]

    def attraction_now(self, user: int) -> Floats:
        """Return the attraction of each item of this round to a user."""
        row: Floats = self.attraction[self.kind[user]]
        return row if self._rows is None else row[self._rows]

    def _table_rows(self, ranking: Ints) -> Ints:
        if self.round < 0:
            raise ClubCascadeError("call next_user before respond, value or regret")
        rows = np.asarray(ranking, dtype=np.int64)
        high = self.n_items - 1
        if rows.ndim != 1 or rows.size == 0 or rows.min() < 0 or rows.max() > high:
            raise InvalidArgument(
                f"ranking must be rows in [0, {high}], at least one, got {ranking!r}"
            )
        return rows if self._rows is None else self._rows[rows]


def _shares(arrivals: Any, n_users: int) -> Floats:
    """Return cumulative shares of the users; nothing for uniform arrivals."""
    if isinstance(arrivals, str):
        validation.choice("arrivals", arrivals, ("uniform",))
        return np.zeros(0)
    weights = np.asarray(arrivals, dtype=np.float64)
    good = weights.shape == (n_users,) and np.all(np.isfinite(weights)) and np.all(weights >= 0)
    if not good or weights.sum() <= 0:
        raise InvalidArgument(
            f'arrivals must be "uniform" or {n_users} weights >= 0 with a positive sum, '
            f"got {arrivals!r}"
        )
    shares: Floats = np.cumsum(weights / weights.sum())
    shares[np.flatnonzero(weights)[-1] :] = 1.0
    return shares
