"""Run experiments into result folders: what is there already is kept, the rest is run."""

import os
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from clubcascade import validation
from clubcascade.errors import InvalidArgument
from clubcascade.experiment.cell_store import CellStore
from clubcascade.experiment.cells import Cell, plan
from clubcascade.experiment.data import data_sets
from clubcascade.experiment.progress import COMPILING, RUNNING, TUNING, Progress, ProgressCounter
from clubcascade.experiment.ray_workers import RayWorkers
from clubcascade.experiment.results import write_results
from clubcascade.experiment.running import run_task, warm_up
from clubcascade.experiment.schema import Experiment
from clubcascade.experiment.tuners import settled, tuners, write_choices
from clubcascade.experiment.workers import ProcessWorkers, cores
from clubcascade.model_file import atomic_write

FAILURES = "failures.txt"

_Workers = Callable[[], ProcessWorkers | RayWorkers]


@dataclass(frozen=True, slots=True)
class Failure:
    """A cell that ended in an error."""

    cell: str
    error: str
    details: str


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a run did."""

    folder: Path
    """The result folder."""
    files: tuple[Path, ...]
    """What was written there, besides the cells."""
    cells: int
    """How many cells the experiment has, those for tuning included."""
    reused: int
    """How many of them were there already."""
    failures: tuple[Failure, ...]
    """The cells that failed; all others are in the results."""


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
    validation.choice("engine", engine, ("process", "ray"))
    if ray_address is not None and engine != "ray":
        raise InvalidArgument(f'ray_address is for the engine "ray", got engine {engine!r}')
    places = list(dict.fromkeys([*experiments, *beside]))
    tasks = [_Task(folder, each, places) for folder, each in experiments.items()]
    ahead = [cell for task in tasks for cells in task.expected.values() for cell in cells]
    counter = ProgressCounter(ahead, progress)
    with ExitStack() as stack:

        @cache
        def workers() -> ProcessWorkers | RayWorkers:
            if engine == "ray":
                data = [data for task in tasks for data in task.data.values()]
                return stack.enter_context(
                    RayWorkers(run_task, jobs, address=ray_address, data=data)
                )
            at_once = cores() if jobs is None else jobs
            return stack.enter_context(ProcessWorkers(run_task, max(1, min(at_once, len(ahead)))))

        for task in tasks:
            yield task.folder, task.run(workers, counter)


class _Task:
    """One experiment of a call."""

    def __init__(self, folder: Path, experiment: Experiment, beside: Sequence[Path]) -> None:
        self.folder, self.experiment = folder, experiment
        self.store = CellStore(folder, beside)
        self.data = data_sets(experiment)
        self.prints = {name: data.fingerprint for name, data in self.data.items()}
        self.tuners = tuners(experiment, self.prints)
        self.failures: dict[str, Failure] = {}
        self.ran = 0
        self.warm: set[str] = set()
        for tuner in self.tuners:
            while tuner.batch and not self._missing(tuner.batch):
                tuner.feed(self.store.find)
        unfinished = [tuner for tuner in self.tuners if tuner.batch]
        tried = [cell for tuner in unfinished for cell in self._missing(tuner.batch) + tuner.later]
        cells = plan(settled(experiment, self.tuners, start=bool(tried)), self.prints)
        self.expected = {TUNING: tried, RUNNING: cells if tried else self._missing(cells)}
        """The runs that are to come, as far as that can be known before tuning."""

    def run(self, workers: _Workers, counter: ProgressCounter) -> RunReport:
        """Run what is missing and write the result folder."""
        while left := [tuner for tuner in self.tuners if tuner.batch]:  # one step of all searches
            cells = [cell for tuner in left for cell in tuner.batch]
            later = [cell for tuner in left for cell in tuner.later]
            self._run(cells, TUNING, workers, counter, later)
            for tuner in left:
                tuner.feed(self.store.find)
        counter.expect((), instead_of=self.expected[TUNING])
        experiment = settled(self.experiment, self.tuners)
        cells = plan(experiment, self.prints)
        self._run(cells, RUNNING, workers, counter)
        found = [(cell, known) for cell in cells if (known := self.store.find(cell))]
        failures = tuple(self.failures.values())
        files = write_results(experiment, found, self.folder)
        files += write_choices(self.tuners, self.folder)
        files += _write_failures(failures, self.folder)
        total = sum(len(tuner.tried) for tuner in self.tuners) + len(cells)
        return RunReport(self.folder, tuple(files), total, total - self.ran, failures)

    def _missing(self, cells: Iterable[Cell]) -> list[Cell]:
        """Return the cells that have to be run, each once, those of one seed together."""
        missing = {cell.key: cell for cell in cells if self.store.find(cell) is None}
        return sorted(missing.values(), key=lambda cell: cell.seed)

    def _run(
        self,
        cells: Sequence[Cell],
        what: str,
        workers: _Workers,
        counter: ProgressCounter,
        later: Sequence[Cell] = (),
    ) -> None:
        """Run those of some cells that are missing; ``later`` are runs that may follow."""
        missing = self._missing(cells)
        counter.expect([*missing, *later], instead_of=self.expected[what])
        self.expected[what] = list(later)
        if not missing:
            return
        if what not in self.warm:
            self.warm.add(what)
            counter.begin(f"{self.folder.name}: {COMPILING}")
            listed = [cell for tuner in self.tuners for cell in tuner.listed]
            workers().prepare(warm_up, listed if what == TUNING else missing)
        counter.begin(f"{self.folder.name}: {what}")
        for (cell, _), outcome in workers().outcomes([(cell, cell.key) for cell in missing]):
            if isinstance(outcome, BaseException):
                details = "".join(traceback.format_exception(outcome))
                error = f"{type(outcome).__name__}: {outcome}"
                self.failures[cell.name] = Failure(cell.name, error, details)
            else:
                self.store.add(cell, outcome)
            self.ran += 1
            counter.add(cell)


def _write_failures(failures: Sequence[Failure], folder: Path) -> list[Path]:
    path = folder / FAILURES
    if not failures:
        path.unlink(missing_ok=True)
        return []
    with atomic_write(path) as file:
        for failure in failures:
            file.write(f"{failure.cell}\n{failure.details}\n".encode())
    return [path]
