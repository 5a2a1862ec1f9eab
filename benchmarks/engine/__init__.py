"""How fast it is, and how that grows: measurements of the package on the machine at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from benchmarks.engine import (
    baselines,
    batches,
    growth,
    long_run,
    newcomers,
    profile,
    speed,
    start,
)
from benchmarks.engine.machine import machine
from benchmarks.engine.process import ask
from benchmarks.engine.table import Report, read, write
from clubcascade.errors import unknown_name

__all__ = ["PARTS", "Report", "measure", "read", "write"]

PARTS = {
    part.name: part
    for part in (
        speed.PART,
        profile.PART,
        growth.USERS,
        growth.ITEMS,
        growth.FEATURES,
        newcomers.PART,
        long_run.PART,
        batches.PART,
        baselines.PART,
        start.PART,
    )
}
"""The parts of the benchmark, by name, in the order of the report."""


def measure(
    only: Iterable[str] | None = None,
    *,
    quick: bool = False,
    progress: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> Report:
    """Make the measurements of some parts, or of all.

    Parameters
    ----------
    only
        Names of parts; all of ``PARTS`` when left out.
    quick
        Smaller sizes and fewer repetitions: a first look within a minute.
    progress
        Called before each measurement: what it is, how many are done, of how many.
    """
    names = list(PARTS) if only is None else list(only)
    for name in names:
        if name not in PARTS:
            raise unknown_name("part", name, PARTS)
    plan = [(PARTS[name], PARTS[name].jobs(quick)) for name in PARTS if name in names]
    total = sum(len(jobs) for _, jobs in plan)
    done = 0
    tables = []
    for part, jobs in plan:
        answers = []
        for job in jobs:
            progress(job.label, done, total)
            answers.append(ask(job))
            done += 1
        tables.append(part.table(answers))
    progress("done", total, total)
    return Report(machine(), quick, tuple(tables))
