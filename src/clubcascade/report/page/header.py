"""The head of the page: what was run, where, when and with what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clubcascade.experiment.config import Experiment
from clubcascade.report.folders import Run
from clubcascade.report.numbers import UNKNOWN
from clubcascade.report.page.html import Markup, tag
from clubcascade.report.page.tables import scrolled

SHORT = 10
"""Digits of a commit that are shown."""


def runs_table(runs: Sequence[Run]) -> Markup:
    """Return one row per result folder, with a link to its section."""
    heads = ("results", "what", "rounds", "runs", "finished (UTC)", "commit", "machine")
    rows = [
        tag(
            "tr",
            tag("th", tag("a", run.name, href=f"#{anchor(run)}"), scope="row"),
            tag("td", heading(run)),
            tag("td", _rounds(run.results.experiment), class_="n"),
            tag("td", _runs(run), class_="n"),
            tag("td", finished(run.provenance)),
            tag("td", tag("code", str(run.provenance.get("commit") or UNKNOWN)[:SHORT])),
            tag("td", machine(run.provenance)),
        )
        for run in runs
    ]
    head = tag("tr", [tag("th", text) for text in heads])
    return scrolled(tag("table", tag("thead", head), tag("tbody", rows), class_="runs"))


def anchor(run: Run) -> str:
    """Return the name of a run's section in links."""
    return f"run-{run.name}"


def heading(run: Run) -> str:
    """Return the title of a run, with the number of the paper's figure."""
    number = run.results.experiment.figure
    return f"{f'Figure {number}: ' if number else ''}{run.results.experiment.title}"


def finished(provenance: Mapping[str, Any]) -> str:
    """Return when the results were made, to the minute.

    >>> finished({"finished": "2026-11-15T11:23:29+00:00"})
    '2026-11-15 11:23'
    """
    return str(provenance.get("finished") or UNKNOWN)[:16].replace("T", " ")


def machine(provenance: Mapping[str, Any]) -> str:
    """Return the machine in a few words."""
    parts = [provenance.get("platform"), provenance.get("processor")]
    cores = provenance.get("cores")
    words = [str(part) for part in parts if part]
    return ", ".join([*words, f"{cores} cores" if cores else ""]).strip(", ") or UNKNOWN


def origin_list(provenance: Mapping[str, Any]) -> Markup:
    """Return all that is known about where results came from."""
    if not provenance:
        return tag("p", "This folder does not say where its results came from.")
    rows = [
        tag("tr", tag("th", key, scope="row"), tag("td", _text(value)))
        for key, value in _flat(provenance)
    ]
    return scrolled(tag("table", tag("tbody", rows), class_="parameters"))


def _flat(content: Mapping[str, Any], before: str = "") -> list[tuple[str, Any]]:
    pairs: list[tuple[str, Any]] = []
    for key, value in content.items():
        inner = isinstance(value, Mapping)
        pairs += _flat(value, f"{before}{key} ") if inner else [(f"{before}{key}", value)]
    return pairs


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_text(entry) for entry in value) or UNKNOWN
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {_text(entry)}" for key, entry in _flat(value))
    return UNKNOWN if value is None else str(value)


def _rounds(experiment: Experiment) -> str:
    own = {experiment.rounds_of(panel) for panel in experiment.panels}
    return " to ".join(f"{n:,}" for n in sorted({min(own), max(own)}))


def _runs(run: Run) -> str:
    seeds = len(run.results.experiment.seeds)
    done = len(run.results.curves[["panel", "policy", "seed"]].drop_duplicates())
    return f"{done:,} ({seeds} seed{'s' if seeds > 1 else ''})"
