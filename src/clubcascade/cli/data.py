"""``clubcascade data``: fetch and prepare data sets, and show those that are there."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from clubcascade import datasets
from clubcascade.cli.columns import AtLeast, Item, Rating, User
from clubcascade.cli.outcome import console_of, exit_codes
from clubcascade.cli.progress import bytes_bar
from clubcascade.datasets.editions import EDITIONS, SERVER, terms_of

PIPED = 160
"""Columns of a table where the output is no terminal."""

data = typer.Typer(
    help="Fetch and prepare data sets; show those that are there.", no_args_is_help=True
)

Folder = Annotated[
    Path | None,
    typer.Option(
        help="Folder of prepared data; by default CLUBCASCADE_DATA, or one of your own.",
        show_default=False,
    ),
]
Name = Annotated[
    str | None, typer.Option(help="What to call the data set; by default the file's name.")
]


@data.command()
def movielens(
    edition: Annotated[
        str | None,
        typer.Argument(
            help=f"Which: {', '.join(EDITIONS)}. By default 20m, the paper's, or what the file is.",
            show_default=False,
        ),
    ] = None,
    path: Annotated[
        Path | None,
        typer.Option(
            help="A local file instead: the zip, ratings.csv, ratings.dat, or Parquet.",
            show_default=False,
        ),
    ] = None,
    accept_terms: Annotated[
        bool, typer.Option("--accept-terms", help="Accept the terms of GroupLens unasked.")
    ] = False,
    url: Annotated[str, typer.Option(help="Server and folder to fetch from.")] = SERVER,
    folder: Folder = None,
) -> None:
    """Fetch MovieLens from GroupLens, or take a local file; every rating is a click.

    A download that was cut off goes on where it stopped. It is checked against
    the checksum that GroupLens publishes.
    """
    with exit_codes(continues=True):
        accepted = accept_terms or (path is None and _accepted(edition or "20m", folder))
        options = {"path": path, "accept_terms": accepted, "url": url, "folder": folder}
        _prepare(datasets.prepare_movielens, edition, **options)


@data.command()
def yelp(
    path: Annotated[
        list[Path],
        typer.Option(help="Folder, archive (tar, tgz, zip) or files of Yelp; may be repeated."),
    ],
    name: Annotated[str, typer.Option(help="What to call the data set.")] = "yelp",
    folder: Folder = None,
) -> None:
    """Read the review and business files of the Yelp data set; every review is a click.

    Only restaurants are kept. Yelp gives the data away after a form:
    https://www.yelp.com/dataset
    """
    with exit_codes():
        _prepare(datasets.prepare_yelp, path, name=name, folder=folder)


@data.command()
def interactions(
    path: Annotated[Path, typer.Option(help="A CSV or Parquet file, one row a click.")],
    user: User = None,
    item: Item = None,
    rating: Rating = None,
    at_least: AtLeast = None,
    time: Annotated[
        str | None, typer.Option(help="Column of times; the first and last are noted.")
    ] = None,
    name: Name = None,
    folder: Folder = None,
) -> None:
    """Take anyone's table of users and items."""
    with exit_codes():
        columns = {"user": user, "item": item, "rating": rating, "at_least": at_least, "time": time}
        _prepare(datasets.prepare_interactions, path, name=name, folder=folder, **columns)


@data.command()
def pools(
    path: Annotated[Path, typer.Option(help="An .npz file with an array clicks, users x items.")],
    name: Name = None,
    at_least: Annotated[
        float | None,
        typer.Option(
            help="The file has an array ratings: those of at least this are clicks. Users who "
            "did not rate every item (NaN) are left out."
        ),
    ] = None,
    folder: Folder = None,
) -> None:
    """Keep a matrix of clicks under a name."""
    with exit_codes():
        _prepare(datasets.prepare_pools, path, name=name, at_least=at_least, folder=folder)


@data.command("list")
def list_prepared(folder: Folder = None) -> None:
    """Show the data sets that are prepared."""
    with exit_codes():
        from clubcascade.cli.data_table import shown  # noqa: PLC0415 - slow to load

        console = console_of(PIPED)
        found = datasets.prepared(folder)
        if not found:
            typer.echo(f"nothing is prepared in {datasets.data_folder(folder)}")
            typer.echo("begin with: clubcascade data movielens")
            return
        console.print(shown(found))
        typer.echo(f"in {datasets.data_folder(folder)}")


def _prepare(make: Callable[..., datasets.Prepared], *given: Any, **options: Any) -> None:
    """Prepare with a progress bar, and say what there is now."""
    from clubcascade.cli.data_table import summary  # noqa: PLC0415 - slow to load

    with bytes_bar(make.__name__.removeprefix("prepare_")) as progress:
        done = make(*given, **options, progress=progress)
    for line in summary(done):
        typer.echo(line)


def _accepted(edition: str, folder: Path | None) -> bool:
    """Show the terms of what would be fetched, and ask where someone can answer."""
    if edition not in EDITIONS or f"movielens-{edition}" in datasets.prepared(folder):
        return False
    typer.echo(terms_of(EDITIONS[edition]), err=True)
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    return typer.confirm("Do you accept these terms?", default=False, err=True)
