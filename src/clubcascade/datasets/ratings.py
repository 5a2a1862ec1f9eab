"""Anyone's table of interactions: a CSV or Parquet file with a user and an item column."""

import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from clubcascade import validation
from clubcascade.datasets.clicks import Clicks, readable
from clubcascade.datasets.columns import column_of
from clubcascade.datasets.files import PathLike, Progress, file_at, silent
from clubcascade.datasets.interactions import Interactions
from clubcascade.datasets.preparing import Prepared, prepare
from clubcascade.datasets.store import checked_name
from clubcascade.datasets.tables import RatingsFile
from clubcascade.errors import InvalidArgument, InvalidData

TERMS = "those of whoever made the file"


def prepare_interactions(
    path: PathLike,
    *,
    name: str | None = None,
    user: str | None = None,
    item: str | None = None,
    rating: str | None = None,
    at_least: float | None = None,
    time: str | None = None,
    folder: PathLike | None = None,
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
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", file.name.split(".")[0]).strip("-._")
    name = checked_name(name if name is not None else stem or "interactions")
    if at_least is not None:
        at_least = validation.number("at_least", at_least)
    elif rating is not None:
        raise InvalidArgument(
            f"at_least must say which ratings count where rating is given, got rating={rating!r} "
            f"and no at_least; without both, every row counts"
        )
    named = {"user": user, "item": item, "rating": rating, "at_least": at_least, "time": time}
    options: dict[str, Any] = {key: value for key, value in named.items() if value is not None}
    arguments = ["interactions", "--path", str(file), "--name", name]
    for key, value in options.items():
        arguments += [f"--{key.replace('_', '-')}", str(value)]

    def make(source: dict[str, Any]) -> Interactions:
        with readable(file):
            return read_clicks(RatingsFile(file, progress=progress), name, source, **options)

    parts = (name, "interactions", [file], make, arguments, TERMS)
    return prepare(*parts, options=options, folder=folder, progress=progress)


def read_clicks(
    table: RatingsFile,
    name: str,
    source: dict[str, Any],
    *,
    at_least: float | None = None,
    **named: str | None,
) -> Interactions:
    """Read the columns of a table that are needed; ``named`` are the columns that were named."""
    where, found = source["file"], table.columns()
    roles = ["user", "item"] + ["rating"] * (at_least is not None) + ["time"] * ("time" in named)
    wanted = {role: column_of(role, found, named.get(role), where) for role in roles}
    for role, column in wanted.items():
        if list(wanted.values()).count(column) > 1:
            raise InvalidArgument(f"{role} must be a column of its own, got {column!r} twice")
    kinds = {"user": pa.string(), "item": pa.string(), "rating": pa.float64()}
    types = {column: kinds[role] for role, column in wanted.items() if role in kinds}
    clicks, unliked = Clicks(), 0
    times, ratings = _Span(), _Span()
    for block in table.blocks(list(wanted.values()), types):
        columns = dict(zip(wanted, block, strict=True))
        users, items = columns["user"], columns["item"]
        if "time" in columns:
            times.add(columns["time"])
        if "rating" in columns:
            ratings.add(columns["rating"])
            liked = pc.greater_equal(columns["rating"], at_least)
            users, items = users.filter(liked), items.filter(liked)
            unliked += len(columns["user"]) - len(users)
        clicks.add(users, items)
    if unliked and not clicks.rows:
        best = ratings.high
        raise InvalidData(f"{where} has no rating of at least {at_least:g}; its best is {best}")
    notes: dict[str, Any] = {"unliked": unliked} if at_least is not None else {}
    if times.low is not None:
        notes |= {"first": str(times.low), "last": str(times.high)}
    return clicks.finish(name, source | notes)


class _Span:
    """The smallest and the largest value of a column; None while there is none."""

    low: Any = None
    high: Any = None

    def add(self, column: Any) -> None:
        seen = pc.min_max(column).as_py()
        if seen["min"] is not None:
            self.low = seen["min"] if self.low is None else min(self.low, seen["min"])
            self.high = seen["max"] if self.high is None else max(self.high, seen["max"])
