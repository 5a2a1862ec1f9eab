"""Replay: any matrix of users x items, of probabilities or of 0/1 clicks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from clubcascade import validation
from clubcascade.click import ClickModel
from clubcascade.environments.arrivals import Arrivals
from clubcascade.environments.tabular import TabularEnvironment
from clubcascade.errors import InvalidArgument


class Matrix(TabularEnvironment):
    """Users whose attraction to each item is given.

    Parameters
    ----------
    attraction
        Users x items: probabilities in [0, 1], or 0/1 clicks as in a replay of ratings.
    items
        One row of features per item, of Euclidean norm at most 1; zero rows work.
    arrivals
        ``"uniform"``; ``"zipf"`` or ``{"zipf": exponent}``: user i comes in proportion to
        ``(i + 1) ** -exponent`` (1 by default); or weights, one per user.
    click
        The click model; by default the cascade.
    partition
        The true cluster of each user, where it is known.

    Examples
    --------
    >>> env = Matrix([[1, 0, 0], [0, 0, 1]], items=np.eye(3))
    >>> env.reset(seed=1)
    >>> user, catalog = env.next_user()
    >>> env.respond(user, [0, 2]).clicks == ((0,) if user == 0 else (1,))
    True
    """

    def __init__(
        self,
        attraction: npt.ArrayLike,
        items: npt.ArrayLike,
        *,
        arrivals: Arrivals = "uniform",
        click: ClickModel | None = None,
        partition: Any = None,
    ) -> None:
        features = validation.feature_rows("items", items)
        table = np.array(attraction, dtype=np.float64)
        if table.ndim != 2 or table.shape[0] == 0 or table.shape[1] != len(features):
            raise InvalidArgument(
                f"attraction must have shape (users, {len(features)} items), got {table.shape}"
            )
        if not np.all((table >= 0) & (table <= 1)):
            bad = table[~((table >= 0) & (table <= 1))][0]
            raise InvalidArgument(f"attraction must be probabilities in [0, 1], got {bad}")
        labels = None if partition is None else np.asarray(partition)
        if labels is not None and labels.shape != (len(table),):
            raise InvalidArgument(
                f"partition must hold one label for each of {len(table)} users, "
                f"got shape {labels.shape}"
            )
        kind = np.arange(len(table))
        super().__init__(features, table, kind, arrivals=arrivals, click=click, partition=labels)

    @property
    def ceiling(self) -> float:
        """Share of the users, weighted by how often they come, who like anything at all."""
        return self._mean_over_rounds(self.attraction.max(axis=1) > 0)
