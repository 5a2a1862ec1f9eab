"""Pools files: one ``.npz`` with an array ``clicks``, users x items, of 0 and 1; or ``ratings``."""

import zipfile
import zlib
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from clubcascade import validation
from clubcascade.datasets.files import PathLike, Progress, file_at, silent
from clubcascade.datasets.ids import Ids
from clubcascade.datasets.interactions import Interactions, assemble
from clubcascade.datasets.preparing import Prepared, checksum, prepare
from clubcascade.datasets.store import checked_name
from clubcascade.errors import InvalidData

ARRAY, RATINGS = "clicks", "ratings"
TERMS = "those of the data that the pools were drawn from"


def read_pools(path: Path, name: str | None = None, at_least: float | None = None) -> Interactions:
    """Read a pools file. Users and items have no ids there: they are numbered from 0."""
    stamp = path.stat()
    return _read(path, name or path.stem, at_least, stamp.st_ino, stamp.st_mtime_ns, stamp.st_size)


@lru_cache(maxsize=4)
def _read(path: Path, name: str, at_least: float | None, *_stamp: int) -> Interactions:
    if at_least is None:
        clicks = _binary(path, _load(path, ARRAY))
    else:
        clicks = _liked(path, _load(path, RATINGS), at_least)
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
    at_least: float | None = None,
    folder: PathLike | None = None,
    progress: Progress = silent,
) -> Prepared:
    """Keep a pools file under a name; by default its own.

    Parameters
    ----------
    path
        An ``.npz`` file with an array ``clicks``, users x items, of 0 and 1.
    name
        What to call the data set.
    at_least
        The file has an array ``ratings`` instead, NaN where there is none: ratings of at least
        that are clicks, and only users who rated every item are kept, so that no click is unknown.
    folder, progress
        As for :func:`prepare_interactions`.
    """
    file = file_at(path)
    name = checked_name(name if name is not None else file.stem)
    if at_least is not None:
        at_least = validation.number("at_least", at_least)

    def make(source: dict[str, Any]) -> Interactions:
        data = read_pools(file, name, at_least)
        return replace(data, source=data.source | source)

    arguments = ["pools", "--path", str(file), "--name", name]
    options: dict[str, Any] = {}
    if at_least is not None:
        options, arguments = {"at_least": at_least}, [*arguments, "--at-least", str(at_least)]
    parts = (name, "pools", [file], make, arguments, TERMS)
    return prepare(*parts, options=options, folder=folder, progress=progress)


def _load(path: Path, name: str) -> npt.NDArray[Any]:
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            if not isinstance(file, np.lib.npyio.NpzFile):
                raise InvalidData(f"{path} must be an .npz file, got a single array")
            if name not in file.files:
                found = ", ".join(file.files) or "nothing"
                raise InvalidData(
                    f"{path} must hold an array {name!r}, users x items; it holds {found}"
                )
            array: npt.NDArray[Any] = file[name]
            return array
    except InvalidData:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError) as error:
        raise InvalidData(
            f"{path} must be a whole .npz file with an array {name!r}, got one that cannot be "
            f"read: {error}"
        ) from None


def _liked(path: Path, ratings: npt.NDArray[Any], at_least: float) -> npt.NDArray[np.bool_]:
    """Return which ratings are high enough, of the users who rated everything."""
    where = f"{RATINGS} in {path}"
    if ratings.ndim != 2 or 0 in ratings.shape or ratings.dtype.kind not in "iuf":
        raise InvalidData(
            f"{where} must be numbers, users x items, got {ratings.dtype} of {ratings.shape}"
        )
    rated = ratings[~np.isnan(ratings).any(axis=1)]
    if not len(rated):
        raise InvalidData(f"{where} must hold a user who rated every item, got none")
    return np.asarray(rated >= at_least)


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
