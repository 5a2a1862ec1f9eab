"""Curves of a result folder: means and 95% bands over seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import pandas as pd

from clubcascade import validation
from clubcascade.core import Floats, Ints
from clubcascade.experiment.intervals import mean_interval
from clubcascade.experiment.results import Results
from clubcascade.report.measures import MEASURES


@dataclass(frozen=True, slots=True)
class Curve:
    """The mean of a measure over seeds, round by round.

    Parameters
    ----------
    round
        The recorded rounds.
    mean
        Mean over seeds.
    low, high
        Ends of the 95% t-interval of the mean; NaN where there is one seed only.
    seeds
        How many runs the mean is over.
    """

    round: Floats
    mean: Floats
    low: Floats
    high: Floats
    seeds: int

    @property
    def final(self) -> float:
        """The mean at the last round."""
        return float(self.mean[-1])


def curves_of(results: Results, measure: str) -> dict[tuple[str, str], Curve]:
    """Return the curve of every (panel, policy) that was measured, in the order of the results.

    Parameters
    ----------
    results
        What a result folder holds.
    measure
        A name of :data:`~clubcascade.report.measures.MEASURES`.
    """
    return {key: curve_of(table) for key, table in by_seed(results, measure).items()}


def curve_of(table: pd.DataFrame) -> Curve:
    """Return the curve of a table of seeds x rounds."""
    values = table.to_numpy(dtype=np.float64)
    rounds = table.columns.to_numpy(dtype=np.float64)
    return Curve(rounds, *mean_interval(values), seeds=len(values))


def by_seed(results: Results, measure: str) -> dict[tuple[str, str], pd.DataFrame]:
    """Return a table of seeds x rounds for every (panel, policy) that was measured.

    Only rounds at which every seed has a value are kept.

    Parameters
    ----------
    results
        What a result folder holds.
    measure
        A name of :data:`~clubcascade.report.measures.MEASURES`.
    """
    validation.choice("measure", measure, tuple(MEASURES))
    rows = results.curves
    if rows.empty:
        return {}
    seed, t = rows["seed"].to_numpy(), rows["round"].to_numpy()
    value = MEASURES[measure].values(rows).to_numpy(dtype=np.float64)
    tables = {}
    groups = rows.groupby(["panel", "policy"], sort=False).indices
    for (panel, policy), group in cast("dict[tuple[str, str], Ints]", groups).items():
        seeds, row = np.unique(seed[group], return_inverse=True)
        rounds, column = np.unique(t[group], return_inverse=True)
        table = np.full((len(seeds), len(rounds)), np.nan)
        table[row, column] = value[group]
        known = ~np.isnan(table).any(axis=0)
        if known.any():
            tables[str(panel), str(policy)] = pd.DataFrame(
                table[:, known], index=pd.Index(seeds), columns=pd.Index(rounds[known])
            )
    return tables
