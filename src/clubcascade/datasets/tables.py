"""Tables of ratings in text or Parquet files, plain or packed, read block by block."""

import csv
import gzip
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from clubcascade.datasets.clicks import Array
from clubcascade.datasets.files import Progress, opened, silent
from clubcascade.errors import InvalidData

TEXT = (".csv", ".tsv", ".txt", ".dat", ".csv.gz", ".tsv.gz")
PARQUET = (".parquet", ".pq")

_BLOCK = 8 << 20
_HEAD = 1 << 16
_ROWS = 1 << 20
_DELIMITERS = (",", "\t", ";", "|")
_DOUBLE_COLON = "::"


@dataclass(frozen=True)
class RatingsFile:
    """A table of ratings: text with one row a line, or Parquet.

    Text may be packed by gzip, or be the ``member`` of a zip. ``header`` names the columns where
    the file has no header line.
    """

    path: Path
    member: str = ""
    header: Sequence[str] = ()
    progress: Progress = silent

    def __post_init__(self) -> None:
        if not self.member and not self.path.name.lower().endswith((*TEXT, *PARQUET)):
            endings = ", ".join((*TEXT, *PARQUET))
            raise InvalidData(f"path must end in {endings}, got {self.path.name!r}")

    def __str__(self) -> str:
        return f"{self.path}/{self.member}" if self.member else str(self.path)

    @property
    def parquet(self) -> bool:
        """Whether it is a Parquet file."""
        return not self.member and self.path.name.lower().endswith(PARQUET)

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open the bytes of the table."""
        with ExitStack() as stack:
            stream: IO[bytes] = stack.enter_context(opened(self.path, self.progress))
            if self.member:
                archive = stack.enter_context(zipfile.ZipFile(stream))
                stream = stack.enter_context(archive.open(self.member))
            elif self.path.name.lower().endswith(".gz"):
                stream = cast(IO[bytes], stack.enter_context(gzip.open(stream)))
            yield stream

    def count_rows(self) -> int:
        """Count the rows; a line of text is one."""
        if self.parquet:
            return int(pq.read_metadata(self.path).num_rows)
        lines, last = 0, b"\n"
        with self.open() as stream:
            while piece := stream.read(1 << 22):
                lines += piece.count(b"\n")
                last = piece[-1:]
        return lines + (last != b"\n") - (not self.header)

    def columns(self) -> list[str]:
        """Return the names of the columns."""
        if self.parquet:
            return list(pq.read_schema(self.path).names)
        return list(self.header) or _split(*self._first_line())

    def blocks(self, wanted: Sequence[str], types: Mapping[str, Any]) -> Iterator[list[Array]]:
        """Yield the wanted columns, some hundred thousand rows at a time."""
        if self.parquet:
            with self.open() as stream, pq.ParquetFile(stream, pre_buffer=False) as file:
                for batch in file.iter_batches(_ROWS, columns=list(wanted)):
                    yield [_cast(batch[name], types.get(name)) for name in wanted]
            return
        read, *others = self._text_options(wanted, types)
        try:
            with self.open() as stream:
                for batch in pa_csv.open_csv(stream, read, *others):
                    yield batch.columns
        except pa.ArrowInvalid as error:
            raise InvalidData(f"{self} cannot be read: {self._reason(read, others)}") from error

    def _reason(self, read: Any, others: Sequence[Any]) -> str:
        """Read a damaged text again, in one thread: then Arrow counts the rows."""
        read.use_threads = False
        names = read.column_names or self.columns()
        try:
            with self.open() as stream:
                for _ in pa_csv.open_csv(stream, read, *others):
                    pass
        except pa.ArrowInvalid as error:
            text = " ".join(str(error).split())[:300]
            return re.sub(r"CSV column #(\d+)", lambda n: f"column {names[int(n[1])]!r}", text)
        return "it was changed meanwhile"

    def _text_options(self, wanted: Sequence[str], types: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return Arrow's options; it knows no ``::``, so there is an empty column between two."""
        line, delimiter = self._first_line()
        double = delimiter == _DOUBLE_COLON
        read = pa_csv.ReadOptions(block_size=_BLOCK)
        if double or self.header:
            names = list(self.header) or _split(line, delimiter)
            spread = [part for name in names for part in (name, f"after {name}")][:-1]
            read.column_names = spread if double else names
            read.skip_rows = 0 if self.header else 1
        parse = pa_csv.ParseOptions(
            delimiter=":" if double else delimiter,
            quote_char=False if double else '"',
            newlines_in_values=not double,
        )
        convert = pa_csv.ConvertOptions(include_columns=list(wanted), column_types=dict(types))
        return read, parse, convert

    def _first_line(self) -> tuple[str, str]:
        """Return the first line, and what separates its columns."""
        with self.open() as stream:
            head = stream.read(_HEAD).decode("utf-8-sig", errors="replace")
        line = head.lstrip("\r\n").split("\n", 1)[0].rstrip("\r")
        if not line.strip():
            raise InvalidData(f"{self} is empty")
        return line, _DOUBLE_COLON if _DOUBLE_COLON in line else max(_DELIMITERS, key=line.count)


def _split(line: str, delimiter: str) -> list[str]:
    if delimiter == _DOUBLE_COLON:
        return line.split(_DOUBLE_COLON)
    return next(csv.reader([line], delimiter=delimiter))


def _cast(column: Array, kind: Any) -> Array:
    """Turn numbers that were stored otherwise into the kind wanted; ids stay as they are."""
    return column if kind is None or pa.types.is_string(kind) else column.cast(kind)
