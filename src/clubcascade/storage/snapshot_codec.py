"""Snapshots as bytes: one JSON header, the arrays behind it, a SHA-256 at the end."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from clubcascade import model_file
from clubcascade.errors import StoreDamaged

FORMAT = 1
_MAGIC = b"CLUBSNAP"
_START = struct.Struct("<8sIQ")
_SUM = 32

Arrays = dict[str, npt.NDArray[Any]]


def write(plain: Any, arrays: Arrays) -> Iterator[bytes | memoryview]:
    """Yield the parts of a snapshot; arrays are not copied.

    >>> parts = write({"models": ["news"]}, {"weights": np.arange(3.0)})
    >>> read(b"".join(parts))
    ({'models': ['news']}, {'weights': array([0., 1., 2.])})
    """
    whole = {name: np.ascontiguousarray(value) for name, value in arrays.items()}
    table = [[name, value.dtype.str, list(value.shape)] for name, value in whole.items()]
    header = json.dumps({"plain": model_file.encode(plain), "arrays": table}).encode()
    digest = hashlib.sha256()
    for part in (_START.pack(_MAGIC, FORMAT, len(header)), header, *map(_raw, whole.values())):
        digest.update(part)
        yield part
    yield digest.digest()


def _raw(array: npt.NDArray[Any]) -> bytes | memoryview:
    return array.reshape(-1).data.cast("B") if array.size else b""


def check(data: bytes) -> None:
    """Raise unless the snapshot is whole, unchanged and of a known format."""
    if len(data) < _START.size + _SUM:
        raise StoreDamaged(f"a snapshot of {len(data)} bytes cannot be whole")
    if hashlib.sha256(memoryview(data)[:-_SUM]).digest() != data[-_SUM:]:
        raise StoreDamaged("the checksum of a snapshot does not fit")
    magic, found, _ = _START.unpack_from(data)
    if magic != _MAGIC or not 1 <= found <= FORMAT:
        raise StoreDamaged(
            f"a snapshot must be of format 1 to {FORMAT}, got {found}; a newer clubcascade "
            f"may read it"
        )


def read(data: bytes) -> tuple[Any, Arrays]:
    """Return the plain part and the arrays of a snapshot that :func:`write` made."""
    check(data)
    _, _, length = _START.unpack_from(data)
    place = _START.size + length
    header = json.loads(data[_START.size : place])
    arrays: Arrays = {}
    for name, dtype, shape in header["arrays"]:
        count = int(np.prod(shape, dtype=np.int64))
        kind = np.dtype(dtype)
        arrays[name] = np.frombuffer(data, kind, count, place).reshape(shape)
        place += count * kind.itemsize
    return model_file.decode(header["plain"]), arrays
