"""The section of one result folder: panels, tables, parameters, origin, failures."""

from __future__ import annotations

from clubcascade.experiment.config import read_experiment, shipped
from clubcascade.report.folders import Run
from clubcascade.report.page.header import anchor, heading, origin_list
from clubcascade.report.page.html import Markup, tag
from clubcascade.report.page.sweep import sweep_tables
from clubcascade.report.page.tables import final_table, parameter_tables
from clubcascade.report.sweeps import sweeps

SHOWN = 20
"""Missing runs that are named."""


def run_section(run: Run) -> Markup:
    """Return the section of a result folder; the script draws the panels into it."""
    experiment = run.results.experiment
    seeds = len(experiment.seeds)
    bands = "bands: 95% interval of the mean" if seeds > 1 else "one run only, so no intervals"
    empty = run.results.curves.empty
    paper = experiment.figure is not None
    return tag(
        "section",
        tag("h2", heading(run)),
        tag(
            "p",
            tag("code", run.name),
            f" · {seeds} seed{'s' if seeds > 1 else ''}, lists of {_lengths(run)} · {bands}",
            class_="meta",
        ),
        _left_out(run),
        _failures(run),
        tag("p", "No run has results.", class_="notice") if empty else _curves(run),
        None if empty else _folded("Values at the last round", final_table(run), open_=paper),
        _folded("Parameters of every policy and panel", parameter_tables(run)),
        _folded("Where these results came from", origin_list(run.provenance)),
        id=anchor(run),
        class_="run",
    )


def _curves(run: Run) -> list[Markup]:
    """Return the place of the panels; a map of a sweep comes first, and hides its many lines."""
    drawn = tag("div", tag("noscript", _NO_SCRIPT), class_="figure", data_run=run.name)
    tables = sweep_tables(run)
    whole = any(sweep.is_map for sweep in sweeps(run.results.experiment.policies))
    if tables is None or not whole:
        return [drawn] if tables is None else [drawn, tables]
    return [tables, _folded("The curves of all of them", drawn)]


def _folded(title: str, content: Markup, *, open_: bool = False) -> Markup:
    return tag("details", tag("summary", title), content, open=open_)


_NO_SCRIPT = "The panels are drawn by a script. Without it, see the pictures in the result folder."


def _lengths(run: Run) -> str:
    experiment = run.results.experiment
    found = {experiment.k_of(panel) for panel in experiment.panels}
    return " to ".join(str(n) for n in sorted({min(found), max(found)}))


def _left_out(run: Run) -> Markup | None:
    """Say that panels are missing, as when their data were not there."""
    whole = len(read_experiment(run.figure).panels) if run.figure in shipped() else 0
    gone = whole - len(run.results.experiment.panels)
    if gone <= 0:
        return None
    return tag(
        "p",
        f"{gone} of the {whole} panels of this figure {'is' if gone == 1 else 'are'} not here. ",
        tag("code", f"clubcascade reproduce --figure {run.figure}"),
        " runs them, or says which data they need.",
        class_="notice",
    )


def _failures(run: Run) -> list[Markup]:
    parts = []
    if run.failures:
        n = len(run.failures)
        parts.append(
            tag(
                "details",
                tag("summary", f"{n} run{'s' if n > 1 else ''} failed"),
                [[tag("p", tag("b", name)), tag("pre", details)] for name, details in run.failures],
                class_="notice failed",
            )
        )
    failed = {name for name, _ in run.failures}
    missing = [name for name in run.missing if name not in failed]
    if missing:
        n = len(missing)
        rest = f" and {n - SHOWN} more" if n > SHOWN else ""
        parts.append(
            tag(
                "p",
                f"{n} run{'s have' if n > 1 else ' has'} no results: "
                f"{'; '.join(missing[:SHOWN])}{rest}. The command that made this folder "
                "continues it.",
                class_="notice",
            )
        )
    return parts
