"""Prepared data on disk: a zip of arrays and one JSON header, readable without pickle, versioned.

The file is an ``.npz`` that NumPy can open as well. The header names the format; a file of another
format is refused with the command that prepares it again.
"""

import json
import os
import re
import zipfile
import zlib
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import platformdirs

from clubcascade.datasets.files import PathLike, written
from clubcascade.datasets.ids import Ids
from clubcascade.datasets.interactions import Interactions, assemble
from clubcascade.errors import InvalidArgument, InvalidData
from clubcascade.model_file import HEADER, write_archive

VARIABLE = "CLUBCASCADE_DATA"
"""The environment variable that names the folder of prepared data."""
SUFFIX = ".npz"
FORMAT = 1
"""Number of the format of prepared data."""

_MAGIC = "clubcascade data"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_DAMAGE = (zipfile.BadZipFile, zlib.error, KeyError, EOFError, ValueError, TypeError, RuntimeError)


def data_folder(folder: PathLike | None = None) -> Path:
    """Return the folder of prepared data: the given one, the variable's, or the user's own."""
    chosen = folder if folder is not None else os.environ.get(VARIABLE) or None
    if chosen is not None:
        return Path(chosen).expanduser()
    return Path(platformdirs.user_cache_dir("clubcascade", appauthor=False)) / "data"


def prepared(folder: PathLike | None = None) -> dict[str, Path]:
    """Return the files of prepared data by name; nothing where there is no folder yet."""
    files = data_folder(folder).glob(f"*{SUFFIX}")
    names = {file.stem: file for file in files if not file.name.startswith(".")}
    return dict(sorted(names.items()))


def path_of(name: str, folder: PathLike | None = None) -> Path:
    """Return the place of a prepared data set."""
    return data_folder(folder) / f"{checked_name(name)}{SUFFIX}"


def checked_name(name: str) -> str:
    """Return a name that can be a file's: letters, digits, dots, dashes, underscores."""
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name.endswith(SUFFIX):
        raise InvalidArgument(
            f"name must be 1 to 100 letters, digits, '.', '_' or '-', the first a letter or a "
            f"digit, not ending in {SUFFIX}, got {name!r}"
        )
    return name


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
    arrays: dict[str, npt.NDArray[Any]] = {
        "indptr": data.clicks.indptr,
        "indices": data.clicks.indices,
    }
    for side, ids in (("user", data.user_ids), ("item", data.item_ids)):
        texts = ids if isinstance(ids, Ids) else Ids.of(ids)
        arrays |= {f"{side}_letters": texts.letters, f"{side}_ends": texts.ends}
    with written(path) as stream:
        write_archive(stream, header, arrays)


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
            if HEADER not in archive.namelist():
                return None
            header = json.loads(archive.read(HEADER))
    except _DAMAGE as error:
        raise InvalidData(
            f"{path} must be a whole .npz file, got one that is cut short or of another kind "
            f"({error})"
        ) from None
    if not isinstance(header, dict) or header.get("magic") != _MAGIC:
        return None
    if header.get("format") != FORMAT:
        command = dict(header.get("source") or {}).get("command", "clubcascade data --help")
        raise InvalidData(
            f"{path} must be prepared data of format {FORMAT}, got format "
            f"{header.get('format')!r}; prepare it again: {command}"
        )
    return header


@lru_cache(maxsize=4)
def _read(path: Path, *_stamp: int) -> Interactions:
    header = read_header(path)
    if header is None:
        raise InvalidData(f"{path} must be prepared data, got an .npz file of another kind")
    try:
        with zipfile.ZipFile(path) as archive:
            starts, columns = _array(archive, "indptr"), _array(archive, "indices")
            users, items = (
                Ids(_array(archive, f"{side}_letters"), _array(archive, f"{side}_ends"))
                for side in ("user", "item")
            )
        name, source = str(header["name"]), dict(header["source"])
        fingerprint = str(header["fingerprint"])
        return assemble(name, starts, columns, users, items, source, fingerprint)
    except InvalidData:
        raise
    except _DAMAGE as error:
        raise InvalidData(f"{path} is damaged: {error}") from None


def _array(archive: zipfile.ZipFile, name: str) -> npt.NDArray[Any]:
    with archive.open(f"{name}.npy") as member:
        array: npt.NDArray[Any] = np.lib.format.read_array(member, allow_pickle=False)
        if member.read(1):
            raise ValueError(f"{name} is longer than it says")
    return array
