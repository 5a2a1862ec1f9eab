"""One process per folder: a lock that the system lets go when the process ends, however it ends."""

from __future__ import annotations

import fcntl
import os
import socket
from pathlib import Path

from clubcascade.errors import StoreLocked


class FolderLock:
    """Hold a folder until :meth:`release`; refuse if another process, or another store, holds it.

    Parameters
    ----------
    path
        The lock file; it is left behind, and says who held it last.
    """

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            owner = os.read(self._handle, 200).decode("utf-8", "replace").strip()
            os.close(self._handle)
            raise StoreLocked(
                f"{path.parent} is open in another process ({owner or 'unknown'}); a store has "
                f"one writer: stop that process, or use another folder"
            ) from None
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)

    def release(self) -> None:
        """Let the folder go."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
