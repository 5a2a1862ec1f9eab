"""What ``reproduce`` and ``run`` share: run experiments, draw them, say what there is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

import typer

from clubcascade import experiment, report
from clubcascade.cli.outcome import FAILED, console_of
from clubcascade.cli.progress import experiment_bar
from clubcascade.cli.tables import final_values

SHOWN_FAILURES = 5
PIPED = 120
"""Columns of a table where the output is no terminal."""

Quick = Annotated[bool, typer.Option("--quick", help="Fewer rounds and seeds: a first look.")]
Rounds = Annotated[int | None, typer.Option(min=1, help="Rounds of every run.")]
Seeds = Annotated[int | None, typer.Option(min=1, help="Runs of every policy.")]
Data = Annotated[
    list[str] | None,
    typer.Option(
        help="Another data set, by name or path of a pools file (.npz); OLD=NEW replaces one only."
    ),
]
Jobs = Annotated[
    int | None, typer.Option(min=1, help="Runs at the same time; by default one per core.")
]
Engine = Annotated[str, typer.Option(help="Where runs take place: process (this machine) or ray.")]
RayAddress = Annotated[
    str | None, typer.Option(help="Address of the Ray cluster, for --engine ray.")
]


def data_changes(given: list[str] | None) -> dict[str, str]:
    """Read the values of ``--data``: new data sets by old ones, ``""`` for all.

    >>> data_changes(["mine"]), data_changes(["yelp=mine", "movielens=ml.npz"])
    ({'': 'mine'}, {'yelp': 'mine', 'movielens': 'ml.npz'})
    """
    pairs = (value.partition("=") for value in given or ())
    return {old: new for old, new in ((a, c) if b else ("", a) for a, b, c in pairs)}


def carry_out(
    plans: Mapping[Path, experiment.Experiment],
    *,
    beside: Iterable[Path] = (),
    jobs: int | None,
    engine: str,
    ray_address: str | None,
    page_of: Path | None = None,
) -> None:
    """Run experiments into their folders, with one bar for all; exit with 1 if runs failed.

    At the end, write the page of the folder that ``page_of`` names, if it names one.
    """
    from clubcascade.cli.drawing import Drawing  # noqa: PLC0415 - slow to load

    failed = False
    with Drawing(aside=len(plans) > 1) as drawing, experiment_bar("") as progress:
        reports = experiment.run_experiments(
            plans,
            beside=beside,
            jobs=jobs,
            engine=engine,
            ray_address=ray_address,
            progress=progress,
        )
        for folder, done in reports:
            show(folder, done)
            drawing.start(folder)
            say_written(drawing.finished())
            failed = failed or bool(done.failures)
        say_written(drawing.rest())
    if page_of is not None and plans:
        say_written([report.write_report(page_of)])
    if failed:
        raise typer.Exit(FAILED)


def show(folder: Path, done: experiment.RunReport) -> None:
    """Say what an experiment gave."""
    results = experiment.read_results(folder)
    console = console_of(PIPED)
    if not results.curves.empty:
        console.print(final_values(results))
    say_written(done.files)
    if done.failures:
        say_failures(done)


def say_written(paths: Iterable[Path]) -> None:
    """Say which files there are."""
    for path in paths:
        typer.echo(f"wrote {path}")


def say_failures(done: experiment.RunReport) -> None:
    """Say on stderr which runs failed."""
    count = len(done.failures)
    typer.echo(f"clubcascade: {count} of {done.cells} runs failed:", err=True)
    for failure in done.failures[:SHOWN_FAILURES]:
        typer.echo(f"  {failure.cell}: {failure.error}", err=True)
    if count > SHOWN_FAILURES:
        typer.echo(f"  and {count - SHOWN_FAILURES} more, see failures.txt", err=True)
