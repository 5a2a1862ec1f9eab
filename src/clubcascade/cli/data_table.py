"""What is said about prepared data: a few lines after preparing, a table of all."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from clubcascade.datasets import Prepared, store
from clubcascade.errors import ClubCascadeError


def summary(done: Prepared) -> Iterator[str]:
    """Yield lines on what was prepared."""
    data, source = done.data, done.data.source
    yield (
        f"{data.name}: {data.n_clicks:,} clicks of {data.n_users:,} users on {data.n_items:,} "
        f"items, density {data.density:.4g}"
    )
    for line in _notes(source, data.n_clicks):
        yield f"  {line}"
    if source.get("terms"):
        yield f"  terms: {source['terms']}"
    yield f"{'wrote' if done.fresh else 'was there already:'} {done.path}"


def _notes(source: Mapping[str, Any], clicks: int) -> Iterator[str]:
    """Yield what someone should know about the rows of the file."""
    rows = source.get("rows")
    if source.get("kind") == "pools" or rows is None:
        return
    if source.get("incomplete"):
        yield f"left out: {_rows(source['incomplete'])} without a user or an item"
    if source.get("others"):
        yield f"left out: {_rows(source['others'])} of other businesses"
    if source.get("unliked"):
        yield f"left out: {_rows(source['unliked'])} with a lower rating or none"
    if (repeated := source.get("used", clicks) - clicks) > 0:
        yield f"counted once: {_rows(repeated)} repeating a user and an item"
    if "first" in source:
        yield f"times: {source['first']} to {source['last']}"
    if (expected := source.get("expected")) and expected != rows:
        yield f"note: the file has {rows:,} ratings; this edition was published with {expected:,}"


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"


def shown(files: Mapping[str, Path]) -> Table:
    """Return the table of prepared data; a file that cannot be used is shown with the reason."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("name", style="bold cyan", no_wrap=True)
    for heading in ("users", "items", "clicks", "density"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("made from", overflow="fold")
    table.add_column("when", no_wrap=True)
    for name, path in files.items():
        table.add_row(name, *_cells(path))
    return table


def _cells(path: Path) -> list[str]:
    try:
        header = store.read_header(path)
    except (ClubCascadeError, OSError) as error:
        return ["", "", "", "", " ".join(str(error).split()), ""]
    if header is None:
        return ["", "", "", "", "not prepared: give its path, or keep it with data pools", ""]
    counts, source = header["counts"], header["source"]
    users, items, clicks = (int(counts[key]) for key in ("users", "items", "clicks"))
    density = f"{clicks / (users * items):.4g}"
    origin = f"{source.get('kind', '?')}: {source.get('file', '?')}"
    return [f"{users:,}", f"{items:,}", f"{clicks:,}", density, origin, _when(source)]


def _when(source: Mapping[str, Any]) -> str:
    """Write a time as people here read it.

    >>> _when({"prepared": "no time"}), len(_when({"prepared": "2026-11-15T10:00:00+00:00"}))
    ('', 16)
    """
    try:
        moment = datetime.fromisoformat(str(source.get("prepared")))
    except ValueError:
        return ""
    return moment.astimezone().strftime("%Y-%m-%d %H:%M")
