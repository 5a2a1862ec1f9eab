"""Model files: a zip of arrays and one JSON header, readable without pickle, versioned.

The header names the format, the policy, its parameters and everything that is not an array; every
array is an ``.npy`` member. A file is written aside and renamed, so that an interrupted save
leaves the old file whole.
"""

from __future__ import annotations

import io
import json
import os
import re
import tempfile
import zipfile
from collections.abc import Iterable
from datetime import date, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import numpy.typing as npt

from clubcascade.errors import InvalidArgument, ModelFileError
from clubcascade.validation import brief

FORMAT = 2
"""2 keeps frozensets, UUIDs, dates, and lone surrogates as they are."""
_MAGIC = "clubcascade model"
_HEADER = "header.json"
_SURROGATE = re.compile("[\ud800-\udfff]")
_LARGEST = 4096  # bits: Python neither prints nor reads numbers of more than 4300 digits
_DEEPEST = 32  # levels: files are written and read by recursion

KEPT = "a str, int, float, bytes, None, UUID, date, datetime, or a tuple or frozenset of these"
"""What an id may be."""


def write(
    path: str | os.PathLike[str], policy: str, params: dict[str, Any], state: dict[str, Any]
) -> None:
    """Write one policy: its registry name, parameters and state."""
    arrays = {name: value for name, value in state.items() if isinstance(value, np.ndarray)}
    plain = {name: value for name, value in state.items() if name not in arrays}
    header = {
        "magic": _MAGIC,
        "format": FORMAT,
        "policy": policy,
        "params": encode(params),
        "plain": encode(plain),
        "arrays": sorted(arrays),
    }
    text = json.dumps(header)
    target = Path(path)
    try:
        handle, aside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except FileNotFoundError as error:
        raise FileNotFoundError(error.errno, "no such folder", str(target.parent)) from None
    try:
        with os.fdopen(handle, "wb") as stream:
            with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
                archive.writestr(_HEADER, text)
                for name, value in arrays.items():
                    with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                        np.lib.format.write_array(member, value, allow_pickle=False)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(aside, target)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise


def read(path: str | os.PathLike[str]) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Read what :func:`write` wrote: registry name, parameters, state."""
    try:
        with zipfile.ZipFile(path) as archive:
            header = _header(path, archive)
            state: dict[str, Any] = {}
            for name in header["arrays"]:
                state[name] = _array(archive.read(f"{name}.npy"))
            state.update(decode(header["plain"]))
            return str(header["policy"]), decode(header["params"]), state
    except (zipfile.BadZipFile, KeyError, EOFError, ValueError, TypeError, RuntimeError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(
            f"path must be a whole clubcascade model file, got {os.fspath(path)!r}: {error}"
        ) from error


def _header(path: str | os.PathLike[str], archive: zipfile.ZipFile) -> dict[str, Any]:
    header = json.loads(archive.read(_HEADER)) if _HEADER in archive.namelist() else {}
    if not isinstance(header, dict) or header.get("magic") != _MAGIC:
        raise ModelFileError(
            f"path must be a clubcascade model file, got {os.fspath(path)!r}, which is another kind"
        )
    found = header.get("format")
    if not isinstance(found, int) or not 1 <= found <= FORMAT:
        raise ModelFileError(
            f"path must be a model file of format 1 to {FORMAT}, got format {found!r} "
            f"in {os.fspath(path)!r}; a newer clubcascade may read it"
        )
    return header


def _array(data: bytes) -> npt.NDArray[Any]:
    try:
        array: npt.NDArray[Any] = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    except MemoryError as error:
        raise ValueError(f"an array of {len(data)} bytes: {error}") from None
    return array


def encode(value: Any) -> Any:
    """Turn a plain value (user ids included) into JSON that :func:`decode` gives back exactly.

    >>> decode(encode({"users": ["alice", 7, ("de", 3), b"raw", None, 0.1]}))
    {'users': ['alice', 7, ('de', 3), b'raw', None, 0.1]}
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return (
            {"utf8": value.encode("utf-8", "surrogatepass").hex()}
            if _SURROGATE.search(value)
            else value
        )
    if isinstance(value, int) and value.bit_length() <= _LARGEST:
        return value
    if isinstance(value, np.integer | np.bool_):
        return value.item()
    if isinstance(value, float | np.floating):
        return {"float": float(value).hex()}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, tuple):
        return {"tuple": [encode(part) for part in value]}
    if isinstance(value, frozenset | set):
        kind = "set" if isinstance(value, set) else "frozenset"
        return {kind: sorted((encode(part) for part in value), key=json.dumps)}
    if isinstance(value, range):
        return {"range": [encode(part) for part in (value.start, value.stop, value.step)]}
    if isinstance(value, UUID):
        return {"uuid": value.hex}
    if isinstance(value, date):  # a datetime is one
        return {"datetime" if isinstance(value, datetime) else "date": value.isoformat()}
    if isinstance(value, list):
        return [encode(part) for part in value]
    if isinstance(value, dict):
        return {"dict": [[encode(key), encode(part)] for key, part in value.items()]}
    if isinstance(value, np.ndarray):
        return {"array": encode(value.tolist()), "dtype": value.dtype.str}
    raise InvalidArgument(
        f"a saved value or id must be {KEPT}, got {type(value).__name__}: {brief(value)}"
    )


def decode(value: Any) -> Any:
    """Give back what :func:`encode` was given."""
    if isinstance(value, list):
        return [decode(part) for part in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"float": text}:
            return float.fromhex(text)
        case {"bytes": text}:
            return bytes.fromhex(text)
        case {"tuple": parts}:
            return tuple(decode(part) for part in parts)
        case {"set": parts}:
            return {decode(part) for part in parts}
        case {"range": parts}:
            return range(*map(decode, parts))
        case {"frozenset": parts}:
            return frozenset(decode(part) for part in parts)
        case {"utf8": text}:
            return bytes.fromhex(text).decode("utf-8", "surrogatepass")
        case {"uuid": text}:
            return UUID(text)
        case {"date": text}:
            return date.fromisoformat(text)
        case {"datetime": text}:
            return datetime.fromisoformat(text)
        case {"array": parts, "dtype": dtype}:
            return np.array(decode(parts), dtype=np.dtype(dtype))
        case {"dict": pairs}:
            return {decode(key): decode(part) for key, part in pairs}
    raise ModelFileError(f"unknown value in the header: {value!r}")


def check_id(name: str, value: Any) -> None:
    """Raise unless an id can be hashed, saved, and found again under what a file gives back.

    NaN, which equals nothing, is refused; so are numbers of more than 4096 bits and tuples that
    are nested more than 32 levels deep.

    >>> check_id("user", ("de", 7))
    """
    if type(value) is str or (type(value) is int and value.bit_length() < 64):  # most are
        return
    try:
        again = decode(encode(value)) if _depth(value) <= _DEEPEST else None
        if again == value and hash(again) == hash(value):
            return
    except (TypeError, ValueError, RecursionError):
        pass
    raise InvalidArgument(
        f"{name} must be hashable and of a type that a model file can hold ({KEPT}; not NaN), "
        f"got {type(value).__name__}: {brief(value)}"
    )


def check_ids(name: str, values: Iterable[Any]) -> None:
    """Raise unless all are ids that can be kept."""
    for value in values:
        check_id(name, value)


def _depth(value: Any) -> int:
    nested = isinstance(value, tuple | frozenset)
    return 1 + max(map(_depth, value), default=0) if nested else 0
