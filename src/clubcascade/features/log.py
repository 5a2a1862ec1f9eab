"""A table of clicks: who clicked what and when, as numbers into the ids of users and items."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse

from clubcascade import validation
from clubcascade.core import Floats, Ints
from clubcascade.datasets.columns import column_of, has_column
from clubcascade.datasets.files import Progress, silent
from clubcascade.errors import InvalidData
from clubcascade.features.cells import id_order, id_texts, natural_ids, seconds
from clubcascade.features.reduced import csr
from clubcascade.features.tables import Source, Table, open_table

Codes = npt.NDArray[np.int32]


@dataclass
class ClickLog:
    """Clicks in the order of their times, each pair of a user and an item once, the first time.

    Attributes
    ----------
    users, items
        The ids, in order.
    user, item
        For each click the place of its user and of its item among the ids.
    time
        Seconds since 1970; None if the table has no times.
    said
        What was left out or changed, a sentence each.
    """

    users: list[Hashable]
    items: list[Hashable]
    user: Codes
    item: Codes
    time: Floats | None
    said: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.user)

    def part(self, which: Any) -> ClickLog:
        """Return some of the clicks; users and items keep their places."""
        time = None if self.time is None else self.time[which]
        return ClickLog(self.users, self.items, self.user[which], self.item[which], time)

    def matrix(self) -> sparse.csr_array:
        """Return the 0/1 matrix of users and items."""
        return csr(self.user, self.item, (len(self.users), len(self.items)))

    def with_items(self, ids: Sequence[Hashable]) -> ClickLog:
        """Return the same clicks with these items, those clicked and others."""
        place = {each: number for number, each in enumerate(ids)}
        moved = np.array([place[each] for each in self.items], dtype=np.int32)
        item = moved[self.item] if len(moved) else self.item
        return ClickLog(self.users, list(ids), self.user, item, self.time, self.said)


def read_log(
    clicks: Table,
    *,
    user: str | None = None,
    item: str | None = None,
    time: str | None = None,
    rating: str | None = None,
    at_least: float | None = None,
    progress: Progress = silent,
) -> ClickLog:
    """Read a table of clicks, one row each.

    Parameters
    ----------
    clicks
        A path (CSV, Parquet, JSON lines), a frame of polars or pandas, an Arrow table, or a list
        of dicts.
    user, item, time
        The columns; by default those whose names say so. Without times the clicks have no order.
    rating, at_least
        Only rows whose rating is at least that count as clicks; by default every row.
    progress
        Told what is being done, how many rows are done, of how many.

    Examples
    --------
    >>> log = read_log([{"user": "ann", "item": "tea"}, {"user": "bob", "item": " tea"}])
    >>> log.users, log.items, log.said
    (['ann', 'bob'], ['tea'], ['ids of 1 row had blanks around them, which were taken off',
     'no column of times: the clicks have no order'])
    """
    if isinstance(clicks, ClickLog):
        return clicks
    source = open_table(clicks, "clicks")
    columns = _columns(source, user=user, item=item, time=time, rating=rating, at_least=at_least)
    reader = _Reader(source, columns, at_least)
    for first, rows in source.batches(list(columns.values()), progress):
        reader.add(first, rows)
    log = reader.finish()
    for role, name in (("user", user), ("item", item), ("time", time)):
        taken = columns.get(role)
        alike = [each for each in source.columns if each != taken and has_column(role, [each])]
        if name is None and alike:
            log.said.append(
                f"{role}s are those of column {taken!r}, not of {alike[0]!r}; to take another: "
                f"{role}"
            )
    if "rating" not in columns and has_column("rating", source.columns):
        name = column_of("rating", source.columns, None, source.name)
        log.said.append(
            f"every row counts as a click, whatever its {name!r}; to count good ones only: at_least"
        )
    return log


def _columns(source: Source, at_least: float | None, **named: str | None) -> dict[str, str]:
    wanted = ["user", "item"]
    if named["time"] is not None or has_column("time", source.columns):
        wanted.append("time")
    if at_least is not None:
        validation.number("at_least", at_least)
        wanted.append("rating")
    found = {r: column_of(r, source.columns, named[r], source.name) for r in wanted}
    for role, column in found.items():
        if list(found.values()).count(column) > 1:
            raise InvalidData(f"{role} must be a column of its own, got {column!r} twice")
    return found


class Ids:
    """Distinct ids, numbered as they come."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}

    def codes(self, column: pl.Series) -> Codes:
        """Return the numbers of ids; new ones get the next."""
        distinct = column.unique(maintain_order=True).to_list()
        numbers = [self.places.setdefault(each, len(self.places)) for each in distinct]
        found = column.replace_strict(distinct, numbers, return_dtype=pl.Int32)
        return found.to_numpy()

    def sorted(self) -> tuple[list[Hashable], Codes]:
        """Return the ids in their order, and the new number of each old one."""
        texts = list(self.places)
        order = id_order(texts)
        rank = np.empty(len(texts), np.int32)
        rank[order] = np.arange(len(texts), dtype=np.int32)
        return natural_ids([texts[place] for place in order]), rank


class _Reader:
    def __init__(self, source: Source, columns: dict[str, str], at_least: float | None) -> None:
        self.source, self.columns, self.at_least = source, columns, at_least
        self.ids = {"user": Ids(), "item": Ids()}
        self.parts: list[tuple[Codes, Codes, Floats]] = []
        self.rows = self.blanks = self.incomplete = self.low = 0

    def add(self, first: int, rows: pl.DataFrame) -> None:
        """Take the next rows; incomplete ones are counted and left out."""
        name = self.source.name
        user, blanks = id_texts(rows[self.columns["user"]], name)
        item, more = id_texts(rows[self.columns["item"]], name)
        self.rows, self.blanks = self.rows + len(rows), self.blanks + blanks + more
        there = (user.is_not_null() & item.is_not_null()).to_numpy()
        times = np.zeros(len(rows))
        if "time" in self.columns:
            times = seconds(rows[self.columns["time"]], name, first)
            there &= ~np.isnan(times)
        self.incomplete += len(rows) - int(there.sum())
        if "rating" in self.columns:
            rated = rows[self.columns["rating"]].cast(pl.Float64, strict=False).fill_null(-np.inf)
            liked = rated.to_numpy() >= self.at_least
            self.low += int((there & ~liked).sum())
            there &= liked
        mask = pl.Series(there)
        codes = [self.ids[r].codes(c.filter(mask)) for r, c in (("user", user), ("item", item))]
        self.parts.append((codes[0], codes[1], times[there]))

    def finish(self) -> ClickLog:
        """Return the log: in the order of times, every pair once."""
        user, item, time = (
            np.concatenate([part[n] for part in self.parts] or [np.zeros(0, np.int32)])
            for n in range(3)
        )
        self.parts.clear()
        if not len(user):
            rows = f"no row to use among {self.rows:,}" if self.rows else "no rows"
            raise InvalidData(f"{self.source.name} has {rows}{self._why()}")
        (users, user_rank), (items, item_rank) = (ids.sorted() for ids in self.ids.values())
        user, item = user_rank[user], item_rank[item]
        kept = first_of_pairs(user, item, time, len(items))
        said = list(self._said(len(user) - len(kept)))
        known = time[kept] if "time" in self.columns else None
        return ClickLog(users, items, user[kept], item[kept], known, said)

    def _why(self) -> str:
        name = self.columns.get("rating")
        return f": none has {name!r} of at least {self.at_least:g}" if self.low and name else ""

    def _said(self, repeated: int) -> Any:
        if self.blanks:
            yield f"ids of {_rows(self.blanks)} had blanks around them, which were taken off"
        if self.incomplete:
            yield f"{_rows(self.incomplete)} without a user, an item or a time: left out"
        if self.low:
            yield f"{_rows(self.low)} with a rating below {self.at_least:g}: left out"
        if repeated:
            yield f"{_rows(repeated)} repeating a user and an item: counted once"
        if "time" not in self.columns:
            yield "no column of times: the clicks have no order"


def first_of_pairs(user: Codes, item: Codes, time: Floats, n_items: int) -> Ints:
    """Return the clicks to keep, by time: the first of every pair."""
    order = np.argsort(time, kind="stable")
    pairs = user[order].astype(np.int64) * n_items + item[order]
    _, first = np.unique(pairs, return_index=True)
    first.sort()
    return order[first]


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"
