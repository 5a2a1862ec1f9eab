"""Where results came from: versions, seeds, machine, time and commit."""

import platform
import shutil
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from clubcascade.experiment.cells import RESULTS_FORMAT
from clubcascade.experiment.data import data_sets
from clubcascade.experiment.schema import Experiment
from clubcascade.experiment.sources import sources
from clubcascade.experiment.workers import cores

PACKAGES = ("clubcascade", "numpy", "numba", "scipy", "pandas", "pyarrow")


def origin() -> dict[str, Any]:
    """Describe the software and the machine that make a result now."""
    return {**_here(), "finished": datetime.now(UTC).isoformat(timespec="seconds")}


@cache
def _here() -> dict[str, Any]:
    return {
        "commit": commit(),
        "sources": sources(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "platform": platform.platform(),
        "processor": processor(),
        "cores": cores(),
    }


def provenance(experiment: Experiment, cells: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Describe where results come from, by the :func:`origin` of every run.

    A run may have been continued later, or elsewhere.
    """
    runs = list(cells)
    times = sorted(run["finished"] for run in runs)
    made: list[dict[str, Any]] = []
    for run in runs:
        where = {key: value for key, value in run.items() if key != "finished"}
        if where not in made:
            made.append(where)
    return {
        "results_format": RESULTS_FORMAT,
        **origin(),
        "first_look": experiment.first_look,
        "rounds": experiment.longest,
        "full_rounds": experiment.full and experiment.full.rounds,
        "seeds": list(experiment.seeds),
        "full_seeds": experiment.full and experiment.full.seeds,
        "tuning_seeds": list(experiment.tune.seeds) if experiment.tune else [],
        "data": {
            name: {"name": data.name, "fingerprint": data.fingerprint, **data.source}
            for name, data in data_sets(experiment).items()
        },
        "runs": {
            "count": len(runs),
            "first": times[0] if times else None,
            "last": times[-1] if times else None,
            "made_by": made,
        },
    }


def processor() -> str:
    """Return the name of the processor where the system tells it, else its kind."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def commit() -> str | None:
    """Return the Git commit of this package's source tree, or None if it is not in one."""
    here = Path(__file__).resolve()
    git = shutil.which("git")
    if git is None or "site-packages" in here.parts:
        return None
    try:
        answer = subprocess.run(
            [git, "-C", str(here.parent), "rev-parse", "HEAD"],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() or None if answer.returncode == 0 else None


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
