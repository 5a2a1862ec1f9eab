"""Where results came from: versions, seeds, machine, time and commit."""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from clubcascade.experiment.cells import RESULTS_FORMAT
from clubcascade.experiment.pool import cores

PACKAGES = ("clubcascade", "numpy", "numba", "scipy", "pandas", "pyarrow")


def provenance(seeds: Sequence[int]) -> dict[str, Any]:
    """Describe the software and the machine that make results now."""
    return {
        "results_format": RESULTS_FORMAT,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "seeds": list(seeds),
        "commit": commit(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "platform": platform.platform(),
        "processor": platform.machine(),
        "cores": cores(),
    }


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
