"""Logs with lists: what was shown, and what of it was clicked, learned exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from clubcascade.core import Catalog, Feedback, Floats, Ints, Policy
from clubcascade.datasets.columns import column_of, has_column
from clubcascade.datasets.files import Progress, silent
from clubcascade.errors import InvalidArgument, InvalidData
from clubcascade.features import FeatureMaker, TableFeatures
from clubcascade.features.cells import id_texts, seconds
from clubcascade.features.encoders import parts_of, separator_for
from clubcascade.features.log import ClickLog, Ids, first_of_pairs
from clubcascade.features.tables import Source
from clubcascade.training.choosing import TABLE_WEIGHTS, Setting, by_item, feature_makers
from clubcascade.training.measures import Held, worth

CHUNK = 10_000
"""Lists that are learned at a time."""


@dataclass(frozen=True)
class ListLog:
    """Lists in the order of their times: whose, what was shown, what was clicked.

    Attributes
    ----------
    log
        The clicks.
    user, time
        The user and the time of each list.
    starts, shown, clicked
        List n has the items ``shown[starts[n] : starts[n + 1]]``; ``clicked`` tells which of them.
    """

    log: ClickLog
    user: Ints
    time: Floats
    starts: Ints
    shown: Ints
    clicked: Any

    def with_items(self, log: ClickLog) -> ListLog:
        """Return the same lists for a log whose items have other places."""
        place = {str(each): row for row, each in enumerate(log.items)}
        moved = np.array([place[str(each)] for each in self.log.items])
        return replace(self, log=log, shown=moved[self.shown])

    def learn(
        self,
        fit: Any,
        log: ClickLog,
        table: TableFeatures | None,
        setting: Setting,
        until: float,
        progress: Progress = silent,
    ) -> tuple[Policy, FeatureMaker, Floats]:
        """Return a policy that learned the lists before a time, and features of some clicks."""
        ((_, _, maker),) = feature_makers(
            log, log.matrix(), table, (setting.n_features,), (setting.table_weight,), fit.seed
        )
        vectors = by_item(maker, log.items)
        catalog = Catalog(vectors, ids=list(log.items))
        policy = fit.new(setting, maker.n_features)
        last = int(np.searchsorted(self.time, until))
        for first, end in self._chunks(last):
            n = int(self.starts[first + 1] - self.starts[first])
            rows = self.shown[self.starts[first] : self.starts[end]].reshape(end - first, n)
            users = [self.log.users[each] for each in self.user[first:end].tolist()]
            policy.update_many(users, catalog[rows], self._feedback(first, end))
            progress("learning lists", end, last)
        return policy, maker, vectors

    def _chunks(self, last: int) -> Iterator[tuple[int, int]]:
        """Yield stretches of lists of one length."""
        lengths = np.diff(self.starts)[:last]
        changes = np.flatnonzero(np.diff(lengths)) + 1
        for start, end in zip([0, *changes.tolist()], [*changes.tolist(), last], strict=True):
            for first in range(start, end, CHUNK):
                yield first, min(first + CHUNK, end)

    def _feedback(self, first: int, end: int) -> list[int | None | Feedback]:
        found: list[int | None | Feedback] = []
        for n in range(first, end):
            places = np.flatnonzero(self.clicked[self.starts[n] : self.starts[n + 1]]).tolist()
            if len(places) > 1:
                found.append(Feedback(places[-1] + 1, tuple(places)))
            else:
                found.append(places[0] if places else None)
        return found

    def choose(
        self,
        fit: Any,
        log: ClickLog,
        held: Held,
        table: TableFeatures | None,
        lengths: Sequence[int],
        k: int,
        until: float,
        progress: Progress = silent,
    ) -> Setting:
        """Return the number of features of the best lists on held-out clicks."""
        best = Setting(lengths[0], 1.0, 0.0, 1.0)
        weights = TABLE_WEIGHTS if table is not None else (0.0,)
        tried = [(n, weight) for n in lengths for weight in weights]
        for step, (n, weight) in enumerate(tried if len(held.users) else [], start=1):
            setting = Setting(n, 1.0, weight, 1.0)
            policy, _, vectors = self.learn(fit, log, table, setting, until)
            found = worth(held, policy_scores(policy, log, vectors), k).mean("ndcg")
            if not found <= best.ndcg:
                best = replace(setting, ndcg=found)
            progress("choosing features", step, len(tried))
        return best


def policy_scores(policy: Policy, log: ClickLog, vectors: Floats) -> Any:
    """Return a function from users' places to the scores of all items."""

    def scores(users: Ints) -> Floats:
        known: Any = policy
        weights = [known.user_weights(log.users[user]) for user in users.tolist()]
        return np.array(weights) @ vectors.T

    return scores


def has_lists(source: Source) -> bool:
    """Tell whether a table has the columns of lists."""
    return has_column("shown", source.columns) and has_column("clicked", source.columns)


def read_lists(source: Source, named: dict[str, Any], progress: Progress = silent) -> ListLog:
    """Read a log of lists: user, shown (ids), clicked (ids of these, empty for none), time."""
    if named.get("at_least") is not None:
        raise InvalidArgument("at_least must be left out where lists are given, got a number")
    name, columns = source.name, {}
    for role in ("user", "shown", "clicked"):
        columns[role] = column_of(role, source.columns, named.get(role), name)
    if named.get("time") is not None or has_column("time", source.columns):
        columns["time"] = column_of("time", source.columns, named.get("time"), name)
    reader = _Reader(name, columns)
    for first, rows in source.batches(list(columns.values()), progress):
        reader.add(first, rows)
    return reader.finish()


class _Reader:
    def __init__(self, name: str, columns: dict[str, str]) -> None:
        self.name, self.columns = name, columns
        self.users, self.items = Ids(), Ids()
        self.parts: list[tuple[Any, ...]] = []
        self.left_out = 0

    def add(self, first: int, rows: pl.DataFrame) -> None:
        """Take the next lists; those without a user, a time or an item are counted and left out."""
        user, _ = id_texts(rows[self.columns["user"]], self.name)
        shown, clicked = rows[self.columns["shown"]], rows[self.columns["clicked"]]
        flat = parts_of(shown, separator_for(shown)).drop_nulls("value")
        times = np.arange(first, first + len(rows), dtype=np.float64)
        if "time" in self.columns:
            times = seconds(rows[self.columns["time"]], self.name, first)
        length = np.bincount(flat["row"].to_numpy(), minlength=len(rows))
        there = user.is_not_null().to_numpy() & ~np.isnan(times) & (length > 0)
        self.left_out += len(rows) - int(there.sum())
        flat = flat.filter(pl.Series(there[flat["row"].to_numpy()]))
        marks = parts_of(clicked, separator_for(clicked)).drop_nulls("value")
        marks = marks.filter(pl.Series(there[marks["row"].to_numpy()], dtype=pl.Boolean))
        hit = self._hits(first, flat, marks)
        codes = self.users.codes(user.filter(pl.Series(there)))
        self.parts.append(
            (codes, times[there], length[there], self.items.codes(flat["value"]), hit)
        )

    def _hits(self, first: int, flat: pl.DataFrame, marks: pl.DataFrame) -> Any:
        joined = flat.join(
            marks.unique().with_columns(hit=pl.lit(True)), on=["row", "value"], how="left",
            maintain_order="left",
        )  # fmt: skip
        lost = marks.join(flat, on=["row", "value"], how="anti")
        if len(lost):
            raise InvalidData(
                f"{self.name} must have clicks on shown items in column {self.columns['clicked']!r}"
                f", got {lost['value'][0]!r} in row {first + int(lost['row'][0]) + 1}"
            )
        return joined["hit"].fill_null(False).to_numpy()

    def finish(self) -> ListLog:
        """Return the lists in the order of their times."""
        if not sum(len(part[0]) for part in self.parts):
            raise InvalidData(f"{self.name} has no row with a user and a list")
        user, time, length, shown, hit = (
            np.concatenate([part[n] for part in self.parts]) for n in range(5)
        )
        (users, user_rank), (items, item_rank) = self.users.sorted(), self.items.sorted()
        order = np.argsort(time, kind="stable")
        old = np.concatenate([[0], np.cumsum(length)])
        starts = np.concatenate([[0], np.cumsum(length[order])]).astype(np.int64)
        place = np.arange(starts[-1]) + np.repeat(old[:-1][order] - starts[:-1], length[order])
        user, time = user_rank[user][order].astype(np.int64), time[order]
        shown, hit = item_rank[shown][place].astype(np.int64), hit[place]
        at = np.repeat(np.arange(len(user)), length[order])[hit]
        pairs = user[at].astype(np.int32), shown[hit].astype(np.int32), time[at]
        kept = first_of_pairs(*pairs, len(items))
        said = [f"{len(user):,} lists of {len(users):,} users: learned exactly, in their order"]
        if self.left_out:
            said.append(f"{self.left_out:,} rows without a user, a time or an item: left out")
        log = ClickLog(users, items, pairs[0][kept], pairs[1][kept], pairs[2][kept], said)
        return ListLog(log, user, time, starts, shown, hit)
