"""A sweep over two parameters as a table: one colour from good to bad."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clubcascade.experiment.config import Contender
from clubcascade.experiment.toml_text import value_text
from clubcascade.report.finals import final_estimates
from clubcascade.report.folders import Run
from clubcascade.report.measures import MEASURES
from clubcascade.report.numbers import with_half
from clubcascade.report.page.html import Markup, tag
from clubcascade.report.page.tables import HEADS, scrolled
from clubcascade.report.paired import Estimate
from clubcascade.report.shown import shown_measure

SMALLEST = 4
"""Policies of a kind that make a sweep."""


def sweep_tables(run: Run) -> Markup | None:
    """Return a table for every sweep over two parameters and every panel, or None."""
    groups = sweeps(run.results.experiment.policies)
    if not groups:
        return None
    measure = shown_measure(run.results)
    finals = final_estimates(run)
    parts = []
    for group in groups:
        names = varied(group)
        for panel in run.results.experiment.panels:
            values = {
                tuple(value_text(c.parameters[name]) for name in names): finals[key][measure]
                for c in group
                if measure in finals.get(key := (panel.title, c.label), {})
            }
            if values:
                title = f"{panel.title}: {HEADS[measure]} of {group[0].policy}"
                parts.append(_table(title, names, values, MEASURES[measure].better == "low"))
    return tag("div", parts, class_="sweeps") if parts else None


def sweeps(policies: Sequence[Contender]) -> list[list[Contender]]:
    """Return the groups of policies that differ in exactly two parameters."""
    kinds: dict[object, list[Contender]] = {}
    for contender in policies:
        kinds.setdefault((contender.policy, tuple(sorted(contender.parameters))), []).append(
            contender
        )
    groups = kinds.values()
    return [group for group in groups if len(group) >= SMALLEST and len(varied(group)) == 2]


def varied(group: Sequence[Contender]) -> list[str]:
    """Return the parameters in which policies differ."""
    first = group[0].parameters
    return [n for n in first if any(c.parameters.get(n) != first[n] for c in group)]


def _table(
    title: str, names: Sequence[str], values: Mapping[tuple[str, ...], Estimate], low: bool
) -> Markup:
    rows, columns = (list(dict.fromkeys(key[i] for key in values)) for i in (0, 1))
    order = sorted({found.value for found in values.values()}, reverse=not low)
    shares = {value: 1 - i / max(1, len(order) - 1) for i, value in enumerate(order)}
    corner = tag("th", f"{names[0]} \\ {names[1]}")
    head = tag("tr", corner, [tag("th", column, class_="n") for column in columns])
    lines = []
    for row in rows:
        cells = []
        for column in columns:
            found = values.get((row, column))
            tint = "" if found is None else f"--share: {shares[found.value]:.2f}"
            text = "" if found is None else with_half(found)
            cells.append(tag("td", text, class_="n tint", style=tint))
        lines.append(tag("tr", tag("th", row, scope="row"), cells))
    table = tag("table", tag("caption", title), tag("thead", head), tag("tbody", lines))
    return scrolled(table)
