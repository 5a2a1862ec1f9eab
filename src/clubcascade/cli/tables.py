"""Small tables for the terminal."""

from __future__ import annotations

import math

from rich import box
from rich.table import Table

from clubcascade import experiment


def final_regrets(results: experiment.Results) -> Table:
    """Return the regret of every policy (rows) on every panel (columns) after the last round."""
    plan = results.experiment
    runs = f"{len(plan.seeds)} run{'s' if len(plan.seeds) > 1 else ''}"
    table = Table(
        title=f"{plan.title}\nregret after {plan.rounds:,} rounds, mean of {runs} ± 95%",
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
    )
    longest = max(len(word) for c in plan.policies for word in c.label.split())
    table.add_column("", min_width=longest)
    for panel in plan.panels:
        table.add_column(panel.title, justify="right")
    summary = experiment.summarise(results.curves).set_index(["panel", "policy"])
    cells = {
        key: figure(float(row["regret_mean"]), float(row["regret_high"]))
        for key, row in summary.iterrows()
    }
    for contender in plan.policies:
        values = [cells.get((panel.title, contender.label), "failed") for panel in plan.panels]
        table.add_row(contender.label, *values)
    return table


def figure(mean: float, high: float) -> str:
    """Write a mean and half of its interval.

    >>> figure(2468.3, 2500.1), figure(12.0, float("nan")), figure(float("nan"), float("nan"))
    ('2,468±32', '12', 'unknown')
    """
    if math.isnan(mean):
        return "unknown"
    return f"{mean:,.0f}" if math.isnan(high) else f"{mean:,.0f}±{high - mean:,.0f}"
