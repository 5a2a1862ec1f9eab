"""Measured numbers as tables: in a JSON file, as plain text, as Markdown."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from clubcascade.errors import ClubCascadeError

FORMAT = 1
"""Number of the file format."""
FILE = "bench.json"


@dataclass(frozen=True, slots=True)
class Column:
    """One column: the key of its values, its heading, and how they are written.

    ``digits`` significant digits, or None for whole numbers and text as they are.
    """

    key: str
    heading: str
    digits: int | None = None


@dataclass(frozen=True)
class ResultTable:
    """What one part of the benchmark measured; rows are mappings by the columns' keys."""

    name: str
    title: str
    note: str
    columns: tuple[Column, ...]
    rows: tuple[Mapping[str, Any], ...]

    def cells(self) -> list[list[str]]:
        """Return every row as text, column by column."""
        return [
            [written(row.get(column.key), column.digits) for column in self.columns]
            for row in self.rows
        ]

    def markdown(self) -> str:
        """Return the table as Markdown."""
        numeric = [
            all(not isinstance(row.get(column.key), str) for row in self.rows)
            for column in self.columns
        ]
        lines = [
            [column.heading for column in self.columns],
            ["---:" if right else "---" for right in numeric],
            *self.cells(),
        ]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)


@dataclass(frozen=True)
class Report:
    """All tables of one run, the machine they come from, and whether it was a quick look."""

    machine: Mapping[str, Any]
    quick: bool
    tables: tuple[ResultTable, ...]

    def markdown(self) -> str:
        """Return all tables as Markdown, each in a section that the docs can include by name."""
        parts = [_section("machine", _machine_lines(self.machine, self.quick))]
        parts += [_section(t.name, f"{t.markdown()}\n\n{t.note}") for t in self.tables]
        return "\n".join(parts)

    def joined(self, older: Report | None) -> Report:
        """Return this report with the other tables of an older one, if both are of one kind."""
        if older is None or older.quick != self.quick or not _alike(older.machine, self.machine):
            return self
        mine = {table.name: table for table in self.tables}
        theirs = [mine.pop(table.name, table) for table in older.tables]
        return Report(self.machine, self.quick, (*theirs, *mine.values()))


def write(report: Report, folder: Path) -> list[Path]:
    """Write ``bench.json`` and ``bench.md`` into a folder; return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    contents = {
        FILE: json.dumps({"format": FORMAT, **asdict(report)}, indent=1) + "\n",
        "bench.md": report.markdown(),
    }
    paths = []
    for name, text in contents.items():
        path = folder / name
        aside = path.with_name(f"{name}.tmp")
        aside.write_text(text, encoding="utf-8")
        aside.replace(path)
        paths.append(path)
    return paths


def read(folder: Path) -> Report | None:
    """Read what :func:`write` wrote; None where there is no such file."""
    path = folder / FILE
    if not path.exists():
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["format"] != FORMAT:
            raise ValueError(f"format {found['format']}, not {FORMAT}")
        tables = tuple(
            ResultTable(
                **{
                    **table,
                    "columns": tuple(Column(**column) for column in table["columns"]),
                    "rows": tuple(table["rows"]),
                }
            )
            for table in found["tables"]
        )
        return Report(found["machine"], found["quick"], tables)
    except (ValueError, KeyError, TypeError) as error:
        raise ClubCascadeError(f"{path} is no result of this benchmark: {error}") from error


def written(value: Any, digits: int | None) -> str:
    """Write one value.

    >>> written(1234.5678, 3), written(0.012345, 2), written(3.7e-13, 2), written(None, 2)
    ('1,230', '0.012', '3.7e-13', '')
    >>> written(20000, None), written("met", None)
    ('20,000', 'met')
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if digits is None:
        return f"{value:,}"
    if value != 0 and abs(value) < 1e-4:
        return f"{value:.{digits - 1}e}"
    rounded = float(f"{value:.{digits}g}")
    if abs(rounded) >= 10 ** (digits - 1):
        return f"{rounded:,.0f}"
    places = digits - len(str(int(abs(rounded)))) if abs(rounded) >= 1 else None
    return f"{rounded:,.{places}f}" if places is not None else f"{rounded:.{digits}g}"


def _section(name: str, text: str) -> str:
    return f"<!-- --8<-- [start:{name}] -->\n{text}\n<!-- --8<-- [end:{name}] -->\n"


def _machine_lines(machine: Mapping[str, Any], quick: bool) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in machine["packages"].items())
    words: Sequence[str] = (
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB",
        f"Python {machine['python']}, {versions}",
        f"commit {machine['commit'] or 'unknown'}, {machine['finished']}"
        + (", a quick run (`--quick`)" if quick else ""),
    )
    return "\n".join(f"- {line}" for line in words)


def _alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(one.get(key) == other.get(key) for key in ("processor", "cores", "commit"))
