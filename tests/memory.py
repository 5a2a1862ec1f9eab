"""How much memory this process has."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def resident() -> int:
    """Return the bytes of memory that this process has now."""
    pages = Path("/proc/self/statm")
    if not pages.is_file():
        pytest.skip("the memory of a process is known on Linux only")
    return int(pages.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
