"""``clubcascade run``: an experiment of your own."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from clubcascade import experiment
from clubcascade.cli.experiments import (
    Data,
    Engine,
    Jobs,
    Quick,
    RayAddress,
    Rounds,
    Seeds,
    carry_out,
    data_changes,
)
from clubcascade.cli.outcome import exit_codes
from clubcascade.cli.reproduce import OUT
from clubcascade.errors import InvalidArgument


def run(
    file: Annotated[Path | None, typer.Argument(help="The experiment file (TOML).")] = None,
    example: Annotated[
        bool, typer.Option("--example", help="Print an experiment file to start from, and leave.")
    ] = False,
    quick: Quick = False,
    rounds: Rounds = None,
    seeds: Seeds = None,
    data: Data = None,
    jobs: Jobs = None,
    engine: Engine = "process",
    ray_address: RayAddress = None,
    out: Annotated[
        Path | None,
        typer.Option(help=f"Folder for the results; by default {OUT}/NAME_OF_THE_FILE."),
    ] = None,
) -> None:
    """Run an experiment of your own.

    The file says which policies meet which environments, how often and for
    how long; --example prints one. Results and pictures are those of reproduce.
    If a run was stopped, the same command continues it.
    """
    with exit_codes(continues=True):
        if example:
            typer.echo(example_text(), nl=False)
            return
        if file is None:
            raise InvalidArgument(
                "FILE must be the path of an experiment file, got none; to start one: "
                "clubcascade run --example > my.toml"
            )
        plan = experiment.read_experiment(
            file, quick=quick, rounds=rounds, seeds=seeds, data=data_changes(data)
        )
        folder = OUT / file.stem if out is None else out
        carry_out({folder: plan}, jobs=jobs, engine=engine, ray_address=ray_address)


def example_text() -> str:
    """Return an experiment file that runs as it is and says what could be changed."""
    place = resources.files("clubcascade.experiment") / "example.toml"
    return place.read_text(encoding="utf-8")
