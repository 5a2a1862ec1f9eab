"""The frame of the package's policies: the calls around a learner, written once."""

import time
from collections.abc import Hashable, Sequence
from itertools import repeat
from typing import Any, Self, cast

import numpy as np

from clubcascade import validation
from clubcascade.core import (
    Catalog,
    Feedback,
    Floats,
    Ints,
    Items,
    Policy,
    Shown,
    Slate,
    check_slate,
    observed,
    observed_many,
    shown_rows,
)
from clubcascade.errors import InvalidArgument, InvalidItems, UnknownUser
from clubcascade.kernels import entry_points
from clubcascade.learners.base import Learner, numbered
from clubcascade.model_file import check_id, check_ids
from clubcascade.policies._lock import FairLock
from clubcascade.policies._states import check_numbers, fitting

TURN = 0.0015
"""Seconds for which ``update_many`` takes the lock at a time, about."""
READ, MOST = 1024, 4096
"""Events that ``update_many`` reads, and learns at most, before others get a turn."""
_FLOAT, _FIRST = np.dtype(np.float64), np.arange(64)
_SHORT = (1 + validation.NORM_TOLERANCE) ** 2 - 1e-9  # nearer to the bound, it is summed as ever


def _places(n: int) -> Ints:
    return _FIRST[:n] if n <= len(_FIRST) else np.arange(n)


class CompiledPolicy(Policy):
    """Calls are checked here, and a learner does the work.

    A lock makes every call whole, except for :meth:`update_many`, whose events are: several threads
    may recommend while one updates.
    """

    _given: dict[str, Any] = {}
    """Arguments that are saved as they were given, not as they were read."""

    def __new__(cls, *args: Any, **params: Any) -> Self:
        """Refuse parameters of earlier versions, and say where they are now."""
        cls.refuse_moved(params)
        return super().__new__(cls)

    def __init__(self, learner: Learner, users: dict[Hashable, int] | None = None) -> None:
        self._lock = FairLock()
        self._learner = learner
        self._numbers: dict[Hashable, int] = {} if users is None else users

    @property
    def params(self) -> dict[str, Any]:
        """The constructor's arguments, as they were given."""
        return super().params | self._given

    @property
    def compiled(self) -> Any:
        """The compiled state, as the kernels take it."""
        return self._learner.compiled

    @property
    def is_unchanged(self) -> bool:
        """Tell whether no subclass changes what the compiled state does: kernels may do it all."""
        kind = type(self)
        return (kind.recommend, kind.update) == (CompiledPolicy.recommend, CompiledPolicy.update)

    # -- users ---------------------------------------------------------------------------------

    @property
    def users(self) -> list[Hashable]:
        """Users in the order of their numbers."""
        return list(self._numbers)

    def labels(self) -> Ints:
        """Return the cluster of each user, in the order of their numbers."""
        return self._learner.labels(len(self._numbers))

    def clusters(self) -> list[set[Hashable]]:
        """Return the users that are served as one, as a list of sets, oldest user first."""
        groups: dict[int, set[Hashable]] = {}
        with self._lock:
            for user, label in zip(self._numbers, self.labels().tolist(), strict=True):
                groups.setdefault(label, set()).add(user)
        return list(groups.values())

    def number(self, user: Hashable, name: str = "user") -> int:
        """Return the number of a user, -1 for a new one, whose id must be one that is kept."""
        try:
            found = self._numbers.get(user, -1)
        except TypeError:
            found = -1
        if found < 0:
            check_id(name, user)
        return found

    def _known(self, user: Hashable) -> int:
        number = self.number(user)
        if number < 0:
            raise UnknownUser(f"user must be one that the policy has met, got {user!r}")
        return number

    def _join(self, user: Hashable) -> int:
        number = len(self._numbers)
        self._learner.join(user, number)
        self._numbers[user] = number
        return number

    def _join_many(self, users: Sequence[Hashable]) -> None:
        first = len(self._numbers)
        self._learner.join_many(users, first)
        self._numbers.update(zip(users, range(first, first + len(users)), strict=True))

    def _numbers_joined(self, users: Sequence[Hashable]) -> Ints:
        """Return the numbers of distinct users; new ones join, in this order."""
        numbers = self._numbers_of(users)
        new = np.flatnonzero(numbers < 0)
        joining = [users[at] for at in new.tolist()]
        check_ids("users", joining)
        numbers[new] = np.arange(len(self._numbers), len(self._numbers) + len(joining))
        self._join_many(joining)
        return numbers

    # -- lists ---------------------------------------------------------------------------------

    @property
    def next_draw(self) -> int | None:
        """Number of the draw that the next list is made with; None if it is made without one.

        With this number as ``draws`` of its :meth:`state`, a policy makes that list again.
        """
        return self._learner.next_draw

    def recommend(self, user: Hashable, items: Items, k: int) -> Ints:
        """Return the rows of the ``k`` items to show, best first; learns nothing.

        Parameters
        ----------
        user
            An id that :meth:`save` can write: a str, int, float (not NaN), bytes, None, UUID, date,
            datetime, or a tuple or frozenset of these; unknown ones are welcome. Ids are equal as
            keys of a dict are: 1, 1.0 and True are one user.
        items
            A matrix with one row of features per item, or a :class:`clubcascade.Catalog`.
        k
            Length of the list.
        """
        self.number(user)
        loose = self._read_items(items)
        k = validation.list_length(k, len(loose))
        rows = np.empty(k, np.int64)
        scores = np.empty(k)
        with self._lock:
            self._rank(user, loose, rows, scores)
        return rows

    def _rank(self, user: Hashable, items: Floats | Catalog, rows: Ints, scores: Floats) -> None:
        number, learner = self._numbers.get(user, -1), self._learner
        if number < 0:
            learner.rank_new_user(user, len(self._numbers), items, rows, scores)
        elif isinstance(items, Catalog):
            view = learner.ranking_view(items, len(rows))
            entry_points.rank_catalog(learner.compiled, number, view, rows, scores)
        else:
            entry_points.rank_items(learner.compiled, number, learner.padded(items), rows, scores)

    def recommend_many(self, users: Sequence[Hashable], items: Items, k: int) -> Ints:
        """Return one list per user, as calls of :meth:`recommend` would, one after another."""
        users = validation.listed("users", users, "ids")
        for user in users:
            self.number(user, "users")
        loose = self._read_items(items)
        k = validation.list_length(k, len(loose))
        rows, scores = np.empty((len(users), k), np.int64), np.empty(k)
        with self._lock:
            if isinstance(loose, Catalog):
                numbers = self._numbers_of(users)
                if (numbers >= 0).all() and self._learner.rank_many(numbers, loose, rows):
                    return rows
            for user, row in zip(users, rows, strict=True):
                self._rank(user, loose, row, scores)
        return rows

    def _numbers_of(self, users: Sequence[Hashable]) -> Ints:
        return np.fromiter(map(self._numbers.get, users, repeat(-1)), np.int64, len(users))

    def _read_items(self, items: Items) -> Floats | Catalog:
        if not isinstance(items, Catalog):
            return validation.feature_rows("items", items, self.n_features)
        if self.n_features not in (None, items.n_features):
            raise InvalidItems(
                f"items must have {self.n_features} features, got a catalogue of {items.n_features}"
            )
        return items

    # -- feedback ------------------------------------------------------------------------------

    def update(self, user: Hashable, shown: Shown, click: int | None | Feedback) -> None:
        """Learn from the feedback of one user on one shown list.

        Parameters
        ----------
        user
            As for :meth:`recommend`; an unknown user joins now.
        shown
            The items in the order shown: ``items[ranking]`` or ``catalog[ranking]``.
        click
            First clicked position (0-based), None for no click, or a
            :class:`clubcascade.Feedback`.
        """
        self.number(user)
        self._check_shown(shown)
        loose = None if isinstance(shown, Slate) else self._read_shown(shown)
        examined, rewards = observed(click, len(shown if loose is None else loose))  # type: ignore[arg-type]
        with self._lock:
            number = self._numbers.get(user, -1)
            if number < 0:
                number = self._join(user)
            if loose is None:
                assert isinstance(shown, Slate)
                features, rows = self._learner.training_view(shown.catalog), shown.rows
            else:
                features, rows = self._learner.padded(loose), _places(len(loose))
            entry_points.learn(self._learner.compiled, number, features, rows, examined, rewards)

    def _check_shown(self, shown: Shown) -> None:
        if isinstance(shown, Slate):
            check_slate(shown, self.n_features, lists=1)

    def _read_shown(self, shown: Any) -> Floats:
        """Read a matrix of shown items: as it is, where that is seen at once."""
        plain = type(shown) is np.ndarray and shown.dtype is _FLOAT and shown.flags.carray
        fits = plain and shown.ndim == 2 and shown.shape[1] == self.n_features and len(shown) > 0
        if fits and entry_points.has_short_rows(shown, _SHORT):
            return cast(Floats, shown)
        return shown_rows(shown, self.n_features)

    def update_many(
        self,
        users: Sequence[Hashable],
        shown: Slate,
        clicks: Sequence[int | None | Feedback],
    ) -> None:
        """Learn from a log of events, in order, as single calls of :meth:`update` would.

        All of it is checked before the first event is learned. Calls of other threads get their
        turn every few milliseconds, and see a policy that has learned the events up to some one.

        Parameters
        ----------
        users
            The user of each event; unknown users join at their first event.
        shown
            ``catalog[rankings]``: one list of rows per event, all of one length.
        clicks
            The feedback of each event, as for :meth:`update`.
        """
        users = validation.listed("users", users, "ids")
        if not isinstance(shown, Slate):
            raise InvalidItems(
                f"shown must be catalog[rankings], one list per event, got {type(shown).__name__}"
            )
        check_slate(shown, self.n_features, lists=2)
        clicks = validation.listed("clicks", clicks, "feedback, one entry per event")
        if not len(users) == len(shown) == len(clicks):
            raise InvalidArgument(
                f"users, shown and clicks must have one entry per event, "
                f"got {len(users)}, {len(shown)} and {len(clicks)}"
            )
        rows = np.ascontiguousarray(shown.rows)
        examined, rewards = np.empty(len(rows), np.int64), np.empty(rows.shape)
        for first in range(0, len(rows), READ):
            part = slice(first, first + READ)
            self._check_newcomers(users[part])
            examined[part], rewards[part] = observed_many(clicks[part], rows.shape[1])
            time.sleep(0)  # others may be waiting for Python's global lock
        self._learn_in_turns(users, shown.catalog, rows, examined, rewards)

    def _check_newcomers(self, users: Sequence[Hashable]) -> None:
        for user in users:
            if self.number(user, "users") < 0:
                self._learner.check_newcomer(user)

    def _learn_in_turns(
        self,
        users: Sequence[Hashable],
        catalog: Catalog,
        rows: Ints,
        examined: Ints,
        rewards: Floats,
    ) -> None:
        """Learn events that were checked; calls of other threads get their turn in between."""
        first, size = 0, 1
        while first < len(rows):
            part = slice(first, first + size)
            with self._lock:
                started = time.perf_counter()
                features = self._learner.training_view(catalog)
                self._learn_many(users[part], features, rows[part], examined[part], rewards[part])
                took = time.perf_counter() - started
            first += size
            size = max(1, min(int(size * TURN / max(took, 1e-9)), 4 * size, MOST))

    def _learn_many(
        self, users: Sequence[Hashable], features: Any, rows: Ints, examined: Ints, rewards: Floats
    ) -> None:
        """Learn in stretches: each ends where a new user joins."""
        numbers, done = self._numbers_of(users), 0
        lists = numbers, features, rows, examined, rewards
        for event in np.flatnonzero(numbers < 0).tolist():
            number = self._numbers.get(users[event], -1)
            if number < 0:
                entry_points.learn_many(self.compiled, *lists, done, event)
                number, done = self._join(users[event]), event
            numbers[event] = number
        entry_points.learn_many(self.compiled, *lists, done, len(numbers))

    # -- the fast path of the service: arguments were checked before ----------------------------

    @property
    def has_scores(self) -> bool:
        """Tell whether :meth:`recommend_scored` can be asked."""
        return False

    def _convert_scores(
        self, user: Hashable, items: Floats | Catalog, rows: Ints, scores: Floats
    ) -> None:
        """Turn the scores that a list was ranked by into those that ``scores`` returns."""
        raise NotImplementedError

    def recommend_scored(
        self, user: Hashable, items: Floats | Catalog, k: int
    ) -> tuple[list[int], list[float]]:
        """Return what ``recommend`` returns, and the scores of these rows; nothing is checked."""
        rows, scores = np.empty(k, np.int64), np.empty(k)
        with self._lock:
            self._rank(user, items, rows, scores)
            self._convert_scores(user, items, rows, scores)
        return rows.tolist(), scores.tolist()

    def learn_many(
        self,
        users: Sequence[Hashable],
        shown: Floats,
        examined: Sequence[int],
        clicks: Sequence[Sequence[int]],
    ) -> None:
        """Do what one ``update`` after another does; nothing is checked.

        ``shown`` has the features of what was shown, all events' below each other, of one length;
        ``examined`` and ``clicks`` say for each event how many were examined, and the places of
        those that were clicked.
        """
        places = np.arange(len(shown)).reshape(len(users), -1)
        n, k = places.shape
        rewards = np.zeros(n * k)
        rewards[[k * at + click for at, clicked in enumerate(clicks) for click in clicked]] = 1.0
        feedback = np.array(examined), rewards.reshape(n, k)
        with self._lock:
            self._learn_many(users, self._learner.padded(shown), places, *feedback)

    # -- state ---------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return all that was learned: arrays (copies) and plain values."""
        with self._lock:
            return {"users": list(self._numbers), **self._learner.state(len(self._numbers))}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take over what :meth:`state` returned, from a policy of the same parameters."""
        other = self.fresh()
        with fitting(self):
            check_numbers(state, other.state())
            other._numbers = numbered(state["users"])
            other._learner.load_state(state, other._numbers)
        with self._lock:
            self._take_over(other)

    def _take_over(self, other: Self) -> None:
        """Become what another one is, under the own lock."""
        vars(self).update({name: part for name, part in vars(other).items() if name != "_lock"})
