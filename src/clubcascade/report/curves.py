"""Curves of a result folder: means and 95% bands over seeds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clubcascade import validation
from clubcascade.core import Floats
from clubcascade.experiment.intervals import mean_interval
from clubcascade.experiment.results import MEASURES, Results


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
        ``"reward"``, ``"regret"``, ``"n_clusters"`` or ``"rand_index"``.
    """
    validation.choice("measure", measure, MEASURES)
    curves = {}
    for (panel, policy), runs in results.curves.groupby(["panel", "policy"], sort=False):
        table = runs.pivot(index="seed", columns="round", values=measure)
        table = table.dropna(axis="columns")
        if table.empty:
            continue
        values = table.to_numpy(dtype=np.float64)
        rounds = table.columns.to_numpy(dtype=np.float64)
        interval = mean_interval(values)
        curves[str(panel), str(policy)] = Curve(rounds, *interval, seeds=len(values))
    return curves
