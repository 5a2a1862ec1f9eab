"""Curves of a result folder: means and 95% bands over seeds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from clubcascade import validation
from clubcascade.core import Floats
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
    curves = {}
    for key, table in by_seed(results, measure).items():
        values = table.to_numpy(dtype=np.float64)
        rounds = table.columns.to_numpy(dtype=np.float64)
        curves[key] = Curve(rounds, *mean_interval(values), seeds=len(values))
    return curves


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
    value = MEASURES[measure].values(rows)
    tables = {}
    for (panel, policy), runs in rows.groupby(["panel", "policy"], sort=False):
        long = runs[["seed", "round"]].assign(value=value[runs.index])
        table = long.pivot(index="seed", columns="round", values="value").dropna(axis="columns")
        if not table.empty:
            tables[str(panel), str(policy)] = table
    return tables
