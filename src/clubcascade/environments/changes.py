"""What changes while a world runs: who comes, whose tastes, what attracts."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from clubcascade import validation
from clubcascade.core import Floats, Ints
from clubcascade.environments.arrivals import shares
from clubcascade.errors import InvalidArgument


@dataclass(frozen=True, kw_only=True)
class Changes:
    """Change points of a piecewise stationary world: each begins a new phase.

    Parameters
    ----------
    at
        The first rounds of the phases but the first, ascending; rounds count from 0.
    users
        Who comes. Users are dealt out to the phases in turn: user i to phase i modulo their
        number. ``"all"``: everybody, always. ``"new"``: in each phase its own users alone
        (newcomers). ``"join"``: the users of a phase from then on (late joiners).
    switch
        Share of the users who at each change take over the tastes of a random user of another
        cluster; in a world without clusters, of any other user.
    drift
        Length of the random step that the weights of each cluster (or user with a personal part)
        take at each change, relative to their norm, to which they are scaled back. Only for worlds
        with weights.
    appeal
        In every phase the attraction of each item is multiplied by a number of its own, drawn
        uniformly from ``[1 - appeal, 1]``.

    Examples
    --------
    >>> from clubcascade.environments import Synthetic
    >>> sizes = dict(n_users=6, n_clusters=2, n_items=20, n_features=5)
    >>> env = Synthetic(**sizes, changes=Changes(at=[100], users="new"))
    >>> sorted({env.next_user()[0] for _ in range(100)})
    [0, 2, 4]
    >>> sorted({env.next_user()[0] for _ in range(100)})
    [1, 3, 5]
    >>> env = Synthetic(**sizes, changes=Changes(at=[100], switch=0.5))
    >>> int((env.partition_in(99) != env.partition_in(100)).sum())
    3
    """

    at: Sequence[int] = ()
    users: Literal["all", "new", "join"] = "all"
    switch: float = 0.0
    drift: float = 0.0
    appeal: float = 0.0

    def __post_init__(self) -> None:
        given = self.at if isinstance(self.at, Sequence | np.ndarray) else None
        if given is None or isinstance(given, str):
            raise InvalidArgument(f"at must be a list of rounds, got {validation.brief(self.at)}")
        rounds = tuple(validation.whole("at", each, low=1) for each in given)
        if any(a >= b for a, b in pairwise(rounds)):
            raise InvalidArgument(f"at must be ascending rounds, got {list(rounds)}")
        object.__setattr__(self, "at", rounds)
        validation.choice("users", self.users, ("all", "new", "join"))
        validation.number("switch", self.switch, low=0, high=1)
        validation.number("drift", self.drift, low=0)
        validation.number("appeal", self.appeal, low=0, high=1)

    @property
    def n_phases(self) -> int:
        """How many phases there are."""
        return len(self.at) + 1

    def arrivals(self, cumulated: Floats, n_users: int) -> Floats:
        """Return the cumulative shares of users in each phase, of those in the whole world."""
        if self.users == "all":
            return np.tile(cumulated, (self.n_phases, 1))
        if n_users < self.n_phases:
            raise InvalidArgument(
                f"n_users must be at least the {self.n_phases} phases of changes, got {n_users}"
            )
        weights = np.diff(cumulated, prepend=0.0) if cumulated.size else np.ones(n_users)
        group = np.arange(n_users) % self.n_phases
        new = self.users == "new"
        here = [group == p if new else group <= p for p in range(self.n_phases)]
        return np.array([shares(np.where(who, weights, 0.0), n_users) for who in here])

    def models(self, clusters: Ints, rng: np.random.Generator) -> Ints:
        """Return in each phase after which user of the first phase every user's tastes are."""
        n = len(clusters)
        after = [np.arange(n)]
        for _ in self.at if self.switch else ():
            now = after[-1].copy()
            for user in rng.permutation(n)[: round(self.switch * n)]:
                others = after[-1][clusters[after[-1]] != clusters[after[-1][user]]]
                if not len(others):
                    raise InvalidArgument("switch needs at least two clusters, got one")
                now[user] = rng.choice(others)
            after.append(now)
        return np.array(after if self.switch else after * self.n_phases)

    def factors(self, n_items: int, rng: np.random.Generator) -> Floats:
        """Return the number that each item's attraction is multiplied by, in each phase."""
        return 1.0 - self.appeal * rng.random((self.n_phases, n_items))


def read_changes(changes: Any) -> Changes:
    """Return what changes, nothing for None."""
    if changes is None:
        return Changes()
    if not isinstance(changes, Changes):
        raise InvalidArgument(
            f"changes must be environments.Changes(at=...), got {validation.brief(changes)}"
        )
    return changes
