"""Pools files: one ``.npz`` with an array ``clicks``, users x items, of 0 and 1."""

from __future__ import annotations

import os
import shlex
import zipfile
import zlib
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from clubcascade.datasets.checksums import sha256
from clubcascade.datasets.folder import checked_name
from clubcascade.datasets.ids import Ids
from clubcascade.datasets.interactions import Interactions, assemble
from clubcascade.datasets.preparing import Folder, Prepared, Recipe, file_at, prepare
from clubcascade.datasets.watching import Progress, silent
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
    n_users, n_items = clicks.shape
    source = {
        "kind": "pools",
        "file": path.name,
        "checksum": f"sha256:{sha256(path)}",
        "rows": int(rows.nnz),
        "terms": TERMS,
    }
    return assemble(
        name,
        rows.indptr,
        rows.indices,
        Ids.of(str(i) for i in range(n_users)),
        Ids.of(str(i) for i in range(n_items)),
        source,
    )


def prepare_pools(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    folder: Folder = None,
    progress: Progress = silent,
) -> Prepared:
    """Keep a pools file under a name; by default its own."""
    file = file_at(path)
    name = checked_name(name if name is not None else file.stem)
    command = shlex.join(["clubcascade", "data", "pools", "--path", str(file), "--name", name])
    recipe = Recipe(name, "pools", (file,), {}, TERMS, command)

    def make(source: dict[str, Any]) -> Interactions:
        data = read_pools(file, name)
        return replace(data, source=data.source | source)

    return prepare(recipe, make, folder=folder, progress=progress)


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
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError) as error:
        if isinstance(error, InvalidData):
            raise
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
    if array.dtype.kind != "b" and not np.array_equal(clicks, array):
        wrong = array[array != clicks][0]
        raise InvalidData(f"{where} must be of 0 and 1, got {wrong}")
    return clicks
