"""Anyone's table of interactions: a CSV or Parquet file with a user and an item column."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import Any

from clubcascade import validation
from clubcascade.datasets.arrow import pa, pc, readable
from clubcascade.datasets.columns import column_of
from clubcascade.datasets.folder import checked_name
from clubcascade.datasets.gathering import Gathering
from clubcascade.datasets.interactions import Interactions
from clubcascade.datasets.preparing import Folder, Prepared, Recipe, file_at, prepare
from clubcascade.datasets.tables import Table, open_table
from clubcascade.datasets.watching import Progress, silent
from clubcascade.errors import InvalidArgument, InvalidData

TERMS = "those of whoever made the file"


def prepare_interactions(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    user: str | None = None,
    item: str | None = None,
    rating: str | None = None,
    at_least: float | None = None,
    time: str | None = None,
    folder: Folder = None,
    progress: Progress = silent,
) -> Prepared:
    """Prepare a table of interactions: one row a click (a rating, a purchase, a view).

    Parameters
    ----------
    path
        A CSV file (also with tabs, semicolons or bars, also ``.gz``) or a Parquet file.
    name
        What to call the data set; by default the file's name.
    user, item
        The columns of users and items; by default those whose names say so.
    rating, at_least
        Only rows whose rating is at least that count as clicks; by default every row.
    time
        A column of times; the first and the last are noted, nothing else.
    folder
        The folder of prepared data.
    progress
        Told what is being done, how many bytes of how many.
    """
    file = file_at(path)
    name = checked_name(name if name is not None else _stem(file))
    if at_least is not None:
        at_least = validation.number("at_least", at_least)
    elif rating is not None:
        raise InvalidArgument(
            f"at_least must say which ratings count where rating is given, got rating={rating!r} "
            f"and no at_least; without both, every row counts"
        )
    named = {"user": user, "item": item, "rating": rating, "at_least": at_least, "time": time}
    options: dict[str, Any] = {key: value for key, value in named.items() if value is not None}
    recipe = Recipe(name, "interactions", (file,), options, TERMS, _command(file, name, options))

    def make(source: dict[str, Any]) -> Interactions:
        with readable(file):
            return gather(open_table(file, progress=progress), name, source, **options)

    return prepare(recipe, make, folder=folder, progress=progress)


def gather(
    table: Table,
    name: str,
    source: dict[str, Any],
    *,
    user: str | None = None,
    item: str | None = None,
    rating: str | None = None,
    at_least: float | None = None,
    time: str | None = None,
) -> Interactions:
    """Read the columns of a table that are needed, and gather them."""
    where = source["file"]
    wanted = {"user": column_of("user", table.columns, user, where)}
    wanted["item"] = column_of("item", table.columns, item, where)
    types: dict[str, Any] = {wanted["user"]: pa.string(), wanted["item"]: pa.string()}
    if at_least is not None:
        wanted["rating"] = column_of("rating", table.columns, rating, where)
        types[wanted["rating"]] = pa.float64()
    if time is not None:
        wanted["time"] = column_of("time", table.columns, time, where)
    _check_distinct(wanted)
    gathering = Gathering()
    low: Any = None
    high: Any = None
    best: float | None = None
    unliked = 0
    for columns in table.blocks(list(wanted.values()), types):
        block = dict(zip(wanted, columns, strict=True))
        if "time" in block and (span := pc.min_max(block["time"]).as_py())["min"] is not None:
            low = span["min"] if low is None else min(low, span["min"])
            high = span["max"] if high is None else max(high, span["max"])
        users, items = block["user"], block["item"]
        if "rating" in block:
            liked = pc.fill_null(pc.greater_equal(block["rating"], at_least), False)
            top = pc.max(block["rating"]).as_py()
            best = top if best is None or (top is not None and top > best) else best
            unliked += len(users)
            users, items = users.filter(liked), items.filter(liked)
            unliked -= len(users)
        gathering.add(users, items)
    if unliked and not gathering.rows:
        raise InvalidData(f"{where} has no rating of at least {at_least:g}; its best is {best}")
    notes: dict[str, Any] = {"unliked": unliked} if at_least is not None else {}
    if low is not None:
        notes |= {"first": str(low), "last": str(high)}
    return gathering.finish(name, source | notes)


def _check_distinct(wanted: dict[str, str]) -> None:
    names = list(wanted.values())
    for role, name in wanted.items():
        if names.count(name) > 1:
            raise InvalidArgument(f"{role} must be a column of its own, got {name!r} twice")


def _stem(file: Path) -> str:
    """Return the file's name without endings, as a name of a data set."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", file.name.split(".")[0]).strip("-._")
    return stem or "interactions"


def _command(file: Path, name: str, options: dict[str, Any]) -> str:
    words = ["clubcascade", "data", "interactions", "--path", str(file), "--name", name]
    for key, value in options.items():
        words += [f"--{key.replace('_', '-')}", str(value)]
    return shlex.join(words)
