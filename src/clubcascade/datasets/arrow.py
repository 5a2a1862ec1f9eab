"""Arrow, which reads the files; and its complaints in the words of this package."""

from __future__ import annotations

import gzip
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from clubcascade.errors import ClubCascadeError, InvalidData, MissingExtra

try:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as pa_csv
    import pyarrow.json as pa_json
    import pyarrow.parquet as pq
except ModuleNotFoundError as error:
    raise MissingExtra(
        f'reading files of ratings needs {error.name}: pip install "clubcascade[experiments]"'
    ) from error

__all__ = ["Array", "pa", "pa_csv", "pa_json", "pc", "pq", "readable"]

Array = Any
"""An Arrow array (Arrow has no types for mypy)."""

_DAMAGE = (
    gzip.BadGzipFile,
    pa.ArrowException,
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    EOFError,
    UnicodeDecodeError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)
_LONGEST = 300


@contextmanager
def readable(where: object) -> Iterator[None]:
    """Turn whatever is wrong with a file into InvalidData that names the file."""
    try:
        yield
    except ClubCascadeError:
        raise
    except _DAMAGE as error:
        words = " ".join(str(error).split()) or type(error).__name__
        if len(words) > _LONGEST:
            words = f"{words[:_LONGEST]} …"
        raise InvalidData(f"{where} cannot be read: {words}") from error
