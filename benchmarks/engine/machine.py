"""The machine and the software that measured."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

PACKAGES = ("clubcascade", "numpy", "numba", "scipy")


def machine() -> dict[str, Any]:
    """Describe processor, memory, versions and commit."""
    return {
        "processor": processor(),
        "cores": cores(),
        "memory_gb": memory_gb(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
        "commit": commit(),
        "finished": datetime.now(UTC).strftime("%Y-%m-%d"),
    }


def processor() -> str:
    """Return the name of the processor."""
    listed = Path("/proc/cpuinfo")
    if listed.exists():
        for line in listed.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory_gb() -> int | None:
    """Return the memory of the machine in GB; None if unknown."""
    try:
        pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
    return round(pages * size / 2**30)


def commit() -> str | None:
    """Return the short Git commit of the package's source, with ``+`` if it was changed."""
    source = Path(__file__).resolve().parents[2] / "src"
    try:
        found = _git(source, "rev-parse", "--short", "HEAD")
        changed = _git(source, "status", "--porcelain", "--untracked-files=no", ".")
    except (OSError, subprocess.SubprocessError):
        return None
    return f"{found}+" if changed else found


def _git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), *words]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    return answer.stdout.strip()
