"""Progress bars with the time left, on stderr; nothing at all where stderr is not a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from clubcascade.experiment import Step


@contextmanager
def experiment_bar(title: str) -> Iterator[Callable[[Step], None]]:
    """Show one bar for all runs of a call; the callable moves it.

    The bar and the time left go by the effort of the runs, the numbers beside them count the runs.
    """
    from rich import progress as bars  # noqa: PLC0415 - slow to load

    console = Console(stderr=True)
    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.TextColumn("{task.fields[runs]} runs,"),
        bars.TimeElapsedColumn(),
        bars.TextColumn("so far,"),
        bars.TimeRemainingColumn(),
        bars.TextColumn("left"),
    )
    with bars.Progress(
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


@contextmanager
def steps_bar(
    title: str, *, amounts: tuple[str, ...] = ("MofNCompleteColumn",)
) -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar for each thing done; the callable moves it: what, how much, of how much.

    ``amounts`` are the columns of Rich that tell how much.
    """
    from rich import progress as bars  # noqa: PLC0415 - slow to load

    console = Console(stderr=True)
    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        *(getattr(bars, name)() for name in amounts),
        bars.TimeRemainingColumn(),
        bars.TextColumn("left"),
    )
    with bars.Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        tasks = {}

        def move(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(f"{title}: {what}", total=total)
            bar.update(tasks[what], completed=done, total=total)

        yield move


bytes_bar = partial(steps_bar, amounts=("DownloadColumn", "TransferSpeedColumn"))
"""The same, of bytes."""
