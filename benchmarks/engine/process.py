"""Every measurement runs in a process of its own: one thread, and its own peak of memory."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.engine.table import ResultTable
from clubcascade.errors import ClubCascadeError

Answer = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
"""Settings under which NumPy and Numba use one core."""
_CHILD = (
    "import sys; from benchmarks.engine.process import serve; "
    "print(serve(sys.argv[1], sys.stdin.read()))"
)


@dataclass(frozen=True)
class Job:
    """One call in a process of its own; ``label`` tells the reader what is being measured."""

    label: str
    function: Callable[..., Answer]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=lambda: ONE_THREAD)


@dataclass(frozen=True)
class Part:
    """A named part: its jobs (for a quick look, or whole), and how answers become a table."""

    name: str
    jobs: Callable[[bool], Sequence[Job]]
    table: Callable[[Sequence[Answer]], ResultTable]


def ask(job: Job) -> Answer:
    """Make a measurement in a new process and return its answer, with its peak memory."""
    name = f"{job.function.__module__}:{job.function.__qualname__}"
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, name],
        input=json.dumps(dict(job.arguments)),
        env={**os.environ, **job.settings},
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        silent = f"it ended with code {done.returncode} and without a word"
        last = (done.stderr.strip() or silent).splitlines()[-1]
        raise ClubCascadeError(f"the measurement {name} failed: {last}")
    answer: Answer = json.loads(done.stdout.splitlines()[-1])
    return answer


def serve(name: str, arguments: str) -> str:
    """Do what :func:`ask` asked for, in the new process."""
    module, _, function = name.partition(":")
    answer: Answer = getattr(import_module(module), function)(**json.loads(arguments))
    return json.dumps({**answer, "peak_mb": peak_mb()})


def peak_mb() -> float:
    """Return the most memory that this process has had at one time, in MiB.

    Linux keeps the peak of the parent in ``getrusage`` of a new process; its status file does not.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM:"))
        return int(line.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak) / (2**20 if sys.platform == "darwin" else 1024)


def now_mb() -> float | None:
    """Return the memory that this process has now, in MiB; None if unknown."""
    pages = Path("/proc/self/statm")
    if not pages.exists():
        return None
    return int(pages.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
