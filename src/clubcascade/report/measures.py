"""What can be drawn and tabled: the columns of the results, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

Values = pd.Series  # of one number per row of the results


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of a run.

    Parameters
    ----------
    name
        What code calls it.
    label
        What its axis is called.
    short
        What its column in a table is called.
    better
        ``"low"`` or ``"high"``: which values are good; empty where neither is.
    values
        Its value for every row of the results.
    """

    name: str
    label: str
    short: str
    better: str
    values: Callable[[pd.DataFrame], Values]


def _column(name: str) -> Callable[[pd.DataFrame], Values]:
    def values(rows: pd.DataFrame) -> Values:
        return rows[name] if name in rows else pd.Series(np.nan, index=rows.index)

    return values


_ALL = (
    Measure("regret", "cumulative regret", "regret", "low", _column("regret")),
    Measure("reward", "cumulative clicks", "clicks", "high", _column("reward")),
    Measure(
        "ctr",
        "clicks per round so far",
        "CTR",
        "high",
        lambda rows: rows["reward"] / rows["round"],
    ),
    Measure(
        "missed",
        "clicks missed",
        "missed",
        "low",
        lambda rows: rows["round"] * _column("ceiling")(rows) - rows["reward"],
    ),
    Measure("n_clusters", "number of clusters", "clusters", "", _column("n_clusters")),
    Measure("rand_index", "adjusted Rand index", "Rand index", "high", _column("rand_index")),
)

MEASURES: Mapping[str, Measure] = {measure.name: measure for measure in _ALL}
"""The measures that have a value at every recorded round, by name."""
