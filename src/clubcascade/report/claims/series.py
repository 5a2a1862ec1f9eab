"""Numbers per seed that the checks compare: taken from the tables of a result folder."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from clubcascade.core import Floats
from clubcascade.experiment.config import Contender, Panel
from clubcascade.report.folders import Run
from clubcascade.report.measures import MEASURES

OBVIOUS = 0.05
"""An advantage of this share of the other's clicks or regret is an obvious one."""

Seeds = pd.Series  # one number per seed; empty where nothing was measured
NOTHING: Seeds = pd.Series(dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Waits:
    """Rounds until something is reached.

    Parameters
    ----------
    rounds
        The round per seed, infinite where it is never reached.
    end
        The last round of the runs.
    """

    rounds: Seeds
    end: int


NO_WAITS = Waits(NOTHING, 0)


def yardstick(run: Run) -> str:
    """Return what is compared: regret in synthetic worlds, clicks per round on real data."""
    real = all(panel.environment != "synthetic" for panel in run.results.experiment.panels)
    return "ctr" if real or run.results.curves["regret"].isna().all() else "regret"


def table(run: Run, panel: Panel, policy: Contender, measure: str) -> pd.DataFrame:
    """Return the seeds x rounds of a policy in a panel; empty where nothing was measured."""
    return run.by_seed(measure).get((panel.title, policy.label), pd.DataFrame())


def both(
    run: Run, panel: Panel, first: Contender, second: Contender, measure: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables of two policies: the seeds and rounds that both have."""
    a, b = (table(run, panel, policy, measure) for policy in (first, second))
    seeds, rounds = a.index.intersection(b.index), a.columns.intersection(b.columns)
    return a.loc[seeds, rounds], b.loc[seeds, rounds]


def round_at(frame: pd.DataFrame, share: float) -> int:
    """Return the first recorded round at which a share of all rounds is over."""
    rounds = frame.columns.to_numpy()
    return int(rounds[np.searchsorted(rounds, share * rounds[-1])])


def advantage(
    run: Run, panel: Panel, first: Contender, second: Contender, measure: str = ""
) -> Seeds:
    """Return, per seed, the logarithm of how many times better the first policy ends up."""
    measure = measure or yardstick(run)
    a, b = both(run, panel, first, second, measure)
    if a.empty or not ((a.iloc[:, -1] > 0) & (b.iloc[:, -1] > 0)).all():
        return NOTHING
    times = np.log(a.iloc[:, -1].to_numpy(np.float64)) - np.log(b.iloc[:, -1].to_numpy(np.float64))
    return pd.Series(-times if MEASURES[measure].better == "low" else times, index=a.index)


def rounds_until_ahead(
    run: Run, panel: Panel, first: Contender, second: Contender, margin: float = OBVIOUS
) -> Waits:
    """Return the round from which the first policy stays ahead by a margin."""
    measure = yardstick(run)
    a, b = both(run, panel, first, second, measure)
    if a.empty:
        return NO_WAITS
    low = MEASURES[measure].better == "low"
    ahead = (a < (1 - margin) * b) if low else (a > (1 + margin) * b)
    rounds = a.columns.to_numpy(np.float64)
    found = [_settled(row, rounds) for row in ahead.to_numpy(bool)]
    return Waits(pd.Series(found, index=a.index), int(rounds[-1]))


def rounds_until_as_many(run: Run, panel: Panel, policy: Contender, clusters: int) -> Waits:
    """Return the first round with as many clusters."""
    counts = table(run, panel, policy, "n_clusters")
    if counts.empty:
        return NO_WAITS
    there = counts.to_numpy() >= clusters
    rounds = counts.columns.to_numpy(np.float64)
    first = np.where(there.any(axis=1), rounds[there.argmax(axis=1)], np.inf)
    return Waits(pd.Series(first, index=counts.index), int(rounds[-1]))


def last(frame: pd.DataFrame) -> Seeds:
    """Return the values at the last round."""
    return NOTHING if frame.empty else frame.iloc[:, -1].astype(np.float64)


def shared(first: Seeds, second: Seeds) -> tuple[Floats, Floats]:
    """Return the values of the seeds that both have."""
    seeds = first.index.intersection(second.index)
    return first[seeds].to_numpy(np.float64), second[seeds].to_numpy(np.float64)


def _settled(ahead: Floats, rounds: Floats) -> float:
    behind = np.flatnonzero(~ahead.astype(bool))
    first = behind[-1] + 1 if len(behind) else 0
    return float(rounds[first]) if first < len(rounds) else np.inf
