"""Arrays of users and models: they start at a cache line, and grow where they are.

A large array is a part of an anonymous memory map whose addresses reach far beyond it. Addresses
cost nothing: the machine gives a page when it is first written. So growth neither copies nor
touches what there is, and users who never come take no memory.
"""

import math
import mmap
import sys
import weakref
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from clubcascade.errors import NotEnoughMemory

MAPPED = 2**20
"""Bytes from which an array is a memory map; smaller ones are quickly copied."""
RESERVED = 2**36
"""Bytes of addresses for an array that is one, or four times its size."""
MOST_RESERVED = 2**46
"""Bytes of addresses for all of them, half of what a process has; then arrays are copied."""
DENSE = 2**26
"""Bytes up to which a map has huge pages, which are quicker: more may be for users unseen."""
_NORESERVE = 0x4000  # mmap.MAP_NORESERVE, which Python has from 3.13 on

_reserved = 0


def aligned_zeros(*shape: int, dtype: Any = np.float64) -> npt.NDArray[Any]:
    """Return zeros that start at a cache line: vectors across two lines take twice the time.

    Large zeros are pages that the machine gives only when they are first written.
    """
    return _zeros(shape, dtype, grows=False)


def _zeros(shape: tuple[int, ...], dtype: Any, *, grows: bool) -> npt.NDArray[Any]:
    kind = np.dtype(dtype)
    size = math.prod(shape) * kind.itemsize
    try:
        room = _room(size, grows)
    except (MemoryError, OSError, OverflowError, ValueError) as error:
        raise NotEnoughMemory(
            f"users must fit into memory, got {shape[0]}: one of their arrays takes "
            f"{size / 2**30:.1f} GiB, which the machine refuses ({error})"
        ) from None
    start = -room.ctypes.data % 64
    array: npt.NDArray[Any] = room[start : start + size].view(kind).reshape(shape)
    return array


def grown(old: npt.NDArray[Any] | None, *shape: int, dtype: Any = np.float64) -> npt.NDArray[Any]:
    """Return the rows of an array of this module and zeros behind them, ``shape[0]`` in all.

    Nothing is copied if there are addresses left: the old array is then a part of the new one.

    >>> grown(np.ones(3)[:2], 4)
    array([1., 1., 0., 0.])
    """
    if old is None or shape[0] == 0:
        return _zeros(shape, dtype, grows=True)
    room: Any = old.base
    size = math.prod(shape) * old.itemsize
    if isinstance(getattr(room, "base", None), memoryview) and size <= room.size:
        longer: npt.NDArray[Any] = room[:size].view(old.dtype).reshape(shape)
        return longer
    more = _zeros(shape, old.dtype, grows=True)
    copy_written(more[: len(old)], old)
    return more


def copy_written(target: npt.NDArray[Any], source: npt.NDArray[Any]) -> None:
    """Copy an array of the same shape; zeros are not written where there are zeros."""
    if target.nbytes < MAPPED:
        target[...] = source
        return
    step = max(1, MAPPED // max(target[:1].nbytes, 1))
    for start in range(0, len(target), step):
        rows = slice(start, start + step)
        if source[rows].any() or target[rows].any():
            target[rows] = source[rows]


def written_rows(rows: npt.NDArray[Any], which: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a copy of rows of which only ``which`` were written; the others stay untouched."""
    copies = grown(None, *rows.shape, dtype=rows.dtype)
    copies[which] = rows[which]
    return copies


def _room(size: int, grows: bool) -> npt.NDArray[np.uint8]:
    """Return at least ``size`` bytes of zeros: a map if many may grow and there are addresses."""
    global _reserved
    whole = max(RESERVED, 4 * size)
    mapped = grows and size >= MAPPED and _has_addresses()
    if not mapped or _reserved + whole > MOST_RESERVED:
        return np.zeros(size + 64, np.uint8)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE
    room = mmap.mmap(-1, whole, flags=flags)
    _reserved += whole
    weakref.finalize(room, _give_back, whole)
    try:
        room.madvise(mmap.MADV_HUGEPAGE if size <= DENSE else mmap.MADV_NOHUGEPAGE)
    except OSError:  # a machine without huge pages
        pass
    return np.frombuffer(room, np.uint8)


def _give_back(size: int) -> None:
    global _reserved
    _reserved -= size


@cache
def _has_addresses() -> bool:
    """Tell whether addresses are free: on Linux, unless they are counted or limited."""
    if sys.platform != "linux":
        return False
    import resource  # noqa: PLC0415  Windows has none

    counted = Path("/proc/sys/vm/overcommit_memory")
    limited = resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
    return not limited and counted.is_file() and counted.read_text().strip() != "2"
