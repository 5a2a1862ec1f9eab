"""A progress bar with the time left, on stderr; nothing at all where stderr is not a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

if TYPE_CHECKING:
    from clubcascade.experiment import Step


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar; the callable moves it: what is being done, how much is done, of how much."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("runs,"),
        TimeElapsedColumn(),
        TextColumn("so far,"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=None, visible=False)
        reused: int | None = None

        def move(what: str, done: int, total: int) -> None:
            nonlocal reused
            if reused is None:
                reused = done
            bar.update(
                task,
                description=f"{title}: {what}",
                completed=done - reused,
                total=total - reused,
                visible=True,
            )

        yield move


@contextmanager
def experiment_bar(title: str) -> Iterator[Callable[[Step], None]]:
    """Show one bar for all runs of a call; the callable moves it.

    The bar and the time left go by the effort of the runs, the numbers beside them count the runs.
    """
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[runs]} runs,"),
        TimeElapsedColumn(),
        TextColumn("so far,"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(
        *columns,
        console=console,
        disable=not console.is_terminal,
        redirect_stdout=sys.stdout.isatty(),  # above the bar; to a file it goes as it is
        speed_estimate_period=300,
    ) as bar:
        task = bar.add_task(title, total=1.0, visible=False, runs="")

        def move(step: Step) -> None:
            bar.update(
                task,
                description=f"{title}{step.what}",
                completed=step.share,
                runs=f"{step.done:,}/{step.total:,}",
                visible=True,
            )

        yield move
