"""The commands, gathered: each is a file of this folder."""

from typing import Annotated

import typer

from clubcascade.cli.bench import bench
from clubcascade.cli.data import data
from clubcascade.cli.demo import demo
from clubcascade.cli.evaluate import evaluate
from clubcascade.cli.history import backup, export, replay, restore
from clubcascade.cli.keys import keys
from clubcascade.cli.listing import list_names
from clubcascade.cli.report import report
from clubcascade.cli.reproduce import reproduce
from clubcascade.cli.run import run
from clubcascade.cli.serve import serve
from clubcascade.cli.train import train

app = typer.Typer(
    help="Rank items for users, learn from their clicks, discover which users are alike.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (reproduce, run, report):
    app.command()(command)
app.command("list")(list_names)
app.command(
    "bench",
    hidden=True,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)(bench)
app.add_typer(data, name="data")
for other in (train, evaluate, serve, keys, demo, export, replay, backup, restore):
    app.command()(other)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415 - slow to load

        typer.echo(f"clubcascade {version('clubcascade')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and leave."
        ),
    ] = False,
) -> None:
    """Take the options that stand before a command."""
