"""What can be drawn and tabled: the columns of the results, and what follows from them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np
import pandas as pd

from clubcascade import validation
from clubcascade.core import Floats, Ints
from clubcascade.experiment import Results
from clubcascade.experiment.bounds import BOUNDS
from clubcascade.experiment.intervals import mean_interval
from clubcascade.experiment.schema import Panel

Values = pd.Series  # of one number per row of the results
Key = tuple[str, str]  # panel and policy

MICROSECONDS = "microseconds"


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of a run.

    ``label`` is the name of its axis, ``short`` the head of its column, ``better`` says which
    values are good: ``"low"``, ``"high"``, or empty where neither is. ``values`` gives its value
    for every row of the results.
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


def _missed(rows: pd.DataFrame) -> Values:
    return rows["round"] * _column("ceiling")(rows) - rows["reward"]


def _time(rows: pd.DataFrame) -> Values:
    return 1e6 * _column("seconds")(rows) / rows["round"]  # seconds are those of the whole run


_DRAWN = (
    Measure("regret", "cumulative regret", "regret", "low", _column("regret")),
    Measure("reward", "cumulative clicks", "clicks", "high", _column("reward")),
    Measure("ctr", "clicks per round so far", "CTR", "high", lambda r: r["reward"] / r["round"]),
    Measure("missed", "clicks missed", "missed", "low", _missed),
    Measure("n_clusters", "number of clusters", "clusters", "", _column("n_clusters")),
    Measure("rand_index", "adjusted Rand index", "Rand index", "high", _column("rand_index")),
)
_TIME = Measure(MICROSECONDS, "microseconds of a round", "µs a round", "", _time)

MEASURES: Mapping[str, Measure] = {measure.name: measure for measure in _DRAWN}
"""The measures that have a value at every recorded round, by name."""

EVERY: Mapping[str, Measure] = {**MEASURES, MICROSECONDS: _TIME}
"""These, and the time of a round, which is right at the last round only."""

COLUMNS = ("regret", "ctr", "missed", "n_clusters", "rand_index", MICROSECONDS)
"""The columns of a table of final values."""


@dataclass(frozen=True, slots=True)
class Curve:
    """The mean of a measure over seeds, round by round.

    ``low`` and ``high`` are the ends of the 95% t-interval of the mean, NaN where there is one seed
    only; ``seeds`` says how many runs the mean is over.
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


def curves_of(results: Results, measure: str) -> dict[Key, Curve]:
    """Return the curve of every (panel, policy) that was measured, in the order of the results."""
    return {key: curve_of(table) for key, table in by_seed(results, measure).items()}


def curve_of(table: pd.DataFrame) -> Curve:
    """Return the curve of a table of seeds x rounds."""
    values = table.to_numpy(dtype=np.float64)
    rounds = table.columns.to_numpy(dtype=np.float64)
    return Curve(rounds, *mean_interval(values), seeds=len(values))


def by_seed(results: Results, measure: str) -> dict[Key, pd.DataFrame]:
    """Return a table of seeds x rounds for every (panel, policy) that was measured.

    Only rounds at which every seed has a value are kept.
    """
    validation.choice("measure", measure, tuple(EVERY))
    rows = results.curves
    if rows.empty:
        return {}
    seed, t = rows["seed"].to_numpy(), rows["round"].to_numpy()
    value = EVERY[measure].values(rows).to_numpy(dtype=np.float64)
    tables = {}
    groups = rows.groupby(["panel", "policy"], sort=False).indices
    for (panel, policy), group in cast("dict[Key, Ints]", groups).items():
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


def shown_measure(results: Results) -> str:
    """Return what an experiment's panels show: its own choice, or clicks where that is unknown."""
    measure = results.experiment.measure
    rows = results.curves
    known = {
        "regret": rows["regret"].notna().any(),
        "missed": "ceiling" in rows and rows["ceiling"].notna().any(),
    }
    return measure if known.get(measure, True) else "reward"


def log_scale(results: Results, measure: str) -> bool:
    """Whether panels need a logarithmic scale: where bounds stand beside what was measured."""
    bounds = any(contender.policy in BOUNDS for contender in results.experiment.policies)
    return bounds and measure == "regret"


class Reference(NamedTuple):
    """What a policy that knows everything reaches: the line ``start + slope * round``."""

    label: str
    start: float
    slope: float

    def at(self, round: float) -> float:
        """Return its value at a round."""
        return self.start + self.slope * round


def reference(results: Results, panel: Panel, measure: str) -> Reference | None:
    """Return the line of the oracle or of the true clusters; None where it is not known."""
    if measure == "regret":
        known = results.curves.loc[results.curves["panel"] == panel.title, "regret"].notna().any()
        return Reference("oracle", 0.0, 0.0) if known else None
    if measure == "rand_index":
        return Reference("true clusters", 1.0, 0.0)
    if measure == "n_clusters":
        n = panel.parameters.get("n_clusters")
        return None if n is None else Reference("true clusters", float(n), 0.0)
    ceiling = ceiling_of(results, panel.title)
    if ceiling is None:
        return None
    start, slope = {"reward": (0.0, ceiling), "missed": (0.0, 0.0), "ctr": (ceiling, 0.0)}[measure]
    return Reference("oracle", start, slope)


def ceiling_of(results: Results, panel: str) -> float | None:
    """Return the clicks per round of an oracle, mean over seeds, or None where it is unknown."""
    rows = results.curves
    if "ceiling" not in rows:
        return None
    values = rows.loc[rows["panel"] == panel].groupby("seed")["ceiling"].first().dropna()
    return float(values.mean()) if len(values) else None
