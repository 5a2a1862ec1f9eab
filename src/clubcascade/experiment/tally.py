"""How far a call is: which runs are done, and how much of the effort."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from clubcascade.experiment.cells import Cell

COMPILING = "compiling (first run only)"
TUNING = "tuning"
RUNNING = "running"


@dataclass(frozen=True, slots=True)
class Step:
    """How far a call is.

    Parameters
    ----------
    what
        What is being done, and for which experiment.
    done, total
        Runs that are finished, and all of them; what was there before is not counted.
    share
        The part of the effort that is done, 0 to 1: a long run counts for more than a short one.
    """

    what: str
    done: int
    total: int
    share: float


Progress = Callable[[Step], None]
"""Called before the first run, and after every one."""


class Tally:
    """Counts runs over all experiments of a call, and tells.

    Parameters
    ----------
    cells
        All runs of all experiments that may have to be run.
    progress
        Who is told.
    """

    def __init__(self, cells: Iterable[Cell], progress: Progress | None) -> None:
        efforts = [cell.effort for cell in cells]
        self._progress = progress
        self._total, self._effort = len(efforts), sum(efforts)
        self._done, self._spent = 0, 0.0
        self._what = ""

    def say(self, what: str) -> None:
        """Tell what is being done now."""
        self._what = what
        self._tell()

    def revise(self, promised: Sequence[Cell], missing: Sequence[Cell]) -> None:
        """Replace what was expected to be run by what is to be run after all."""
        self._total += len(missing) - len(promised)
        self._effort += sum(c.effort for c in missing) - sum(c.effort for c in promised)

    def add(self, cell: Cell) -> None:
        """Count a run that has ended."""
        self._done += 1
        self._spent += cell.effort
        self._tell()

    def _tell(self) -> None:
        if self._progress is not None:
            share = self._spent / self._effort if self._total else 1.0
            self._progress(Step(self._what, self._done, self._total, min(1.0, share)))
