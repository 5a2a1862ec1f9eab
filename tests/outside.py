"""A distribution of somebody else with a policy in it, and a Python that has it installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.docs.pages import ROOT, read, titled

GREEDY = titled(read(ROOT / "CONTRIBUTING.md"), "src/clubcascade/policies/greedy_ridge.py")


def distribution(folder: Path, points: str = "greedy_ridge = other_lab.greedy:GreedyRidge") -> Path:
    """Install the package ``other-lab`` into a folder; its policy is that of CONTRIBUTING.md."""
    package = folder / "other_lab"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from other_lab.greedy import GreedyRidge\n")
    (package / "greedy.py").write_text(GREEDY)
    info = folder / "other_lab-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other-lab\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[clubcascade.policies]\n{points}\n")
    return folder


def environment(folder: Path) -> dict[str, str]:
    """The variables of a process that finds a folder before all others."""
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    return os.environ | {"PYTHONPATH": path}


def python(folder: Path, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess:
    """Run Python with that folder among its own."""
    return subprocess.run(
        [sys.executable, *arguments],
        env=environment(folder),
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
    )


def said(folder: Path, code: str) -> str:
    """What a program prints; fails with its error if it has one."""
    done = python(folder, "-W", "error", "-c", code)
    assert done.returncode == 0, done.stderr
    return done.stdout
