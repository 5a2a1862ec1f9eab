"""Lines of the truth: what a policy that knows everything would reach in a panel."""

from __future__ import annotations

from dataclasses import dataclass

from clubcascade.experiment.config import Panel
from clubcascade.experiment.results import Results


@dataclass(frozen=True, slots=True)
class TruthLine:
    """A straight line: ``start + slope * round``.

    Parameters
    ----------
    label
        What it is called in the legend.
    start
        Its value before the first round.
    slope
        What a round adds.
    """

    label: str
    start: float
    slope: float

    def at(self, round: float) -> float:
        """Return its value at a round.

        >>> TruthLine("oracle", 1.0, 0.5).at(10)
        6.0
        """
        return self.start + self.slope * round


def truth_line(results: Results, panel: Panel, measure: str) -> TruthLine | None:
    """Return the line of the truth, or None where it is not known.

    Parameters
    ----------
    results
        What a result folder holds.
    panel
        One of its panels.
    measure
        A name of :data:`~clubcascade.report.measures.MEASURES`.
    """
    if measure == "regret":
        known = results.curves.loc[results.curves["panel"] == panel.title, "regret"].notna().any()
        return TruthLine("oracle", 0.0, 0.0) if known else None
    if measure == "rand_index":
        return TruthLine("true clusters", 1.0, 0.0)
    if measure == "n_clusters":
        n = panel.parameters.get("n_clusters")
        return None if n is None else TruthLine("true clusters", float(n), 0.0)
    ceiling = ceiling_of(results, panel.title)
    if ceiling is None:
        return None
    lines = {
        "reward": TruthLine("oracle", 0.0, ceiling),
        "missed": TruthLine("oracle", 0.0, 0.0),
        "ctr": TruthLine("oracle", ceiling, 0.0),
    }
    return lines.get(measure)


def ceiling_of(results: Results, panel: str) -> float | None:
    """Return the clicks per round of an oracle, mean over seeds, or None where it is unknown."""
    rows = results.curves
    if "ceiling" not in rows:
        return None
    values = rows.loc[rows["panel"] == panel].groupby("seed")["ceiling"].first().dropna()
    return float(values.mean()) if len(values) else None
