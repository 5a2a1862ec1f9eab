"""Tables from files and frames, read with polars; what is wrong is named by row and column."""

from __future__ import annotations

import csv
import gzip
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import IO, Any, cast
from uuid import UUID

import polars as pl
from polars.exceptions import PolarsError

from clubcascade.datasets.files import Progress, file_at, silent
from clubcascade.errors import InvalidArgument, InvalidData
from clubcascade.validation import brief

Table = Any
"""A path (CSV, Parquet, JSON lines), a frame of polars or pandas, an Arrow table, or dicts."""

TEXT = (".csv", ".tsv", ".txt", ".dat", ".csv.gz", ".tsv.gz")
PARQUET = (".parquet", ".pq")
JSON_LINES = (".jsonl", ".ndjson")
BATCH = 1_000_000
"""Rows that are read at a time."""
_DELIMITERS = (",", "\t", ";", "|")
_LONGEST_LINE = 1 << 24
"""Bytes of the line of column names, at the most."""


@dataclass(frozen=True)
class Source:
    """A table that can be read: its name in messages, its columns, and a lazy frame."""

    name: str
    columns: list[str]
    lazy: pl.LazyFrame
    path: Path | None = None
    delimiter: str = ","

    def frame(self, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Read some columns, by default all, at once."""
        with self.readable():
            chosen = self.lazy if columns is None else self.lazy.select(columns)
            return chosen.collect()

    def batches(
        self, columns: Sequence[str], progress: Progress = silent
    ) -> Iterator[tuple[int, pl.DataFrame]]:
        """Yield (number of the first row, rows), a million at a time."""
        chosen = self.lazy.select(columns)
        with self.readable():
            total = int(chosen.select(pl.len()).collect().item())
            done = 0
            for rows in _batches(chosen):
                yield done, rows
                done += len(rows)
                progress(f"reading {self.name}", done, max(done, total))

    @contextmanager
    def readable(self) -> Iterator[None]:
        """Turn what polars says of a broken file into a sentence that names it."""
        try:
            yield
        except (PolarsError, OSError) as error:
            if self.path is not None and "utf-8" in str(error).lower():
                raise InvalidData(self._not_utf8()) from error
            words = " ".join(str(error).split("You might want")[0].split())[:300]
            if self.path is not None and ("more fields" in words or "could not parse" in words):
                words = self._broken_row() or words
            if self.path is not None and self.path.name.lower().endswith(JSON_LINES):
                _check_json_lines(self.path, most=sys.maxsize)
            raise InvalidData(f"{self.name} cannot be read: {words}") from error

    def _broken_row(self) -> str:
        assert self.path is not None
        row, wide = -1, len(self.columns)
        with _opened(self.path) as stream:
            text = (line.decode(errors="replace") for line in stream)
            lines = csv.reader(text, delimiter=self.delimiter, strict=True)
            try:
                for row, cells in enumerate(lines):
                    if len(cells) > wide:
                        return f"row {row} has {len(cells)} columns, its first line {wide}"
            except csv.Error:
                return f"row {row + 1} has a quotation mark that does not close its cell"
        return ""

    def _not_utf8(self) -> str:
        assert self.path is not None
        with _opened(self.path) as stream:
            for row, line in enumerate(stream):
                try:
                    line.decode()
                except UnicodeDecodeError as error:
                    place = line[: error.start].decode().count(self.delimiter)
                    column = self.columns[place] if place < len(self.columns) else "?"
                    return (
                        f"{self.name} must be UTF-8, got the byte 0x{line[error.start]:02x} in row "
                        f"{row}, column {column!r}; write the file anew as UTF-8, for example with "
                        f"iconv -f LATIN1 -t UTF-8"
                    )
        return f"{self.name} must be UTF-8"


def _batches(lazy: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    if hasattr(lazy, "collect_batches"):
        yield from lazy.collect_batches(chunk_size=BATCH)
    else:  # earlier versions of polars
        yield from lazy.collect().iter_slices(BATCH)


def open_table(table: Table, name: str = "the table") -> Source:
    """Return the source of a table; ``name`` is that of a table in memory.

    >>> open_table([{"item": "tea", "price": 3}]).columns
    ['item', 'price']
    """
    if isinstance(table, Source):
        return table
    if isinstance(table, str | os.PathLike):
        return _open_file(file_at(table))
    if isinstance(table, pl.LazyFrame | pl.DataFrame):
        lazy = table.lazy()
    elif hasattr(type(table), "column_names"):  # Arrow
        _check_distinct(name, table.column_names)
        lazy = cast(pl.DataFrame, pl.from_arrow(table)).lazy()
    elif type(table).__module__.split(".")[0] == "pandas":
        _check_distinct(name, [str(column) for column in table.columns])
        named = [each for each in table.index.names if each is not None]
        lazy = _of_pandas(name, table.reset_index() if named else table).lazy()
    elif isinstance(table, Mapping | Sequence):
        lazy = _of_rows(name, table).lazy()
    else:
        raise InvalidArgument(
            f"{name} must be a path, a frame of polars or pandas, an Arrow table or a list of "
            f"dicts, got {brief(table)}"
        )
    columns = lazy.collect_schema().names()
    if not columns:
        raise InvalidData(f"{name} has no columns")
    return Source(name, columns, lazy)


def _of_pandas(name: str, table: Any) -> pl.DataFrame:
    """Convert column by column: one that holds numbers and text becomes text."""
    columns = {}
    for column in table.columns:
        try:
            columns[str(column)] = pl.Series(pl.from_pandas(table[column]))
        except (ValueError, TypeError, PolarsError):  # Arrow's errors are such
            columns[str(column)] = pl.Series(_texts(name, str(column), table[column].tolist()))
    return pl.DataFrame(columns)


def _texts(name: str, column: str, cells: list[Any]) -> list[str | None]:
    for row, cell in enumerate(cells, start=1):
        if not isinstance(cell, str | int | float | Decimal | date | UUID | None):
            raise InvalidData(
                f"{name} must hold text or numbers in column {column!r}, got a "
                f"{type(cell).__name__} in row {row}"
            )
    return [None if cell is None or cell != cell else str(cell) for cell in cells]


def _of_rows(name: str, rows: Any) -> pl.DataFrame:
    if not isinstance(rows, Mapping) and not all(isinstance(row, Mapping) for row in rows):
        raise InvalidArgument(f"{name} must be a list of dicts, one per row, got {brief(rows)}")
    try:
        return pl.DataFrame(rows, infer_schema_length=None, strict=False)
    except (PolarsError, TypeError, ValueError) as error:
        raise InvalidData(f"{name} cannot be read: {' '.join(str(error).split())[:300]}") from error


def _open_file(path: Path) -> Source:
    lower = path.name.lower()
    if lower.endswith(TEXT):
        return _open_text(path)
    if lower.endswith(PARQUET):
        source = Source(path.name, [], pl.scan_parquet(path), path)
    elif lower.endswith(JSON_LINES):
        _check_json_lines(path)
        source = Source(path.name, [], pl.scan_ndjson(path, infer_schema_length=None), path)
    else:
        endings = ", ".join((*TEXT, *PARQUET, *JSON_LINES))
        raise InvalidData(f"path must end in one of {endings}, got {path.name!r}")
    with source.readable():
        columns = source.lazy.collect_schema().names()
    return Source(path.name, columns, source.lazy, path)


def _open_text(path: Path) -> Source:
    with _opened(path) as stream:
        try:
            head = stream.readline(_LONGEST_LINE).decode("utf-8-sig", errors="replace")
        except (OSError, EOFError) as error:
            raise InvalidData(f"{path.name} cannot be read: {error}") from error
    line = head.rstrip("\r\n")
    if not line.strip():
        raise InvalidData(f"{path.name} must begin with a line of column names, got an empty line")
    delimiter = max(_DELIMITERS, key=line.count)
    if "\0" in line:
        raise InvalidData(f"{path.name} must be text with one row a line, got binary data")
    if "\r" in line:
        raise InvalidData(f"{path.name} must end its lines with a newline, got carriage returns")
    columns = [name.strip() for name in next(csv.reader([line], delimiter=delimiter))]
    _check_distinct(path.name, columns)
    with Source(path.name, columns, pl.LazyFrame(), path, delimiter).readable():
        lazy = pl.scan_csv(  # unpacks what is compressed, so that it may fail already
            path,
            separator=delimiter,
            infer_schema=False,
            has_header=True,
            with_column_names=lambda _: columns,
        )
    return Source(path.name, columns, lazy, path, delimiter)


def _opened(path: Path) -> IO[bytes]:
    if path.name.lower().endswith(".gz"):
        return cast(IO[bytes], gzip.open(path))
    return path.open("rb")


def _check_json_lines(path: Path, most: int = 1000) -> None:
    """Name the first line that is no object: polars does not count them."""
    with path.open("rb") as stream:
        for row, line in enumerate(stream, start=1):
            if row > most:
                return
            try:
                if not isinstance(json.loads(line), dict):
                    raise ValueError("no object")
            except (ValueError, RecursionError) as error:
                if line.strip():
                    raise InvalidData(
                        f"{path.name} must have one JSON object a line, got {brief(line[:60])} in "
                        f"row {row}: {error}"
                    ) from None


def _check_distinct(name: str, columns: Sequence[str]) -> None:
    column, times = Counter(columns).most_common(1)[0] if columns else ("", 0)
    if times > 1:
        places = [str(place + 1) for place, each in enumerate(columns) if each == column]
        raise InvalidData(
            f"{name} must have columns of distinct names, got {column!r} in columns "
            f"{' and '.join(places[:5])} of its first line"
        )
