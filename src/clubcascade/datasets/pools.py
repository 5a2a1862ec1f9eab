"""Pools files: one ``.npz`` with an array ``clicks``, users x items, of 0 and 1."""

from __future__ import annotations

import zipfile
import zlib
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from clubcascade.datasets.checksums import sha256
from clubcascade.datasets.ids import Ids
from clubcascade.datasets.interactions import Interactions, assemble
from clubcascade.errors import InvalidData

ARRAY = "clicks"


def read_pools(path: Path, name: str | None = None) -> Interactions:
    """Read a pools file. Users and items have no ids there: they are numbered from 0."""
    stamp = path.stat()
    return _read(path, name or path.stem, stamp.st_mtime_ns, stamp.st_size)


@lru_cache(maxsize=4)
def _read(path: Path, name: str, _mtime: int, _size: int) -> Interactions:
    clicks = _binary(path, _load(path))
    rows = sparse.csr_array(clicks)
    rows.sort_indices()
    n_users, n_items = clicks.shape
    source = {
        "kind": "pools",
        "file": path.name,
        "checksum": f"sha256:{sha256(path)}",
        "rows": int(rows.nnz),
        "terms": "those of the data that the pools were drawn from",
    }
    return assemble(
        name,
        rows.indptr,
        rows.indices,
        Ids.of(str(i) for i in range(n_users)),
        Ids.of(str(i) for i in range(n_items)),
        source,
    )


def _load(path: Path) -> npt.NDArray[Any]:
    try:
        with np.load(path, allow_pickle=False) as file:
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
