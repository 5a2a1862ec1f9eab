"""The figure of a result folder, the overview of several, and the files they are written to."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from clubcascade import validation
from clubcascade.experiment import Results, read_results
from clubcascade.experiment.schema import Panel
from clubcascade.model_file import atomic_write
from clubcascade.report.folders import PAPER, Run, find_runs
from clubcascade.report.heatmap import heat_map
from clubcascade.report.measures import MEASURES, curves_of, log_scale, reference, shown_measure
from clubcascade.report.plots import REFERENCE, curve_figure, draw_panel, legend_handles
from clubcascade.report.style import DPI, SETTINGS, LineStyle, styles
from clubcascade.report.sweeps import sweeps

EXTRAS = {"clusters": "n_clusters", "rand_index": "rand_index"}
"""What is drawn beside the figure itself where it was measured: file names and measures."""

MAIN, PANELS = ("synthetic", "yelp", "movielens"), 3
"""What the overview is of, and how many panels it has at most."""

FRONT = ("club_cascade", "cohort_cascade", "c3_ucb", "multiple_lin_ucb", "known_clusters")
"""The policies of the overview, the first of each: with the oracle, six lines."""


def figure(results: Results) -> Figure:
    """Draw what the experiment says its panels show; clicks where no regret is known.

    A sweep over two parameters is drawn as a heat map of the values at the end.
    """
    measure = shown_measure(results)
    for sweep in sweeps(results.experiment.policies):
        if sweep.is_map:
            return heat_map(results, sweep, measure)
    return curve_figure(results, measure=measure, log=log_scale(results, measure))


def save_figures(folder: str | os.PathLike[str], *, extras: bool = False) -> list[Path]:
    """Draw the figure of a result folder into it, as PNG and as SVG, and return the paths.

    ``extras``: also draw the number of clusters and the adjusted Rand index, where they were
    measured.
    """
    results = read_results(folder)
    paths = []
    for name, drawn in _drawn(results, extras=extras):
        drawn.draw_without_rendering()
        drawn.set_layout_engine("none")  # it is laid out; doing so again for every file takes long
        paths += [save(drawn, Path(folder) / f"{name}.{kind}") for kind in ("png", "svg")]
    return paths


def save_all_figures(place: str | os.PathLike[str]) -> list[Path]:
    """Draw all figures of every result folder at or right below a place; return the paths."""
    runs, _ = find_runs(place)
    there = (run for run in runs if not run.results.curves.empty)
    return [path for run in there for path in save_figures(run.path, extras=True)]


def overview(runs: Sequence[Run]) -> Figure:
    """Draw up to three panels in a row: the largest one of each main experiment that was run.

    Where none of them is there, the panels of the first folder are taken.
    """
    chosen = _chosen(runs)
    used: dict[str, LineStyle] = {}
    with mpl.rc_context(SETTINGS):
        layout = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.06)
        drawn = Figure(figsize=(4.3 * len(chosen), 4.1), layout=layout)
        grid = drawn.subplots(1, len(chosen), squeeze=False)[0]
        for axes, (run, panel) in zip(grid, chosen, strict=True):
            results, measure = run.results, shown_measure(run.results)
            line_styles, curves = styles(results.experiment), curves_of(results, measure)
            known = {label: curves[panel.title, label] for label in _front(run, panel, measure)}
            line = reference(results, panel, measure) if known else None
            title = f"{run.figure}: {panel.title}"
            draw_panel(axes, title, known, line_styles, MEASURES[measure], line)
            used |= {label: line_styles[label] for label in known}
            used |= {line.label: REFERENCE} if line else {}
        drawn.legend(
            legend_handles(used.values()),
            list(used),
            loc="outside lower center",
            ncols=max(1, min(4, len(used))),
            handlelength=3.2,
        )
    return drawn


def save_overview(folder: str | os.PathLike[str], out: str | os.PathLike[str]) -> Path:
    """Draw the overview of a folder of results into a file, as PNG or SVG by its ending."""
    path = Path(out)
    validation.choice("ending of the picture", path.suffix.lower(), (".png", ".svg"))
    runs, _ = find_runs(folder)
    return save(overview(runs), path)


def save(drawn: Figure, path: Path) -> Path:
    """Write a figure, whole or not at all: the same picture is the same file."""
    kind = path.suffix.lower()[1:]
    metadata = {"Date": None} if kind == "svg" else None
    with mpl.rc_context(SETTINGS), atomic_write(path) as file:
        drawn.savefig(file, format=kind, dpi=DPI, metadata=metadata)
    return path


def _drawn(results: Results, *, extras: bool) -> Iterator[tuple[str, Figure]]:
    n = results.experiment.figure
    known = n is not None and n <= len(PAPER)
    yield f"figure{n}_{PAPER[n - 1]}" if n and known else "figure", figure(results)
    for name, measure in EXTRAS.items() if extras else ():
        if measure != shown_measure(results) and results.curves[measure].nunique() > 1:
            yield name, curve_figure(results, measure=measure)


def _front(run: Run, panel: Panel, measure: str) -> list[str]:
    """Return the labels that the overview draws, in the order of the experiment."""
    there = run.by_seed(measure)
    found = [c for c in run.results.experiment.policies if (panel.title, c.label) in there]
    first = {c.policy: c.label for c in reversed(found) if c.policy in FRONT}
    kept = list(first.values()) or [c.label for c in found[: len(FRONT)]]
    return [c.label for c in found if c.label in kept]


def _chosen(runs: Sequence[Run]) -> list[tuple[Run, Panel]]:
    main = [next((run for run in runs if run.figure == name), None) for name in MAIN]
    found = [run for run in main if run is not None and not run.results.curves.empty]
    if len(found) > 1:
        return [(run, max(run.results.experiment.panels, key=_size)) for run in found]
    first = (found or list(runs))[0]
    return [(first, panel) for panel in first.results.experiment.panels[:PANELS]]


def _size(panel: Panel) -> tuple[bool, float]:
    """Order panels: far clusters before near ones, then by clusters, users and items."""
    sizes = (panel.parameters.get(n) for n in ("n_clusters", "n_users", "n_items"))
    size = 1.0
    for n in sizes:
        size *= n if isinstance(n, int | float) else 1
    return panel.parameters.get("gap") in (None, "orthogonal"), size
