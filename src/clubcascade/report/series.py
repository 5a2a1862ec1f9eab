"""Numbers per seed that comparisons are made of, taken from the tables of a result folder."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from clubcascade.core import Floats
from clubcascade.experiment.schema import Contender, Panel
from clubcascade.report.folders import Run
from clubcascade.report.measures import MEASURES

Seeds = pd.Series  # one number per seed; empty where nothing was measured
NOTHING: Seeds = pd.Series(dtype=np.float64)


def default_measure(run: Run) -> str:
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


def last(frame: pd.DataFrame) -> Seeds:
    """Return the values at the last round."""
    return NOTHING if frame.empty else frame.iloc[:, -1].astype(np.float64)


def shared(first: Seeds, second: Seeds) -> tuple[Floats, Floats]:
    """Return the values of the seeds that both have."""
    seeds = first.index.intersection(second.index)
    return first[seeds].to_numpy(np.float64), second[seeds].to_numpy(np.float64)


def advantage(
    run: Run, panel: Panel, first: Contender, second: Contender, measure: str = ""
) -> Seeds:
    """Return, per seed, the logarithm of how many times better the first policy ends up."""
    measure = measure or default_measure(run)
    a, b = (last(each) for each in both(run, panel, first, second, measure))
    if a.empty or not ((a > 0) & (b > 0)).all():
        return NOTHING
    times: Seeds = np.log(a) - np.log(b)
    return -times if MEASURES[measure].better == "low" else times


@dataclass(frozen=True, slots=True)
class Waits:
    """The round of an event per seed, infinite where it never comes, and the last round."""

    rounds: Seeds
    end: int


def ahead_since(
    run: Run, panel: Panel, first: Contender, second: Contender, margin: float
) -> Waits:
    """Return the round from which the first policy stays ahead by a margin."""
    measure = default_measure(run)
    a, b = both(run, panel, first, second, measure)
    if a.empty:
        return Waits(NOTHING, 0)
    low = MEASURES[measure].better == "low"
    ahead = (a < (1 - margin) * b) if low else (a > (1 + margin) * b)
    stays = ahead.to_numpy(bool)[:, ::-1].cumprod(axis=1)[:, ::-1] > 0
    return _first(stays, a)


def split_at(run: Run, panel: Panel, policy: Contender, clusters: int) -> Waits:
    """Return the first round with as many clusters."""
    counts = table(run, panel, policy, "n_clusters")
    return Waits(NOTHING, 0) if counts.empty else _first(counts.to_numpy() >= clusters, counts)


def _first(reached: npt.NDArray[np.bool_], frame: pd.DataFrame) -> Waits:
    rounds = frame.columns.to_numpy(np.float64)
    found = np.where(reached.any(axis=1), rounds[reached.argmax(axis=1)], np.inf)
    return Waits(pd.Series(found, index=frame.index), int(rounds[-1]))
