"""Tables of ratings in text or Parquet files, read block by block."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

from clubcascade.datasets.arrow import Array, pa, pa_csv, pq
from clubcascade.datasets.watching import Progress, opened, silent
from clubcascade.errors import InvalidData

TEXT = (".csv", ".tsv", ".txt", ".dat", ".csv.gz", ".tsv.gz")
PARQUET = (".parquet", ".pq")

_BLOCK = 8 << 20
_HEAD = 1 << 16
_ROWS = 1 << 20
_DELIMITERS = (",", "\t", ";", "|")
DOUBLE_COLON = "::"


Opens = Callable[[], AbstractContextManager[IO[bytes]]]
"""Opens the bytes of a file, again and again."""


class Table(Protocol):
    """Something with named columns that can be read block by block."""

    columns: list[str]

    def blocks(self, wanted: Sequence[str], types: Mapping[str, Any]) -> Iterator[list[Array]]:
        """Yield the wanted columns, some hundred thousand rows at a time."""
        ...


def open_table(
    path: Path, *, columns: Sequence[str] | None = None, progress: Progress = silent
) -> Table:
    """Open a table by its file's ending.

    Parameters
    ----------
    columns
        Names of the columns where the file has no header line.
    """
    name = path.name.lower()
    if name.endswith(PARQUET):
        return ParquetTable(path, progress)
    if not name.endswith(TEXT):
        raise InvalidData(f"path must end in {', '.join((*TEXT, *PARQUET))}, got {path.name!r}")

    @contextmanager
    def opens() -> Iterator[IO[bytes]]:
        with opened(path, progress) as stream:
            if name.endswith(".gz"):
                with gzip.open(stream) as plain:
                    yield plain  # type: ignore[misc]
            else:
                yield stream

    return TextTable(opens, str(path), columns=columns)


class TextTable:
    """A text file with one row a line: separated by commas, tabs, semicolons, bars or ``::``."""

    def __init__(self, opens: Opens, where: str, *, columns: Sequence[str] | None = None) -> None:
        self._opens, self._where = opens, where
        with opens() as stream:
            head = stream.read(_HEAD).decode("utf-8-sig", errors="replace")
        line = head.lstrip("\r\n").split("\n", 1)[0].rstrip("\r")
        if not line.strip():
            raise InvalidData(f"{where} is empty")
        self._delimiter = _delimiter(line)
        self._headless = columns is not None
        self.columns = list(columns) if columns is not None else _header(line, self._delimiter)

    def blocks(self, wanted: Sequence[str], types: Mapping[str, Any]) -> Iterator[list[Array]]:
        """Yield the wanted columns, some hundred thousand rows at a time."""
        double = self._delimiter == DOUBLE_COLON
        read = pa_csv.ReadOptions(block_size=_BLOCK)
        if double or self._headless:
            read.column_names = _spread(self.columns) if double else self.columns
            read.skip_rows = 0 if self._headless else 1
        parse = pa_csv.ParseOptions(
            delimiter=":" if double else self._delimiter,
            quote_char=False if double else '"',
            newlines_in_values=not double,
        )
        convert = pa_csv.ConvertOptions(include_columns=list(wanted), column_types=dict(types))
        with self._opens() as stream:
            for batch in pa_csv.open_csv(stream, read, parse, convert):
                yield list(batch.columns)


class ParquetTable:
    """A Parquet file."""

    def __init__(self, path: Path, progress: Progress = silent) -> None:
        if not path.stat().st_size:
            raise InvalidData(f"{path} is empty")
        self._path, self._progress = path, progress
        with pq.ParquetFile(path) as file:
            self.columns = list(file.schema_arrow.names)
            self.rows = int(file.metadata.num_rows)

    def blocks(self, wanted: Sequence[str], types: Mapping[str, Any]) -> Iterator[list[Array]]:
        """Yield the wanted columns, a million rows at a time."""
        size, done = self._path.stat().st_size, 0
        with pq.ParquetFile(self._path) as file:
            for batch in file.iter_batches(_ROWS, columns=list(wanted)):
                done += len(batch)
                self._progress("reading", size * done // max(self.rows, 1), size)
                found = dict(zip(batch.schema.names, batch.columns, strict=True))
                yield [_cast(found[name], types.get(name)) for name in wanted]


def _cast(column: Array, kind: Any) -> Array:
    """Turn numbers that were stored otherwise into the kind wanted; ids stay as they are."""
    if kind is None or pa.types.is_string(kind):
        return column
    return column.cast(kind)


def _delimiter(line: str) -> str:
    if DOUBLE_COLON in line:
        return DOUBLE_COLON
    return max(_DELIMITERS, key=line.count)


def _header(line: str, delimiter: str) -> list[str]:
    if delimiter == DOUBLE_COLON:
        return line.split(DOUBLE_COLON)
    return next(csv.reader([line], delimiter=delimiter))


def _spread(columns: Sequence[str]) -> list[str]:
    """Name the empty columns that stand between two colons."""
    spread = [columns[0]]
    for place, name in enumerate(columns[1:]):
        spread += [f"between {place}", name]
    return spread
