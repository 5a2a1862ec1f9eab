"""``clubcascade bench``: how fast the package is on this machine, and how that grows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from clubcascade import bench as measurements
from clubcascade.bench import table as tables
from clubcascade.cli.outcome import told
from clubcascade.cli.progress import progress_bar

OUT = Path("clubcascade-bench")
PIPED = 240
"""Columns of a table where the output is no terminal."""


def bench(
    quick: Annotated[
        bool, typer.Option("--quick", help="Smaller sizes, fewer repetitions: a first look.")
    ] = False,
    only: Annotated[
        str | None,
        typer.Option(help=f"Parts, with commas between: {', '.join(measurements.PARTS)}."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = OUT,
) -> None:
    """Measure how fast the package is on this machine, and how that grows.

    Prints the tables and writes them as bench.json and bench.md, and draws
    growth.png and growth.svg. Keep the machine quiet meanwhile.
    """
    with told():
        names = None if only is None else [name.strip() for name in only.split(",")]
        earlier = tables.read(out)
        out.mkdir(parents=True, exist_ok=True)
        with progress_bar("bench") as progress:
            report = measurements.measure(names, quick=quick, progress=progress)
        console = Console(highlight=False)
        console = console if console.is_terminal else Console(highlight=False, width=PIPED)
        for measured in report.tables:
            console.print(shown(measured))
        paths = tables.write(report.joined(earlier), out)
        for path in [*paths, *pictures(out)]:
            typer.echo(f"wrote {path}")


def shown(measured: tables.Table) -> Table:
    """Return a table for the terminal."""
    table = Table(
        title=measured.title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD
    )
    for column in measured.columns:
        words = any(isinstance(row.get(column.key), str) for row in measured.rows)
        table.add_column(
            column.heading.replace("`", ""),
            justify="left" if words else "right",
            no_wrap=True,
        )
    for row in measured.cells():
        table.add_row(*(cell.replace("`", "") for cell in row))
    return table


def pictures(folder: Path) -> list[Path]:
    """Draw what there is to draw."""
    from clubcascade.report.growth import save_growth  # noqa: PLC0415 - Matplotlib is slow to load

    return save_growth(folder)
