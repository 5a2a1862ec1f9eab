"""Draw the figures of result folders, beside the runs of the next ones."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, wait
from functools import partial
from pathlib import Path
from typing import Any, Self

from clubcascade import experiment, report
from clubcascade.experiment.memory import share_of_memory
from clubcascade.experiment.workers import Worker


class Drawing:
    """Draws one folder after the other.

    ``aside``: in a process of its own, while this one goes on.
    """

    def __init__(self, *, aside: bool) -> None:
        self._worker = Worker(share_of_memory(1)) if aside else None
        self._waiting: list[Future[Any]] = []
        self._done: list[Path] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._worker is not None:
            self._worker.close()

    def start(self, folder: Path) -> None:
        """Draw the figures of a folder, or begin to."""
        if self._worker is None:
            self._done += draw(folder)
        else:
            self._waiting.append(self._worker.submit(partial(draw, folder)))

    def finished(self) -> Iterator[Path]:
        """Yield the pictures that are there by now, each once."""
        while self._waiting and self._waiting[0].done():
            self._done += self._waiting.pop(0).result()[0]
        while self._done:
            yield self._done.pop(0)

    def rest(self) -> Iterator[Path]:
        """Wait for all pictures, and yield those that were not yielded yet."""
        while self._waiting:
            wait(self._waiting[:1])
            yield from self.finished()
        yield from self.finished()


def draw(folder: Path) -> list[Path]:
    """Draw the figures of a folder; nothing where there are no results."""
    return [] if experiment.read_results(folder).curves.empty else report.save_figures(folder)
