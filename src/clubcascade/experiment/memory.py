"""How much memory there is, how much this process has used, and how much it may use."""

import os
import sys
from contextlib import suppress
from pathlib import Path

LEAST = 2 << 30
"""Bytes that a worker may always use: compiling alone takes a part of them."""

UNKNOWN = 8 << 30
"""Bytes of a machine that does not tell."""


def share_of_memory(parts: int) -> int:
    """Return an equal share of this machine's memory, in bytes, but never too little to work."""
    return max(LEAST, total_memory() // parts)


def total_memory() -> int:
    """Return the bytes of memory that this process can have: the machine's, or its container's."""
    amounts = []
    with suppress(AttributeError, ValueError, OSError):
        amounts.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(ValueError, OSError):
        amounts.append(int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    return min((amount for amount in amounts if amount > 0), default=UNKNOWN)


def peak_memory() -> int:
    """Return the most bytes of memory that this process has held at once; 0 where unknown.

    Linux hands the peak that ``getrusage`` tells down to the programs that a process starts; the
    one in ``/proc`` is the process's own.
    """
    with suppress(OSError, ValueError, IndexError):
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return int(status.split("VmHWM:")[1].split()[0]) * 1024
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def limit_memory(size: int) -> None:
    """Let this process fail with MemoryError beyond so many bytes, where the system can do that."""
    if not sys.platform.startswith("linux"):
        return
    import resource  # noqa: PLC0415 - not on Windows

    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        size = min(size, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (size, hard))
