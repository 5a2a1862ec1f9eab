"""A sweep over two parameters as a table: one colour from good to bad."""

from __future__ import annotations

import math
from collections.abc import Mapping

from clubcascade.report.finals import final_estimates
from clubcascade.report.folders import Run
from clubcascade.report.measures import MEASURES
from clubcascade.report.numbers import with_half
from clubcascade.report.page.html import Markup, tag
from clubcascade.report.page.tables import HEADS, scrolled
from clubcascade.report.paired import Estimate
from clubcascade.report.shown import shown_measure
from clubcascade.report.sweeps import Row, Sweep, sweeps


def sweep_tables(run: Run) -> Markup | None:
    """Return a table for every sweep over two parameters and every panel, or None."""
    measure = shown_measure(run.results)
    finals = final_estimates(run)
    parts = []
    for sweep in sweeps(run.results.experiment.policies):
        for panel in run.results.experiment.panels:
            values = {
                label: finals[panel.title, label][measure]
                for row in sweep.rows
                for label in row.labels.values()
                if measure in finals.get((panel.title, label), {})
            }
            if values:
                title = f"{panel.title}: {HEADS[measure]} of {sweep.policy}, greener is better"
                parts.append(_table(title, sweep, values, MEASURES[measure].better == "low"))
    return tag("div", parts, class_="sweeps") if parts else None


def _table(title: str, sweep: Sweep, values: Mapping[str, Estimate], low: bool) -> Markup:
    shares = _shares(values, low)
    corner = tag("th", " \\ ".join(sweep.names))
    head = tag("tr", corner, [tag("th", column, class_="n") for column in sweep.columns])
    lines = []
    for row in sweep.rows:
        cells = []
        for column in sweep.columns:
            label = row.labels.get(column, "")
            known = label in values
            tint = f"--share: {shares[label]:.2f}" if known else ""
            text = with_half(values[label]) if known else ""
            cells.append(tag("td", text, class_="n tint", style=tint))
        kind = "limit" if row.limit else None
        lines.append(tag("tr", tag("th", _name(row), scope="row"), cells, class_=kind))
    table = tag("table", tag("caption", title), tag("thead", head), tag("tbody", lines))
    return scrolled(table)


def _name(row: Row) -> str:
    return f"{row.name} ({row.limit})" if row.limit else row.name


def _shares(values: Mapping[str, Estimate], low: bool) -> dict[str, float]:
    """Return how good values are, from 0 to 1: by their logarithms where all are positive."""
    means = {label: found.value for label, found in values.items()}
    if min(means.values()) > 0:
        means = {label: math.log(value) for label, value in means.items()}
    least, most = min(means.values()), max(means.values())
    if least == most:
        return dict.fromkeys(means, 1.0)
    shares = {label: (value - least) / (most - least) for label, value in means.items()}
    return {label: 1 - share for label, share in shares.items()} if low else shares
