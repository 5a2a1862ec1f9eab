"""Replay: any matrix of users x items, of probabilities or of 0/1 clicks."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from clubcascade import validation
from clubcascade.click import ClickModel
from clubcascade.core import Floats
from clubcascade.environments.arrivals import Arrivals
from clubcascade.environments.changes import Changes, read_changes
from clubcascade.environments.tabular import TabularEnvironment
from clubcascade.errors import InvalidArgument


class Matrix(TabularEnvironment):
    """Users whose attraction to each item is given.

    Parameters
    ----------
    attraction
        Users x items: probabilities in [0, 1], or 0/1 clicks as in a replay of ratings; or one
        such table for each phase of ``changes``: phases x users x items.
    items
        One row of features per item, of Euclidean norm at most 1; zero rows work.
    arrivals, click
        As for :class:`clubcascade.environments.Synthetic`.
    partition
        The true cluster of each user, where it is known.
    click_rates
        Probability of a click on an item of attraction 0 and on one of attraction 1, drawn anew
        each time; in between it is linear. ``(0.02, 0.8)``: who likes an item may pass it once.
    changes
        What changes from phase to phase.
    seed
        Seed of what ``changes`` draws.

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
        click_rates: Sequence[float] = (0.0, 1.0),
        changes: Changes | None = None,
        seed: int = 0,
    ) -> None:
        features = validation.feature_rows("items", items)
        table = np.array(attraction, dtype=np.float64)
        n = table.shape[-2] if table.ndim in (2, 3) else 0
        if n == 0 or table.shape[-1] != len(features):
            raise InvalidArgument(
                f"attraction must have shape (users, {len(features)} items), got {table.shape}"
            )
        if not np.all((table >= 0) & (table <= 1)):
            bad = table[~((table >= 0) & (table <= 1))][0]
            raise InvalidArgument(f"attraction must be probabilities in [0, 1], got {bad}")
        labels = None if partition is None else np.asarray(partition)
        if labels is not None and labels.shape != (n,):
            raise InvalidArgument(
                f"partition must hold one label for each of {n} users, got shape {labels.shape}"
            )
        if read_changes(changes).drift:
            raise InvalidArgument(
                f"drift of changes must be 0 where users have no weights, got {changes!r}; give "
                f"attraction a table for each phase"
            )
        super().__init__(
            features,
            at_rates(table, click_rates),
            np.arange(n),
            arrivals=arrivals,
            click=click,
            partition=labels,
            changes=changes,
            seed=validation.whole("seed", seed, low=0),
        )

    @property
    def ceiling(self) -> float:
        """Share of the users, weighted by how often they come, who like anything at all."""
        return self._mean_over_rounds(self.attraction.max(axis=1) > 0)


def at_rates(attraction: Floats, click_rates: Any) -> Floats:
    """Return the probabilities of clicks, from one of attraction 0 to one of attraction 1.

    >>> at_rates(np.array([0.0, 0.5, 1.0]), (0.02, 0.8))
    array([0.02, 0.41, 0.8 ])
    """
    if not isinstance(click_rates, Sequence) or len(click_rates) != 2:
        raise InvalidArgument(
            f"click_rates must be two probabilities, of the least and the most attractive items, "
            f"got {validation.brief(click_rates)}"
        )
    low = validation.number("click_rates", click_rates[0], low=0, high=1)
    high = validation.number("click_rates", click_rates[1], low=low, high=1)
    return attraction if (low, high) == (0.0, 1.0) else low + (high - low) * attraction
