"""Model files: a zip of arrays and one JSON header, readable without pickle, versioned.

The header names the format, the policy, its parameters and everything that is not an array; every
array is an ``.npy`` member. A file is written aside and renamed, so that an interrupted save
leaves the old file whole. Other kinds of files are written in the same way.
"""

import io
import json
import os
import re
import secrets
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import date, datetime
from pathlib import Path
from typing import Any, BinaryIO
from uuid import UUID

import numpy as np
import numpy.typing as npt

from clubcascade.errors import InvalidArgument, ModelFileError
from clubcascade.validation import brief

FORMAT = 2
"""2 keeps frozensets, UUIDs, dates, and lone surrogates as they are."""
_MAGIC = "clubcascade model"
HEADER = "header.json"
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
    header = {"magic": _MAGIC, "format": FORMAT, "policy": policy, "params": encode(params)}
    _write(path, header, plain, arrays)


def write_parts(
    path: str | os.PathLike[str],
    magic: str,
    format: int,
    plain: dict[str, Any],
    arrays: dict[str, npt.NDArray[Any]],
) -> None:
    """Write another kind of file, of plain values and arrays; ``magic`` names the kind."""
    _write(path, {"magic": magic, "format": format}, plain, arrays)


def _write(
    path: str | os.PathLike[str],
    header: dict[str, Any],
    plain: dict[str, Any],
    arrays: dict[str, npt.NDArray[Any]],
) -> None:
    header |= {"plain": encode(plain), "arrays": sorted(arrays)}
    with atomic_write(Path(path), mode=0o600, sync=True) as stream:
        write_archive(stream, header, arrays)


@contextmanager
def atomic_write(path: Path, *, mode: int = 0o666, sync: bool = False) -> Iterator[BinaryIO]:
    """Open a file under a temporary name, and give it its own name once it is whole.

    Whatever goes wrong, nothing half-written is left, and an earlier file stays as it was. ``mode``
    are its permissions; with ``sync`` it is on the disk first, and survives a power loss.
    """
    temporary = path.parent / f".{path.name}.{secrets.token_hex(4)}.tmp"
    try:
        with naming(path):
            try:
                handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            except FileNotFoundError as error:
                raise FileNotFoundError(error.errno, "no such folder", str(path.parent)) from None
            with os.fdopen(handle, "wb") as stream:
                yield stream
                if sync:
                    stream.flush()
                    os.fsync(stream.fileno())
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    if sync:
        with suppress(OSError):  # of its name too, where the system can do that
            handle = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name the file in errors of the system that name none, such as that of a full disk."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or type(error) is not OSError or error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error


def remove_abandoned(folder: Path, seconds: float, pattern: str = "*.tmp") -> None:
    """Remove temporary files of killed processes: those without a write for so long."""
    for file in folder.glob(pattern):
        with suppress(OSError):
            if time.time() - file.stat().st_mtime > seconds:
                file.unlink(missing_ok=True)


def write_archive(
    stream: BinaryIO, header: dict[str, Any], arrays: Mapping[str, npt.NDArray[Any]]
) -> None:
    """Write a JSON header and arrays as one zip, nothing packed."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(HEADER, json.dumps(header))
        for name, value in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, value, allow_pickle=False)


def read(path: str | os.PathLike[str]) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Read what :func:`write` wrote: registry name, parameters, state."""
    with _opened(path, "clubcascade model file") as archive:
        header = _header(path, archive)
        state = {name: _array(archive.read(f"{name}.npy")) for name in header["arrays"]}
        state.update(decode(header["plain"]))
        return str(header["policy"]), decode(header["params"]), state


def read_parts(
    path: str | os.PathLike[str], magic: str, format: int
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Read what :func:`write_parts` wrote: plain values and arrays.

    Nothing is unpacked: what is read takes no more room than the file has bytes.
    """
    if not isinstance(path, str | os.PathLike):
        raise InvalidArgument(f"path must be that of a file, got {brief(path)}")
    with _opened(path, f"file of {magic}") as archive:
        header = _header(path, archive, magic, format)
        names = [str(name) for name in header["arrays"]]
        _check_members(path, archive, names)
        arrays = {name: _array(archive.read(f"{name}.npy")) for name in names}
        return decode(header["plain"]), arrays


@contextmanager
def _opened(path: str | os.PathLike[str], what: str) -> Iterator[zipfile.ZipFile]:
    """Open a file to read; whatever is wrong with it is a ModelFileError."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except ModelFileError:
        raise
    except (zipfile.BadZipFile, KeyError, EOFError, ValueError, TypeError, RuntimeError) as error:
        raise ModelFileError(
            f"path must be a whole {what}, got {os.fspath(path)!r}: {error}"
        ) from error


def _check_members(
    path: str | os.PathLike[str], archive: zipfile.ZipFile, names: list[str]
) -> None:
    members = archive.infolist()
    packed = any(member.compress_type != zipfile.ZIP_STORED for member in members)
    room = sum(member.file_size for member in members)
    if packed or room > os.path.getsize(path):
        raise ValueError("its members must be stored as they are, none packed")
    if sorted(member.filename for member in members) != sorted(
        [HEADER, *map("{}.npy".format, names)]
    ):
        raise ValueError("its members must be those that its header names")


def _header(
    path: str | os.PathLike[str],
    archive: zipfile.ZipFile,
    magic: str = _MAGIC,
    newest: int = FORMAT,
) -> dict[str, Any]:
    if HEADER in archive.namelist() and archive.getinfo(HEADER).file_size > os.path.getsize(path):
        raise ValueError("its header must be stored as it is, not packed")
    header = json.loads(archive.read(HEADER)) if HEADER in archive.namelist() else {}
    found_magic = header.get("magic") if isinstance(header, dict) else None
    if found_magic != magic:
        kind = f"a file of {found_magic}" if isinstance(found_magic, str) else "another kind"
        raise ModelFileError(
            f"path must be a {magic} file, got {os.fspath(path)!r}, which is {brief(kind)[1:-1]}"
        )
    found = header.get("format")
    if not isinstance(found, int) or not 1 <= found <= newest:
        raise ModelFileError(
            f"path must be a {magic.split()[-1]} file of format 1 to {newest}, got format "
            f"{found!r} in {os.fspath(path)!r}; a newer clubcascade may read it"
        )
    return dict(header)


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
    if value.keys() == {"array", "dtype"}:
        return np.array(decode(value["array"]), dtype=np.dtype(value["dtype"]))
    for kind, content in value.items():
        if kind in _DECODERS:
            return _DECODERS[kind](content)
    raise ModelFileError(f"unknown value in the header: {value!r}")


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "float": float.fromhex,
    "bytes": bytes.fromhex,
    "tuple": lambda parts: tuple(map(decode, parts)),
    "set": lambda parts: set(map(decode, parts)),
    "range": lambda parts: range(*map(decode, parts)),
    "frozenset": lambda parts: frozenset(map(decode, parts)),
    "utf8": lambda text: bytes.fromhex(text).decode("utf-8", "surrogatepass"),
    "uuid": UUID,
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
    "dict": lambda pairs: {decode(key): decode(part) for key, part in pairs},
}


def split_state(state: dict[str, Any], before: str = "") -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the plain values of a nested state, and its arrays by their path.

    >>> split_state({"a": 1, "b": {"c": np.zeros(2)}})
    ({'a': 1, 'b': {}}, {'b/c': array([0., 0.])})
    """
    plain: dict[str, Any] = {}
    arrays: dict[str, Any] = {}
    for name, value in state.items():
        if isinstance(value, np.ndarray):
            arrays[before + name] = value
        elif isinstance(value, dict):
            plain[name], inner = split_state(value, f"{before}{name}/")
            arrays |= inner
        else:
            plain[name] = value
    return plain, arrays


def join_state(plain: dict[str, Any], arrays: dict[str, Any]) -> dict[str, Any]:
    """Give back what :func:`split_state` was given."""
    whole = {n: join_state(v, {}) if isinstance(v, dict) else v for n, v in plain.items()}
    for path, value in arrays.items():
        *folders, name = path.split("/")
        place = whole
        for folder in folders:
            place = place[folder]
        place[name] = value
    return whole


def check_id(name: str, value: Any) -> None:
    """Raise unless an id can be hashed, saved, and found again under what a file gives back.

    NaN, which equals nothing, is refused; so are numbers of more than 4096 bits and tuples that
    are nested more than 32 levels deep.
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
