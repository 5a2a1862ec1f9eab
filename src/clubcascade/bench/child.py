"""Every measurement runs in a process of its own: one thread, and its own peak of memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from clubcascade.errors import ClubCascadeError

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

Answer = dict[str, Any]

ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
"""Settings under which NumPy and Numba use one core."""


def ask(
    function: Callable[..., Answer],
    arguments: Mapping[str, Any],
    settings: Mapping[str, str] = ONE_THREAD,
) -> Answer:
    """Call a function of this room in a new process and return its answer, with its peak memory.

    Parameters
    ----------
    function
        A function at the top of a file of ``clubcascade.bench``.
    arguments
        Its arguments, such that JSON can write them.
    settings
        Environment variables of the process, besides those of this one.
    """
    name = f"{function.__module__}:{function.__qualname__}"
    done = subprocess.run(
        [sys.executable, "-m", "clubcascade.bench", name],
        input=json.dumps(dict(arguments)),
        env={**os.environ, **settings},
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
    if not module.startswith("clubcascade.bench."):
        raise ClubCascadeError(f"measurements are functions of clubcascade.bench, got {name!r}")
    answer: Answer = getattr(import_module(module), function)(**json.loads(arguments))
    return json.dumps({**answer, "peak_mb": peak_mb()})


def peak_mb() -> float | None:
    """Return the most memory that this process has had at one time, in MiB; None if unknown.

    Linux keeps the peak of the parent in ``getrusage`` of a new process; its status file does not.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    if resource is None:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak) / (2**20 if sys.platform == "darwin" else 1024)


def now_mb() -> float | None:
    """Return the memory that this process has now, in MiB; None if unknown."""
    pages = Path("/proc/self/statm")
    if not pages.exists():
        return None
    return int(pages.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
