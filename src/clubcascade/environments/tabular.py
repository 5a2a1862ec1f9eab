"""A world held in tables: items, and how attractive each is to each kind of user."""

import math
from typing import Any

import numpy as np

from clubcascade import validation
from clubcascade.click import Cascade, ClickModel
from clubcascade.core import Catalog, Feedback, Floats, Ints
from clubcascade.environments.arrivals import Arrivals, shares
from clubcascade.environments.changes import Changes, read_changes
from clubcascade.errors import ClubCascadeError, InvalidArgument
from clubcascade.kernels import world as kernels


class TabularEnvironment:
    """Users of several kinds, a table of items, and the attraction of each item to each kind.

    Parameters
    ----------
    features
        One row per item.
    attraction
        Kinds x items: probability that an item attracts a user of a kind; or phases x kinds x
        items, one table per phase of ``changes``.
    kind
        The kind of each user.
    offered
        How many items may be shown in a round; None: all of them, always.
    arrivals, click
        As for :class:`clubcascade.environments.Synthetic`.
    partition
        The true cluster of each user, where there is one.
    changes
        What changes from phase to phase.
    seed
        Seed of what ``changes`` draws.

    Attributes
    ----------
    kinds
        Phases x users: the rows of ``attraction`` that users have in each phase. ``kind`` and
        ``partition`` are those of the first.
    """

    def __init__(
        self,
        features: Floats,
        attraction: Floats,
        kind: Ints,
        *,
        offered: int | None = None,
        arrivals: Arrivals = "uniform",
        click: ClickModel | None = None,
        partition: Ints | None = None,
        changes: Changes | None = None,
        seed: int = 0,
    ) -> None:
        self.n_users = len(kind)
        self.n_items = len(features) if offered is None else offered
        self.n_features = int(features.shape[1])
        self.partition = partition
        self.click = Cascade() if click is None else click
        if isinstance(self.click, type) or not isinstance(self.click, ClickModel):
            raise InvalidArgument(
                f"click must be a click model, such as click.DCM(stop=0.5), got {click!r}"
            )
        self.offered = offered
        self.arrivals = arrivals
        self.catalog = Catalog(features)
        self.changes = read_changes(changes)
        self._set_phases(attraction, np.asarray(kind, dtype=np.int64), seed)
        self._discount = _discount(self.click)
        self._shares = shares(arrivals, self.n_users)
        self._arrival = self.changes.arrivals(self._shares, self.n_users)
        self._best: dict[tuple[int, int], float] = {}
        self.reset(0)

    def _set_phases(self, attraction: Floats, kind: Ints, seed: int) -> None:
        """Work out the table of attraction, and which of its rows users have in each phase."""
        plan, phases = self.changes, self.changes.n_phases
        tables = attraction if attraction.ndim == 3 else attraction[None]
        if len(tables) not in (1, phases):
            raise InvalidArgument(
                f"attraction must hold one table, or one for each of {phases} phases of changes, "
                f"got {len(tables)}"
            )
        rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(5)[4])
        after = plan.models(kind if self.partition is None else self.partition, rng)
        if plan.appeal:
            tables = tables * plan.factors(tables.shape[2], rng)[:, None, :]
        first = np.arange(phases) * (tables.shape[1] if len(tables) > 1 else 0)
        self.attraction: Floats = np.ascontiguousarray(tables.reshape(-1, tables.shape[2]))
        self.kind, self.kinds = kind, kind[after] + first[:, None]
        self._partitions: list[Ints] = [] if self.partition is None else list(self.partition[after])
        self._starts = np.array(plan.at, dtype=np.int64)

    @property
    def n_phases(self) -> int:
        """How many phases the world has: 1 where nothing changes."""
        return self.changes.n_phases

    @property
    def phase(self) -> int:
        """The phase of this round."""
        return int(kernels.phase_of(self.world, self.round))

    def partition_in(self, t: int) -> Ints | None:
        """Return the true cluster of each user in a round; None where it is unknown."""
        if self.partition is None or not self.changes.switch:
            return self.partition
        return self._partitions[int(kernels.phase_of(self.world, t))]

    def reset(self, seed: int) -> None:
        """Start again: the same seed gives the same arrivals and the same random numbers."""
        seed = validation.whole("seed", seed, low=0)
        self.keys = np.random.SeedSequence(seed).generate_state(4, np.uint64)
        self.round = -1
        self._rows: Ints | None = None
        arrival_key, offer_key, click_key, stop_key = self.keys
        self.world: Any = kernels.World.make(
            features=self.catalog._rows,
            attraction=self.attraction,
            starts=self._starts,
            kind=self.kinds,
            arrival=self._arrival,
            stop=self.click.stop,
            discount=self._discount,
            n_offered=self.offered or 0,
            arrival_key=arrival_key,
            offer_key=offer_key,
            click_key=click_key,
            stop_key=stop_key,
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
        """Simulate the feedback of this round's user on the list."""
        rows = self._table_rows(ranking)
        rewards = np.empty(len(rows))
        known = kernels.respond(self.world, self.round, user, rows, rewards)
        return Feedback(examined=known, clicks=tuple(np.flatnonzero(rewards).tolist()))

    def reward(self, feedback: Feedback) -> float:
        """Return the reward of the clicks: 1, or the discount of the first clicked position."""
        if not feedback.clicks:
            return 0.0
        if self._discount.size == 0:
            return 1.0
        return float(self._discount[min(feedback.clicks[0], self._discount.size - 1)])

    def value(self, user: int, ranking: Ints) -> float:
        """Return the expected reward of the list: the probability of a satisfied user."""
        return float(kernels.value(self.world, self.round, user, self._table_rows(ranking)))

    def regret(self, user: int, ranking: Ints) -> float:
        """Return the expected loss against the best list of this round."""
        return self.best_value(user, len(ranking)) - self.value(user, ranking)

    def best_value(self, user: int, k: int) -> float:
        """Return the value of the best list of ``k`` of this round."""
        if self._rows is not None:
            return float(kernels.best_value(self.world, self.attraction_now(user), k))
        return self.best_of_kind(int(self.kinds[self.phase, user]), k)

    def best_of_kind(self, kind: int, k: int) -> float:
        """Return the value of the best list of ``k`` of all items for a kind of user."""
        if (kind, k) not in self._best:
            self._best[kind, k] = float(kernels.best_value(self.world, self.attraction[kind], k))
        return self._best[kind, k]

    def attraction_now(self, user: int) -> Floats:
        """Return the attraction of each item of this round to a user."""
        row: Floats = self.attraction[self.kinds[self.phase, user]]
        return row if self._rows is None else row[self._rows]

    def best_click_rate(self, k: int) -> float:
        """Return the share of rounds with a click if every user were shown their best ``k`` items.

        NaN where that is not known: with items that change every round, or several phases.
        """
        if self.offered is not None or self.n_phases > 1:
            return math.nan
        best = np.partition(np.asarray(self.attraction), -k, axis=1)[:, -k:]
        return self._mean_over_rounds(1.0 - np.prod(1.0 - best, axis=1))

    def _mean_over_rounds(self, values: Any) -> float:
        """Return the mean of a value of each kind of user, weighted by how often users come now."""
        arrival = self._arrival[self.phase]
        weights = np.diff(arrival, prepend=0.0) if arrival.size else None
        return float(np.average(values[self.kinds[self.phase]], weights=weights))

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


def _discount(click: ClickModel) -> Floats:
    """Return the reward of a click at each position; empty where that is always 1."""
    discounts = validation.discounts("discounts of click", getattr(click, "discounts", None))
    if discounts is None:
        return np.zeros(0)
    if np.any(np.diff(click.stop) > 0):
        raise InvalidArgument(
            f"stop of click must never rise when positions are discounted, got {click.stop}: "
            f"which list is best is not known then"
        )
    return np.array(discounts)
