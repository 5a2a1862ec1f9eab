"""What is written down of a simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clubcascade.core import Floats, Ints
from clubcascade.errors import MissingExtra

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Trace:
    """How one policy did in one environment. Curves have one entry per recorded round.

    Attributes
    ----------
    round
        The recorded rounds, from 1.
    reward
        Rounds with a click, so far; where positions are discounted, the sum of the discounts of
        the first clicked positions.
    regret
        Expected loss against the best lists, so far; None where the truth is unknown.
    n_clusters
        Clusters of users after the round; 0 for a policy without clusters.
    rand_index
        Adjusted Rand index of the clusters against the true ones: 1 is perfect, 0 is chance. NaN
        between the rounds where it was measured; None where the truth is unknown.
    seconds
        Wall time of the run.
    visit_regret
        Regret by the number of the user's own list: a user's first list, lists 2 to 5, 6 to 20, 21
        to 100, and all later ones (columns), summed over users. One row per phase of the
        environment, see :class:`clubcascade.environments.Changes`; without changes there is one.
        None where regret is unknown.
    visit_rounds
        How many rounds each of these sums is over.
    """

    round: Ints
    reward: Floats
    regret: Floats | None
    n_clusters: Ints
    rand_index: Floats | None
    seconds: float
    visit_regret: Floats | None = None
    visit_rounds: Ints | None = None

    def to_pandas(self) -> pandas.DataFrame:
        """Return the trace as a table with one row per recorded round."""
        try:
            import pandas  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise MissingExtra(
                'to_pandas needs pandas: pip install "clubcascade[experiments]"'
            ) from error
        columns: dict[str, Any] = {
            "round": self.round,
            "reward": self.reward,
            "regret": np.nan if self.regret is None else self.regret,
            "n_clusters": self.n_clusters,
            "rand_index": np.nan if self.rand_index is None else self.rand_index,
        }
        return pandas.DataFrame(columns)
