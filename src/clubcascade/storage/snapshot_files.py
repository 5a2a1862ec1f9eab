"""Snapshots in a folder: written aside, made durable, renamed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from clubcascade.errors import StoreDamaged, StoreUnavailable
from clubcascade.storage import snapshot_codec

_NAME = re.compile(r"(\d{20})\.snapshot")


class SnapshotFiles:
    """The snapshots of one store, a file each, named by the last event in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        for aside in folder.glob("*.aside"):  # of a process that was stopped while writing
            aside.unlink()

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:020d}.snapshot"

    def numbers(self) -> list[int]:
        """Return the numbers of the snapshots, newest first."""
        found = (_NAME.fullmatch(path.name) for path in self.folder.iterdir())
        return sorted((int(match[1]) for match in found if match), reverse=True)

    def save(self, number: int, chunks: Iterable[bytes | memoryview]) -> None:
        """Write a snapshot; an interrupted one leaves nothing that could be taken for whole."""
        target = self._path(number)
        aside = target.with_suffix(".aside")
        try:
            with aside.open("wb") as stream:
                for chunk in chunks:
                    stream.write(chunk)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(aside, target)
            self._sync_folder()
        except OSError as error:
            aside.unlink(missing_ok=True)
            raise StoreUnavailable(f"the snapshot could not be written: {error}") from error

    def load(self, number: int) -> bytes:
        """Return a snapshot; raise if it is damaged."""
        try:
            data = self._path(number).read_bytes()
            snapshot_codec.check(data)
        except (OSError, StoreDamaged) as error:
            raise StoreDamaged(f"snapshot {number} cannot be used: {error}") from None
        return data

    def keep(self, count: int) -> None:
        """Remove all but the newest ``count`` snapshots."""
        for number in self.numbers()[count:]:
            self._path(number).unlink(missing_ok=True)

    def _sync_folder(self) -> None:
        handle = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
