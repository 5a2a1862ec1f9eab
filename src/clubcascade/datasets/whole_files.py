"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

ABANDONED = 3600.0
"""Seconds after which a file that was left aside counts as that of a killed process."""


@contextmanager
def written(path: Path) -> Iterator[BinaryIO]:
    """Open a file aside, and give it its name once all of it is on the disk.

    Whatever goes wrong, nothing half-written is left, and an earlier file stays as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(path)
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with aside.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(aside, path)
        _sync_folder(path.parent)
    except OSError as error:
        if error.filename is None and error.errno is not None:  # such as a full disk
            raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
        raise
    finally:
        aside.unlink(missing_ok=True)


def _remove_abandoned(path: Path) -> None:
    """Remove what a killed process left aside."""
    for old in path.parent.glob(f".{path.name}.*.tmp"):
        with suppress(OSError):
            if time.time() - old.stat().st_mtime > ABANDONED:
                old.unlink()


def _sync_folder(folder: Path) -> None:
    """Let the new name survive a power loss too, where the system can do that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
