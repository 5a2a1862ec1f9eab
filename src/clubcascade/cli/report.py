"""``clubcascade report``: a page, and the figures, from result folders."""

from pathlib import Path
from typing import Annotated

import typer

from clubcascade.cli.outcome import exit_codes


def report(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A result folder, or a folder of them.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="The page; by default report.html in the folder.")
    ] = None,
    figures: Annotated[
        bool, typer.Option(help="Also draw the figures into the result folders, PNG and SVG.")
    ] = True,
    picture: Annotated[
        Path | None, typer.Option(help="Also draw one picture of it all: a .png or .svg file.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Also write tables and claims as a Markdown file.")
    ] = None,
    contests: Annotated[
        Path | None,
        typer.Option(
            help="Also write how CohortCascade did against the best of the others, as Markdown."
        ),
    ] = None,
) -> None:
    """Write one HTML page with the figures, the tables and the paper's claims.

    The page opens from disk and needs no network. Nothing is run: it is made
    from the files that reproduce and run have written.
    """
    with exit_codes():
        from clubcascade import report as reports  # noqa: PLC0415 - Matplotlib is slow to load

        typer.echo(f"wrote {reports.write_report(folder, out)}")
        if figures:
            for path in reports.save_all_figures(folder):
                typer.echo(f"wrote {path}")
        if picture is not None:
            typer.echo(f"wrote {reports.save_overview(folder, picture)}")
        if markdown is not None:
            typer.echo(f"wrote {reports.write_markdown(folder, markdown)}")
        if contests is not None:
            typer.echo(f"wrote {reports.write_contests(folder, contests)}")
