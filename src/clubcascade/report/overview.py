"""The one picture for people in a hurry: a panel of every main experiment, side by side."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from clubcascade import validation
from clubcascade.experiment.cell_files import written
from clubcascade.experiment.config import Contender, Panel
from clubcascade.report.curves import Curve, curves_of
from clubcascade.report.figures import DPI
from clubcascade.report.folders import Run, find_runs
from clubcascade.report.grid import TRUTH, legend_handles
from clubcascade.report.measures import MEASURES
from clubcascade.report.panels import draw_panel
from clubcascade.report.shown import shown_measure
from clubcascade.report.style import SETTINGS, LineStyle, line_style, places
from clubcascade.report.truth import truth_line

MAIN = ("synthetic", "yelp", "movielens")
PANELS = 3
FRONT = ("club_cascade", "cohort_cascade", "c3_ucb", "multiple_lin_ucb", "known_clusters")
"""The policies that are drawn, the first of each: with the oracle, six lines."""

ENDINGS = (".png", ".svg")


def overview(runs: Sequence[Run]) -> Figure:
    """Draw up to three panels in a row: the largest one of each main experiment that was run.

    Parameters
    ----------
    runs
        Result folders. Where none of the main experiments is there, the first folder's panels
        are taken.
    """
    chosen = _chosen(runs)
    styles: dict[str, LineStyle] = {}
    with mpl.rc_context(SETTINGS):
        layout = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.06)
        figure = Figure(figsize=(4.3 * len(chosen), 4.1), layout=layout)
        grid = figure.subplots(1, len(chosen), squeeze=False)[0]
        for axes, (run, panel) in zip(grid, chosen, strict=True):
            results, measure = run.results, shown_measure(run.results)
            here = {label: line_style(n) for label, n in places(results.experiment).items()}
            curves = curves_of(results, measure)
            found = {label: curves.get((panel.title, label)) for label in here}
            known = _front(
                {label: curve for label, curve in found.items() if curve is not None},
                results.experiment.policies,
            )
            title = f"{run.figure}: {panel.title}"
            truth = truth_line(results, panel, measure) if known else None
            draw_panel(axes, title, known, here, MEASURES[measure], truth)
            styles |= {label: here[label] for label in known}
            styles |= {truth.label: TRUTH} if truth else {}
        figure.legend(
            legend_handles(styles),
            list(styles),
            loc="outside lower center",
            ncols=max(1, min(4, len(styles))),
            handlelength=3.2,
        )
    return figure


def save_overview(folder: str | os.PathLike[str], out: str | os.PathLike[str]) -> Path:
    """Draw the overview of a folder of results into a file, as PNG or SVG by its ending.

    Parameters
    ----------
    folder
        Where the results are.
    out
        The picture.
    """
    path = Path(out)
    validation.choice("ending of the picture", path.suffix.lower(), ENDINGS)
    runs, _ = find_runs(folder)
    figure = overview(runs)
    kind = path.suffix.lower()[1:]
    metadata = {"Date": None} if kind == "svg" else None  # the same picture, the same file
    with mpl.rc_context(SETTINGS), written(path) as file:
        figure.savefig(file, format=kind, dpi=DPI, metadata=metadata)
    return path


def _front(curves: dict[str, Curve], policies: Sequence[Contender]) -> dict[str, Curve]:
    """Return the curves of the policies that are drawn."""
    first: dict[str, str] = {}
    for contender in policies:
        if contender.label in curves and contender.policy in FRONT:
            first.setdefault(contender.policy, contender.label)
    kept = list(first.values()) or list(curves)[: len(FRONT)]
    return {label: curve for label, curve in curves.items() if label in kept}


def _chosen(runs: Sequence[Run]) -> list[tuple[Run, Panel]]:
    main = [next((run for run in runs if run.figure == name), None) for name in MAIN]
    found = [run for run in main if run is not None and not run.results.curves.empty]
    if len(found) > 1:
        return [(run, max(run.results.experiment.panels, key=_size)) for run in found]
    first = (found or list(runs))[0]
    return [(first, panel) for panel in first.results.experiment.panels[:PANELS]]


def _size(panel: Panel) -> tuple[bool, float]:
    """Order panels: far clusters before near ones, then by clusters, users and items."""
    numbers = (panel.parameters.get(n) for n in ("n_clusters", "n_users", "n_items"))
    size = 1.0
    for number in numbers:
        size *= number if isinstance(number, int | float) else 1
    return panel.parameters.get("gap") in (None, "orthogonal"), size
