"""Values at the last round: one number per seed, and their mean and interval."""

from __future__ import annotations

import numpy as np
import pandas as pd

from clubcascade.experiment.results import Results
from clubcascade.report.folders import Run
from clubcascade.report.measures import MEASURES
from clubcascade.report.paired import Estimate, estimate

MICROSECONDS = "microseconds"
COLUMNS = ("regret", "ctr", "missed", "n_clusters", "rand_index", MICROSECONDS)
"""The measures of a table of final values."""


def final_estimates(run: Run) -> dict[tuple[str, str], dict[str, Estimate]]:
    """Return the final estimate of every known measure, for every (panel, policy).

    Parameters
    ----------
    run
        A result folder.
    """
    found: dict[tuple[str, str], dict[str, Estimate]] = {}
    for measure in MEASURES:
        for key, table in run.by_seed(measure).items():
            found.setdefault(key, {})[measure] = estimate(table.to_numpy(np.float64)[:, -1])
    for key, values in microseconds(run.results).items():
        found.setdefault(key, {})[MICROSECONDS] = estimate(values.to_numpy(np.float64))
    return found


def microseconds(results: Results) -> dict[tuple[str, str], pd.Series]:
    """Return the microseconds of a round, per seed, where the runs were timed."""
    rows = results.curves
    if "seconds" not in rows:
        return {}
    run = ["panel", "policy", "seed"]
    last = rows.sort_values("round", kind="stable").drop_duplicates(run, keep="last")
    timed = last.assign(time=1e6 * last["seconds"] / last["round"]).dropna(subset="time")
    return {
        (str(panel), str(policy)): runs.set_index("seed")["time"].sort_index()
        for (panel, policy), runs in timed.groupby(["panel", "policy"], sort=False)
    }
