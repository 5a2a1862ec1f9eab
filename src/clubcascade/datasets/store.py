"""Prepared data on disk: a zip of arrays and one JSON header, readable without pickle, versioned.

The file is an ``.npz`` that NumPy can open as well. The header names the format; a file of another
format is refused with the command that prepares it again.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from clubcascade.datasets.ids import Ids
from clubcascade.datasets.interactions import Interactions, assemble
from clubcascade.datasets.whole_files import written
from clubcascade.errors import InvalidData

FORMAT = 1
"""Number of the format of prepared data."""

_MAGIC = "clubcascade data"
_HEADER = "header.json"
_DAMAGE = (zipfile.BadZipFile, zlib.error, KeyError, EOFError, ValueError, TypeError, RuntimeError)


def write(data: Interactions, path: Path) -> None:
    """Write a data set, whole or not at all."""
    header = {
        "magic": _MAGIC,
        "format": FORMAT,
        "name": data.name,
        "fingerprint": data.fingerprint,
        "counts": {"users": data.n_users, "items": data.n_items, "clicks": data.n_clicks},
        "source": data.source,
    }
    users, items = _ids(data.user_ids), _ids(data.item_ids)
    arrays: dict[str, npt.NDArray[Any]] = {
        "indptr": data.clicks.indptr,
        "indices": data.clicks.indices,
        "user_letters": users.letters,
        "user_ends": users.ends,
        "item_letters": items.letters,
        "item_ends": items.ends,
    }
    with written(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_HEADER, json.dumps(header))
        for name, value in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, value, allow_pickle=False)


def read(path: Path) -> Interactions:
    """Read a prepared data set; the same file is read once."""
    stamp = path.stat()
    return _read(path, stamp.st_ino, stamp.st_mtime_ns, stamp.st_size)


def read_header(path: Path) -> dict[str, Any] | None:
    """Return the header of a prepared file; None for a zip of another kind.

    Raises InvalidData where the file is no whole zip, or of another format.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            if _HEADER not in archive.namelist():
                return None
            header = json.loads(archive.read(_HEADER))
    except _DAMAGE as error:
        raise InvalidData(
            f"{path} must be a whole .npz file, got one that is cut short or of another kind "
            f"({error})"
        ) from None
    if not isinstance(header, dict) or header.get("magic") != _MAGIC:
        return None
    found = header.get("format")
    if found != FORMAT:
        command = dict(header.get("source") or {}).get("command", "clubcascade data --help")
        raise InvalidData(
            f"{path} must be prepared data of format {FORMAT}, got format {found!r}; "
            f"prepare it again: {command}"
        )
    return header


@lru_cache(maxsize=4)
def _read(path: Path, *_stamp: int) -> Interactions:
    header = read_header(path)
    if header is None:
        raise InvalidData(f"{path} must be prepared data, got an .npz file of another kind")
    try:
        with zipfile.ZipFile(path) as archive:
            return assemble(
                str(header["name"]),
                _array(archive, "indptr"),
                _array(archive, "indices"),
                Ids(_array(archive, "user_letters"), _array(archive, "user_ends")),
                Ids(_array(archive, "item_letters"), _array(archive, "item_ends")),
                dict(header["source"]),
                fingerprint=str(header["fingerprint"]),
            )
    except _DAMAGE as error:
        if isinstance(error, InvalidData):
            raise
        raise InvalidData(f"{path} is damaged: {error}") from None


def _array(archive: zipfile.ZipFile, name: str) -> npt.NDArray[Any]:
    with archive.open(f"{name}.npy") as member:
        array: npt.NDArray[Any] = np.lib.format.read_array(member, allow_pickle=False)
        if member.read(1):
            raise ValueError(f"{name} is longer than it says")
    return array


def _ids(ids: Any) -> Ids:
    return ids if isinstance(ids, Ids) else Ids.of(ids)
