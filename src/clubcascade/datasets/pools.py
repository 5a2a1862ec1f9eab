"""Pools files: one ``.npz`` with an array ``clicks``, users x items, of 0 and 1."""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from clubcascade.datasets.files import PathLike, Progress, file_at, silent
from clubcascade.datasets.ids import Ids
from clubcascade.datasets.interactions import Interactions, assemble
from clubcascade.datasets.preparing import Prepared, checksum, prepare
from clubcascade.datasets.store import checked_name
from clubcascade.errors import InvalidData

ARRAY = "clicks"
TERMS = "those of the data that the pools were drawn from"


def read_pools(path: Path, name: str | None = None) -> Interactions:
    """Read a pools file. Users and items have no ids there: they are numbered from 0."""
    stamp = path.stat()
    return _read(path, name or path.stem, stamp.st_ino, stamp.st_mtime_ns, stamp.st_size)


@lru_cache(maxsize=4)
def _read(path: Path, name: str, *_stamp: int) -> Interactions:
    clicks = _binary(path, _load(path))
    rows = sparse.csr_array(clicks)
    rows.sort_indices()
    source = {
        "kind": "pools",
        "file": path.name,
        "checksum": checksum([path]),
        "rows": int(rows.nnz),
        "terms": TERMS,
    }
    users, items = (Ids.of(str(i) for i in range(n)) for n in clicks.shape)
    return assemble(name, rows.indptr, rows.indices, users, items, source)


def prepare_pools(
    path: PathLike,
    *,
    name: str | None = None,
    folder: PathLike | None = None,
    progress: Progress = silent,
) -> Prepared:
    """Keep a pools file under a name; by default its own."""
    file = file_at(path)
    name = checked_name(name if name is not None else file.stem)

    def make(source: dict[str, Any]) -> Interactions:
        data = read_pools(file, name)
        return replace(data, source=data.source | source)

    arguments = ["pools", "--path", str(file), "--name", name]
    return prepare(name, "pools", [file], make, arguments, TERMS, folder=folder, progress=progress)


def _load(path: Path) -> npt.NDArray[Any]:
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            if not isinstance(file, np.lib.npyio.NpzFile):
                raise InvalidData(f"{path} must be an .npz file, got a single array")
            if ARRAY not in file.files:
                found = ", ".join(file.files) or "nothing"
                raise InvalidData(
                    f"{path} must hold an array {ARRAY!r}, users x items; it holds {found}"
                )
            array: npt.NDArray[Any] = file[ARRAY]
            return array
    except InvalidData:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError) as error:
        raise InvalidData(
            f"{path} must be a whole .npz file with an array {ARRAY!r}, got one that cannot be "
            f"read: {error}"
        ) from None


def _binary(path: Path, array: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    where = f"{ARRAY} in {path}"
    if array.ndim != 2 or 0 in array.shape:
        raise InvalidData(f"{where} must have shape (users, items), got {array.shape}")
    if array.dtype.kind not in "buif":
        raise InvalidData(f"{where} must be of 0 and 1, got dtype {array.dtype}")
    clicks = array.astype(np.bool_)
    if not np.array_equal(clicks, array):
        raise InvalidData(f"{where} must be of 0 and 1, got {array[array != clicks][0]}")
    return clicks
