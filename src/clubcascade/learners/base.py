"""The interface of every learner."""

import os
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import numpy as np

from clubcascade.core import Catalog, Floats, Ints
from clubcascade.errors import InvalidArgument
from clubcascade.kernels import entry_points

CORES = os.cpu_count() or 1
LARGE_BATCH = 100_000
"""Items times lists from which on a batch is worth a second thread."""


class Learner(ABC):
    """What is learned, and what lists are ranked from. Users are numbered as they come."""

    compiled: Any
    """The compiled state, as the kernels take it."""
    draws = False
    """Whether every list has its own random draw, so that the order of calls matters."""
    weighting: Literal["scaled", "whole", "none"] = "scaled"
    """How observations are weighted, for the memory of items: item and click ``scaled`` by the root
    of the weight (least squares), learned ``whole`` or not at all, or in no way."""
    fresh_items = True
    """Whether the kernels take items as they are, without ids and without a bias column."""

    def join(self, user: Hashable, number: int) -> None:  # noqa: B027  most need do nothing
        """Let a new user in, whose number is the next one and who may join."""

    def join_many(self, users: Sequence[Hashable], first: int) -> None:
        """Let new users in, whose numbers are ``first`` and those after it."""
        for number, user in enumerate(users, start=first):
            self.join(user, number)

    def check_newcomer(self, user: Hashable) -> None:  # noqa: B027  most take everybody
        """Raise if a user may not join."""

    def labels(self, n_users: int) -> Ints:
        """Return the cluster of each user, in the order of their numbers; here all are one."""
        return np.zeros(n_users, np.int64)

    def padded(self, items: Floats) -> Floats:
        """Return the items as the kernels know them."""
        return items

    def ranking_view(self, catalog: Catalog, k: int) -> Any:
        """Return what the kernels rank a catalogue from."""
        return catalog._rows

    def training_view(self, catalog: Catalog) -> Any:
        """Return what the kernels learn a catalogue's items from, row by row."""
        return catalog._rows

    def rank_new_user(
        self, user: Hashable, number: int, items: Floats | Catalog, rows: Ints, scores: Floats
    ) -> None:
        """Rank for a user who has not joined and would get this number; nothing is learned."""
        features = items._rows if isinstance(items, Catalog) else items
        entry_points.rank_items(self.compiled, 0, features, rows, scores)

    @property
    def next_draw(self) -> int | None:
        """Number of the draw that the next list is made with; None if it is made without one."""
        return int(self.compiled.n_drawn) if self.draws else None

    def reader(self, part: int, ahead: int, catalog: Catalog, k: int) -> tuple[Any, Any] | None:
        """Return what one of several threads ranks with: state and view, with their own scratch.

        None if threads cannot. The state's draws are those after ``ahead`` more lists.
        """
        return None

    def rank_many(self, numbers: Ints, catalog: Catalog, rows: Ints) -> bool:
        """Rank for many users at once, if that is quicker than one by one; tell whether."""
        if CORES == 1 or len(numbers) * len(catalog) < LARGE_BATCH:
            view = self.ranking_view(catalog, rows.shape[1])
            entry_points.rank_many(self.compiled, numbers, view, rows)
            return True
        starts = [part * len(numbers) // CORES for part in range(CORES + 1)]
        readers = [
            self.reader(part, start, catalog, rows.shape[1])
            for part, start in enumerate(starts[:-1])
        ]
        if None in readers:
            return False

        def rank(part: int) -> None:
            own = slice(starts[part], starts[part + 1])
            state, view = readers[part]  # type: ignore[misc]
            entry_points.rank_many(state, numbers[own], view, rows[own])

        with ThreadPoolExecutor(CORES) as pool:
            list(pool.map(rank, range(CORES)))
        self.skip_draws(len(numbers))
        return True

    def skip_draws(self, n: int) -> None:  # noqa: B027  most draw nothing
        """Go on as if ``n`` lists had been drawn."""

    @abstractmethod
    def state(self, n_users: int) -> dict[str, Any]:
        """Return copies of all that was learned."""

    @abstractmethod
    def load_state(self, state: dict[str, Any], users: Mapping[Hashable, int]) -> None:
        """Take over what :meth:`state` returned; this learner is new, and may be left half done."""


def numbered(users: Any) -> dict[Hashable, int]:
    """Return the users of a state, numbered as they come; files of format 1 may have NaN there."""
    try:
        known = list(users)
        numbers = {user: number for number, user in enumerate(known)}
    except TypeError as error:
        raise InvalidArgument(f"users must be a list of ids, got {error}") from None
    if len(numbers) != len(known):
        raise InvalidArgument(
            f"users must be distinct, got {len(known)} of whom {len(numbers)} differ"
        )
    return numbers
