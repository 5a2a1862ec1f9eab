"""``clubcascade bench``: where the measurements are now."""

import shlex

import typer

from clubcascade.cli.outcome import WRONG_USE

REPOSITORY = "https://github.com/clubcascade/clubcascade"


def bench(context: typer.Context) -> None:
    """Say where the benchmarks are: in the repository, not in the installed package."""
    command = shlex.join(["scripts/bench", *context.args])
    typer.echo(
        f"clubcascade: the benchmarks are not part of the installed package. In a clone of "
        f"{REPOSITORY}: {command}",
        err=True,
    )
    raise typer.Exit(WRONG_USE)
