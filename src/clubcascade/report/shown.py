"""What the panels of an experiment show, and on which scale."""

from __future__ import annotations

from clubcascade.experiment.bounds import BOUNDS
from clubcascade.experiment.results import Results


def shown_measure(results: Results) -> str:
    """Return the measure of an experiment's panels: its own choice where that is known.

    Parameters
    ----------
    results
        What a result folder holds. Clicks are shown where there is nothing to lose clicks against.
    """
    measure = results.experiment.measure
    rows = results.curves
    known = {
        "regret": rows["regret"].notna().any(),
        "missed": "ceiling" in rows and rows["ceiling"].notna().any(),
    }
    return measure if known.get(measure, True) else "reward"


def log_scale(results: Results, measure: str) -> bool:
    """Whether the panels need a logarithmic scale: where bounds stand beside what was measured."""
    bounds = any(contender.policy in BOUNDS for contender in results.experiment.policies)
    return bounds and measure == "regret"
