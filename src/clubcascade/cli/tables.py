"""Small tables for the terminal."""

from __future__ import annotations

import math

from rich import box
from rich.table import Table

from clubcascade import experiment

COLUMNS = {
    "regret": ("regret", "regret"),
    "reward": ("reward", "clicks in 100 rounds"),
    "missed": ("reward", "clicks in 100 rounds"),
    "ctr": ("reward", "clicks in 100 rounds"),
    "rand_index": ("rand_index", "adjusted Rand index"),
    "n_clusters": ("n_clusters", "clusters"),
}
"""The column of the summary, and its name, by what the panels show."""

DIGITS = {"reward": 1, "rand_index": 2}


MANY = 8
"""More panels than these are rows, not columns."""


def final_values(results: experiment.Results) -> Table:
    """Return what every policy (rows) reached on every panel (columns) after the last round.

    Many panels are rows, and policies columns.
    """
    plan = results.experiment
    column, name = COLUMNS[plan.measure]
    runs = f"{len(plan.seeds)} run{'s' if len(plan.seeds) > 1 else ''}"
    lengths = {plan.rounds_of(panel) for panel in plan.panels}
    after = f"{lengths.pop():,} rounds" if len(lengths) == 1 else "the last round"
    table = Table(
        title=f"{plan.title}\n{name} after {after}, mean of {runs} ± 95%",
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
    )
    cells = {}
    for row in experiment.summarise(results.curves).to_dict("records"):
        scale = 100 / row["round"] if column == "reward" else 1.0
        mean, high = (scale * float(row[f"{column}_{end}"]) for end in ("mean", "high"))
        text = figure(mean, high, digits=DIGITS.get(column, 0))
        cells[row["panel"], row["policy"]] = text
    lines = [["", *(panel.title for panel in plan.panels)]]
    for contender in plan.policies:
        values = [contender.label]
        for panel in plan.panels:
            runs_here = contender in plan.policies_of(panel)
            values.append(cells.get((panel.title, contender.label), "failed" if runs_here else ""))
        lines.append(values)
    if len(plan.panels) > MANY:
        lines = [list(line) for line in zip(*lines, strict=True)]
    longest = max(len(word) for line in lines[1:] for word in line[0].split())
    table.add_column("", min_width=longest)
    for title in lines[0][1:]:
        table.add_column(title, justify="right")
    for line in lines[1:]:
        table.add_row(*line)
    return table


def figure(mean: float, high: float, digits: int = 0) -> str:
    """Write a mean and half of its interval.

    >>> figure(2468.3, 2500.1), figure(12.0, float("nan")), figure(float("nan"), float("nan"))
    ('2,468±32', '12', 'unknown')
    >>> figure(91.46, 91.84, digits=1)
    '91.5±0.4'
    """
    if math.isnan(mean):
        return "unknown"
    if math.isnan(high):
        return f"{mean:,.{digits}f}"
    return f"{mean:,.{digits}f}±{high - mean:,.{digits}f}"
