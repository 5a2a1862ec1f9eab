"""A policy whose state lives in compiled kernels: the calls around them, written once."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Hashable
from typing import Any

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
    observed,
    shown_rows,
)
from clubcascade.errors import InvalidArgument, InvalidItems, ModelFileError
from clubcascade.kernels import single


class CompiledPolicy(Policy):
    """Users are numbered as they come; numbers index the arrays of the compiled state.

    A lock makes every call whole: several threads may recommend while one updates.
    """

    compiled: Any
    """The compiled state, as the kernels take it."""

    @property
    def plays_fresh(self) -> bool:
        """Tell whether a compiled run with fresh items is possible: the kernels see plain items."""
        return True

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers: dict[Hashable, int] = {}

    # -- what a policy must say ----------------------------------------------------------------

    @abstractmethod
    def _join(self, user: Hashable) -> int:
        """Let a new user in and return its number."""

    @abstractmethod
    def shelf(self, catalog: Catalog, k: int) -> Any:
        """Return what the kernels rank a catalogue from."""

    @abstractmethod
    def lessons(self, catalog: Catalog) -> Any:
        """Return what the kernels learn a catalogue's items from, row by row."""

    @abstractmethod
    def _rank_stranger(
        self, user: Hashable, items: Floats | Catalog, rows: Ints, scores: Floats
    ) -> None:
        """Rank for a user who has not joined; nothing may be learned."""

    @abstractmethod
    def _take(self, state: dict[str, Any]) -> None:
        """Fill this new policy with a state; may raise half-way."""

    def labels(self) -> Ints:
        """Return the cluster of each user, in the order of their numbers; here all are one."""
        return np.zeros(len(self._numbers), np.int64)

    def padded(self, items: Floats) -> Floats:
        """Return the items as the kernels know them."""
        return items

    # -- the calls -----------------------------------------------------------------------------

    @property
    def users(self) -> list[Hashable]:
        """Users in the order of their numbers."""
        return list(self._numbers)

    def clusters(self) -> list[set[Hashable]]:
        """Return the users that are served as one, as a list of sets, oldest user first."""
        groups: dict[int, set[Hashable]] = {}
        with self._lock:
            for user, label in zip(self._numbers, self.labels().tolist(), strict=True):
                groups.setdefault(label, set()).add(user)
        return list(groups.values())

    def number(self, user: Hashable) -> int:
        """Return the number of a user, -1 for a stranger."""
        try:
            return self._numbers.get(user, -1)
        except TypeError:
            raise InvalidArgument(
                f"user must be hashable, such as a str or an int, got {type(user).__name__}"
            ) from None

    def recommend(self, user: Hashable, items: Items, k: int) -> Ints:
        """Return the rows of the ``k`` items to show, best first; learns nothing.

        Parameters
        ----------
        user
            Any hashable id; unknown ones are welcome.
        items
            A matrix with one row of features per item, or a :class:`clubcascade.Catalog`.
        k
            Length of the list.
        """
        number = self.number(user)
        loose = self._read_items(items)
        k = validation.list_length(k, len(loose))
        rows = np.empty(k, np.int64)
        scores = np.empty(k)
        with self._lock:
            if number < 0:
                self._rank_stranger(user, loose, rows, scores)
            elif isinstance(loose, Catalog):
                single.rank_catalog(self.compiled, number, self.shelf(loose, k), rows, scores)
            else:
                single.rank_items(self.compiled, number, self.padded(loose), rows, scores)
        return rows

    def update(self, user: Hashable, shown: Shown, click: int | None | Feedback) -> None:
        """Learn from the feedback of one user on one shown list.

        Parameters
        ----------
        user
            Any hashable id; an unknown user joins now.
        shown
            The items in the order shown: ``items[ranking]`` or ``catalog[ranking]``.
        click
            First clicked position (0-based), None for no click, or a
            :class:`clubcascade.Feedback`.
        """
        number = self.number(user)
        features, rows = self._read_shown(shown)
        examined, rewards = observed(click, len(rows))
        with self._lock:
            if number < 0:
                number = self._join(user)
            single.learn(self.compiled, number, features, rows, examined, rewards)

    def load_state(self, state: dict[str, Any]) -> None:
        """Take over what :meth:`state` returned, from a policy of the same parameters."""
        other = self.fresh()
        try:
            other._take(state)
        except (KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
            raise ModelFileError(
                f"state must be one of a {type(self).__name__} with the same parameters, "
                f"got one that does not fit: {error!r}"
            ) from error
        with self._lock:
            learned = {name: value for name, value in vars(other).items() if name != "_lock"}
            vars(self).update(learned)

    def _read_items(self, items: Items) -> Floats | Catalog:
        if not isinstance(items, Catalog):
            return validation.feature_rows("items", items, self.n_features)
        if self.n_features not in (None, items.n_features):
            raise InvalidItems(
                f"items must have {self.n_features} features, got a catalogue of {items.n_features}"
            )
        return items

    def _read_shown(self, shown: Shown) -> tuple[Any, Ints]:
        if isinstance(shown, Slate) and self.n_features in (None, shown.catalog.n_features):
            if len(shown) == 0:
                raise InvalidItems("shown must hold at least one item, got none")
            return self.lessons(shown.catalog), shown.rows
        features = self.padded(shown_rows(shown, self.n_features))
        return features, np.arange(len(features))
