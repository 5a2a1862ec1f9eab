"""The progress of a call: which runs are done, and how much of the effort."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from clubcascade.experiment.cells import Cell

COMPILING = "compiling (first run only)"
TUNING = "tuning"
RUNNING = "running"


@dataclass(frozen=True, slots=True)
class Step:
    """How far a call is: what is being done, and for which experiment.

    ``done`` of ``total`` runs are finished, without those that were there before. ``share`` is the
    part of the effort, 0 to 1: a long run counts for more than a short one.
    """

    what: str
    done: int
    total: int
    share: float


Progress = Callable[[Step], None]
"""Called before the first run, and after every one."""


class ProgressCounter:
    """Counts the runs of all experiments of a call, of which ``cells`` are expected."""

    def __init__(self, cells: Iterable[Cell], progress: Progress | None) -> None:
        efforts = [cell.effort for cell in cells]
        self._progress = progress
        self._total, self._effort = len(efforts), sum(efforts)
        self._done, self._spent = 0, 0.0
        self._what = ""

    def begin(self, what: str) -> None:
        """Report what is being done now."""
        self._what = what
        self._report()

    def expect(self, cells: Sequence[Cell], *, instead_of: Sequence[Cell]) -> None:
        """Replace runs that were expected by those that are expected now."""
        self._total += len(cells) - len(instead_of)
        self._effort += sum(c.effort for c in cells) - sum(c.effort for c in instead_of)

    def add(self, cell: Cell) -> None:
        """Count a run that has ended."""
        self._done += 1
        self._spent += cell.effort
        self._report()

    def _report(self) -> None:
        if self._progress is not None:
            share = self._spent / self._effort if self._total else 1.0
            self._progress(Step(self._what, self._done, self._total, min(1.0, share)))
