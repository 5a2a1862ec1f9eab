"""Run experiments into result folders: what is there already is kept, the rest is run."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from clubcascade import validation
from clubcascade.experiment.cell_files import run_packed, written
from clubcascade.experiment.cells import Cell, plan
from clubcascade.experiment.data import data_sets
from clubcascade.experiment.engines import Engine, check_engine, open_engine
from clubcascade.experiment.library import Library
from clubcascade.experiment.results import write_results
from clubcascade.experiment.running import warm_up
from clubcascade.experiment.schema import Experiment
from clubcascade.experiment.tally import COMPILING, RUNNING, TUNING, Progress, Tally
from clubcascade.experiment.tuners import settled, tuners, write_choices

FAILURES = "failures.txt"


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
        How many cells the experiment has, those for tuning included.
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
    engine: str = "process",
    ray_address: str | None = None,
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
    engine
        ``"process"``: on this machine. ``"ray"``: on a Ray cluster.
    ray_address
        Address of the Ray cluster; by default the one that Ray finds, or one on this machine.
    progress
        Called before the first cell and after every one.
    """
    folder = Path(out)
    reports = run_experiments(
        {folder: experiment}, jobs=jobs, engine=engine, ray_address=ray_address, progress=progress
    )
    return next(report for _, report in reports)


def run_experiments(
    experiments: Mapping[Path, Experiment],
    *,
    beside: Iterable[Path] = (),
    jobs: int | None = None,
    engine: str = "process",
    ray_address: str | None = None,
    progress: Progress | None = None,
) -> Iterator[tuple[Path, RunReport]]:
    """Run several experiments, one after the other, on the same workers.

    A cell that several of them have is run once.

    Parameters
    ----------
    experiments
        By the result folder of each.
    beside
        Other result folders: cells that one of them has are copied instead of run.
    jobs, engine, ray_address, progress
        As for :func:`run_experiment`; the progress is that of all of them.

    Yields
    ------
    folder, report
        As each of them ends.
    """
    if jobs is not None:
        jobs = validation.whole("jobs", jobs, low=1)
    check_engine(engine, ray_address)
    places = list(dict.fromkeys([*experiments, *beside]))
    tasks = [_Task(folder, each, places) for folder, each in experiments.items()]
    ahead = [cell for task in tasks for cells in task.promised.values() for cell in cells]
    tally = Tally(ahead, progress)
    with ExitStack() as stack:

        @cache
        def workers() -> Engine:
            opened = open_engine(
                engine,
                run_packed,
                jobs=jobs,
                tasks=len(ahead),
                address=ray_address,
                data=[data for task in tasks for data in task.data.values()],
            )
            return stack.enter_context(opened)

        for task in tasks:
            yield task.folder, task.run(workers, tally)


class _Task:
    """One experiment of a call."""

    def __init__(self, folder: Path, experiment: Experiment, beside: Sequence[Path]) -> None:
        self.folder, self.experiment = folder, experiment
        self.library = Library(folder, beside)
        self.data = data_sets(experiment)
        self.prints = {name: data.fingerprint for name, data in self.data.items()}
        self.tuners = tuners(experiment, self.prints)
        self.failures: dict[str, Failure] = {}
        self.ran = 0
        self.warm: set[str] = set()
        for tuner in self.tuners:
            while tuner.batch and not self._missing(tuner.batch):
                tuner.feed(self.library.find)
        open_ones = [tuner for tuner in self.tuners if tuner.batch]
        tried = [cell for tuner in open_ones for cell in self._missing(tuner.batch) + tuner.later]
        cells = plan(settled(experiment, self.tuners, start=bool(tried)), self.prints)
        self.promised = {TUNING: tried, RUNNING: cells if tried else self._missing(cells)}
        """The runs that are to come, as far as that can be known before tuning."""

    def run(self, workers: Callable[[], Engine], tally: Tally) -> RunReport:
        """Run what is missing and write the result folder."""
        self._tune(workers, tally)
        experiment = settled(self.experiment, self.tuners)
        cells = plan(experiment, self.prints)
        self._run(cells, RUNNING, workers, tally)
        found = [(cell, known) for cell in cells if (known := self.library.find(cell))]
        failures = tuple(self.failures.values())
        files = write_results(experiment, found, self.folder)
        files += write_choices(self.tuners, self.folder)
        files += _write_failures(failures, self.folder)
        total = sum(len(tuner.tried) for tuner in self.tuners) + len(cells)
        return RunReport(self.folder, tuple(files), total, total - self.ran, failures)

    def _tune(self, workers: Callable[[], Engine], tally: Tally) -> None:
        """Take the steps of all searches side by side, until the last has ended."""
        while left := [tuner for tuner in self.tuners if tuner.batch]:
            cells = [cell for tuner in left for cell in tuner.batch]
            later = [cell for tuner in left for cell in tuner.later]
            self._run(cells, TUNING, workers, tally, later)
            for tuner in left:
                tuner.feed(self.library.find)
        tally.revise(self.promised[TUNING], ())

    def _missing(self, cells: Iterable[Cell]) -> list[Cell]:
        """Return the cells that have to be run, each once, those of one seed together."""
        missing = {cell.key: cell for cell in cells if self.library.find(cell) is None}
        return sorted(missing.values(), key=lambda cell: cell.seed)

    def _run(
        self,
        cells: Sequence[Cell],
        what: str,
        workers: Callable[[], Engine],
        tally: Tally,
        later: Sequence[Cell] = (),
    ) -> None:
        missing = self._missing(cells)
        tally.revise(self.promised[what], [*missing, *later])
        self.promised[what] = list(later)
        if not missing:
            return
        if what not in self.warm:
            self.warm.add(what)
            tally.say(f"{self.folder.name}: {COMPILING}")
            listed = [cell for tuner in self.tuners for cell in tuner.listed]
            workers().first(warm_up, listed if what == TUNING else missing)
        tally.say(f"{self.folder.name}: {what}")
        by_key = {cell.key: cell for cell in missing}
        tasks = [(cell, key) for key, cell in by_key.items()]
        for (cell, _), outcome in workers().outcomes(tasks):
            if isinstance(outcome, BaseException):
                self.failures[cell.name] = _failure(cell, outcome)
            else:
                self.library.add(cell, outcome)
            self.ran += 1
            tally.add(cell)


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
