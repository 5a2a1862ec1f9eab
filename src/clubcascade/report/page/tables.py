"""Tables of a result folder: final values, and the parameters that gave them."""

from __future__ import annotations

from collections.abc import Mapping

from clubcascade.experiment.config import Panel, value_text
from clubcascade.report.finals import COLUMNS, MICROSECONDS, final_estimates
from clubcascade.report.folders import EDGE, Run, edge_words
from clubcascade.report.measures import MEASURES
from clubcascade.report.numbers import UNKNOWN, with_half
from clubcascade.report.page.html import Markup, tag
from clubcascade.report.paired import Estimate
from clubcascade.report.style import places

HEADS = {name: measure.short for name, measure in MEASURES.items()} | {MICROSECONDS: "µs a round"}

Finals = Mapping[tuple[str, str], Mapping[str, Estimate]]


def final_table(run: Run) -> Markup:
    """Return mean and interval of every measure at the last round, the best ones marked."""
    finals = final_estimates(run)
    known = [name for name in COLUMNS if any(name in values for values in finals.values())]
    head = tag("tr", tag("th", "policy"), [tag("th", HEADS[name], class_="n") for name in known])
    place = places(run.results.experiment)
    bodies = []
    for panel in run.results.experiment.panels:
        labels = [label for label in place if (panel.title, label) in finals]
        best = {name: _best(finals, panel, labels, name) for name in known}
        title = tag("th", panel.title, colspan=len(known) + 1, scope="rowgroup")
        rows = [tag("tr", title, class_="group")]
        for label in labels:
            values = finals[panel.title, label]
            cells = [
                tag(
                    "td",
                    with_half(values[name], name) if name in values else UNKNOWN,
                    class_="n best" if label in best[name] else "n",
                )
                for name in known
            ]
            name = f"{label}{EDGE if (panel.title, label) in run.edges else ''}"
            rows.append(tag("tr", tag("th", _swatch(place[label]), name, scope="row"), cells))
        if not labels:
            rows.append(tag("tr", tag("td", "no results", colspan=len(known) + 1)))
        bodies.append(tag("tbody", rows))
    table = scrolled(tag("table", tag("thead", head), bodies, class_="finals"))
    edges = edge_words(run)
    return tag("div", table, tag("p", edges, class_="meta") if edges else None)


def parameter_tables(run: Run) -> Markup:
    """Return the parameters of every policy and every panel."""
    experiment = run.results.experiment
    policies = [
        _row(c.label, tag("code", c.policy), c.parameters, tried=c.tune)
        for c in experiment.policies
    ]
    panels = [_row(p.title, tag("code", p.environment), p.parameters) for p in experiment.panels]
    tuned = [
        _row(panel.title, label, values, edge=run.edges.get((panel.title, label), ""))
        for panel in experiment.panels
        for label, values in panel.tuned.items()
    ]
    parts = [_listed(("policy", "kind", "parameters"), policies)]
    parts.append(_listed(("panel", "environment", "parameters"), panels))
    if tuned:
        parts.append(_listed(("panel", "tuned policy", "chosen on seeds of their own"), tuned))
    return tag("div", parts)


def scrolled(table: Markup) -> Markup:
    """Let a table scroll sideways where the page is narrow."""
    return tag("div", table, class_="scroll", tabindex="0")


def _listed(heads: tuple[str, ...], rows: list[Markup]) -> Markup:
    head = tag("tr", [tag("th", text) for text in heads])
    return scrolled(tag("table", tag("thead", head), tag("tbody", rows), class_="parameters"))


def _row(
    name: str,
    kind: str,
    parameters: Mapping[str, object],
    tried: Mapping[str, object] | None = None,
    edge: str = "",
) -> Markup:
    pairs = [tag("code", f"{key} = {value_text(value)}") for key, value in parameters.items()]
    for key, values in (tried or {}).items():
        pairs.append(tag("code", f"{key} tuned among {value_text(values)}"))
    if edge:
        pairs.append(tag("b", f"at the edge: {edge}"))
    cells = tag("td", kind), tag("td", [[pair, " "] for pair in pairs])
    return tag("tr", tag("th", name, scope="row"), cells)


def _swatch(place: int) -> Markup:
    return tag("span", class_="swatch", style=f"background: var(--line{place % 7})")


def _best(finals: Finals, panel: Panel, labels: list[str], name: str) -> set[str]:
    """Return the policies with the best mean; none where a measure has no good side."""
    better = MEASURES[name].better if name in MEASURES else ""
    values = {
        label: finals[panel.title, label][name].value
        for label in labels
        if name in finals[panel.title, label]
    }
    if not better or len(values) < 2 or len(set(values.values())) == 1:
        return set()
    top = min(values.values()) if better == "low" else max(values.values())
    return {label for label, value in values.items() if value == top}
