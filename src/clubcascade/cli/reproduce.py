"""``clubcascade reproduce``: the paper's figures, from the experiment files of the package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from clubcascade import experiment, report
from clubcascade.cli.outcome import FAILED, told
from clubcascade.cli.progress import progress_bar
from clubcascade.cli.tables import final_regrets
from clubcascade.errors import unknown_name

OUT = Path("clubcascade-results")
SHOWN_FAILURES = 5
PIPED = 120
"""Columns of a table where the output is no terminal."""


def reproduce(
    figure: Annotated[
        str, typer.Option(help="Which figure: synthetic, glm, or all that need no download.")
    ] = "all",
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer rounds and seeds: a first look.")
    ] = False,
    rounds: Annotated[int | None, typer.Option(min=1, help="Rounds of every run.")] = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="Runs of every policy.")] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Runs at the same time; by default one per core.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = OUT,
) -> None:
    """Draw the figures of the paper.

    Each figure gets a folder: pictures (PNG and SVG), numbers (Parquet, CSV)
    and the configuration that made them. If a run was stopped, the same command
    continues it.
    """
    with told(continues=True):
        known = experiment.shipped()
        if figure != "all" and figure not in known:
            raise unknown_name("figure", figure, [*known, "all"])
        chosen = list(known) if figure == "all" else [figure]
        plans = {
            name: experiment.read_experiment(name, quick=quick, rounds=rounds, seeds=seeds)
            for name in chosen
        }
        whole = [draw(name, plan, out / name, jobs) for name, plan in plans.items()]
    if not all(whole):
        raise typer.Exit(FAILED)


def draw(name: str, plan: experiment.Experiment, folder: Path, jobs: int | None) -> bool:
    """Run one experiment, draw its figure, say what there is; return whether all runs worked."""
    with progress_bar(name) as progress:
        done = experiment.run_experiment(plan, folder, jobs=jobs, progress=progress)
        progress("drawing", done.cells, done.cells)
        pictures = report.save_figures(folder) if len(done.failures) < done.cells else []
        progress("done", done.cells, done.cells)
    console = Console(highlight=False)
    console = console if console.is_terminal else Console(highlight=False, width=PIPED)
    results = experiment.read_results(folder)
    if not results.curves.empty:
        console.print(final_regrets(results))
    for path in [*pictures, *done.files]:
        typer.echo(f"wrote {path}")
    if done.failures:
        say_failures(done)
    return not done.failures


def say_failures(done: experiment.RunReport) -> None:
    """Say on stderr which runs failed."""
    count = len(done.failures)
    typer.echo(f"clubcascade: {count} of {done.cells} runs failed:", err=True)
    for failure in done.failures[:SHOWN_FAILURES]:
        typer.echo(f"  {failure.cell}: {failure.error}", err=True)
    if count > SHOWN_FAILURES:
        typer.echo(f"  and {count - SHOWN_FAILURES} more, see failures.txt", err=True)
