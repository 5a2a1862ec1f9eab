"""Run an experiment into a result folder: what is there already is kept, the rest is run."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from clubcascade import validation
from clubcascade.experiment.cell_files import (
    remove_leftovers,
    run_and_store,
    stored,
    written,
)
from clubcascade.experiment.cells import Cell, plan, warm_up
from clubcascade.experiment.config import Experiment
from clubcascade.experiment.pool import Workers, cores
from clubcascade.experiment.results import gather, write_results

COMPILING = "compiling (first run only)"
RUNNING = "running"
FAILURES = "failures.txt"

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how many cells are finished, and how many there are."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A cell that ended in an error."""

    cell: str
    error: str
    details: str


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a run did.

    Parameters
    ----------
    folder
        The result folder.
    files
        What was written there, besides the cells.
    cells
        How many cells the experiment has.
    reused
        How many of them were there already.
    failures
        The cells that failed; all others are in the results.
    """

    folder: Path
    files: tuple[Path, ...]
    cells: int
    reused: int
    failures: tuple[Failure, ...]


def run_experiment(
    experiment: Experiment,
    out: str | os.PathLike[str],
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> RunReport:
    """Run the cells of an experiment side by side and gather their results.

    A run that was stopped is continued by the same call: cells that have a whole file in
    ``out/cells`` are not run again, and the results are those of an uninterrupted run. A cell
    that fails is reported and does not lose the others.

    Parameters
    ----------
    experiment
        What to run.
    out
        The result folder; it is made if it is not there.
    jobs
        How many cells run at once; by default as many as there are cores.
    progress
        Called before the first cell and after every one.
    """
    jobs = cores() if jobs is None else validation.whole("jobs", jobs, low=1)
    folder = Path(out)
    cell_folder = folder / "cells"
    cell_folder.mkdir(parents=True, exist_ok=True)
    cells = plan(experiment)
    missing = [cell for cell in cells if stored(cell, cell_folder) is None]
    failures = _run_missing(missing, cell_folder, jobs, progress, total=len(cells))
    remove_leftovers(cell_folder)
    files = write_results(experiment, gather(cells, cell_folder), folder)
    files += _write_failures(failures, folder)
    return RunReport(folder, tuple(files), len(cells), len(cells) - len(missing), tuple(failures))


def _run_missing(
    missing: Sequence[Cell], folder: Path, jobs: int, progress: Progress | None, *, total: int
) -> list[Failure]:
    if not missing:
        return []
    say = progress or _silent
    done = total - len(missing)
    errors: dict[str, Failure] = {}
    work = partial(run_and_store, folder=folder)
    with Workers(work, min(jobs, len(missing))) as workers:
        say(COMPILING, done, total)
        workers.first(warm_up, missing)
        say(RUNNING, done, total)
        for cell, outcome in workers.outcomes(missing):
            done += 1
            if isinstance(outcome, BaseException):
                errors[cell.name] = _failure(cell, outcome)
            say(RUNNING, done, total)
    return [errors[cell.name] for cell in missing if cell.name in errors]


def _failure(cell: Cell, error: BaseException) -> Failure:
    details = "".join(traceback.format_exception(error))
    return Failure(cell.name, f"{type(error).__name__}: {error}", details)


def _write_failures(failures: Sequence[Failure], folder: Path) -> list[Path]:
    path = folder / FAILURES
    if not failures:
        path.unlink(missing_ok=True)
        return []
    with written(path) as file:
        for failure in failures:
            file.write(f"{failure.cell}\n{failure.details}\n".encode())
    return [path]


def _silent(what: str, done: int, total: int) -> None:
    """Say nothing."""
