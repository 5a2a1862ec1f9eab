"""``train``: features, a warm start, and a table of what it is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from clubcascade import validation
from clubcascade.core import Floats, Policy
from clubcascade.datasets.files import Progress, silent
from clubcascade.errors import InvalidArgument, InvalidData
from clubcascade.features import FeatureMaker, TableFeatures, from_table
from clubcascade.features.log import ClickLog, read_log
from clubcascade.features.rows import id_column
from clubcascade.features.table import read_items
from clubcascade.features.tables import Table, open_table
from clubcascade.policies.cohort_cascade import CohortCascade
from clubcascade.training import choosing, rivals
from clubcascade.training.fitting import Fit, Losses
from clubcascade.training.items import item_table
from clubcascade.training.lists import ListLog, has_lists, policy_scores, read_lists
from clubcascade.training.measures import Held, Split, Worth, last_part, worth
from clubcascade.training.model import Trained
from clubcascade.training.table import OURS, POPULARITY, WorthTable

MOST_JUDGED, MOST_SCORES = 5000, 200_000_000
"""Users whose lists are judged, at the most, and scores of items for them."""
TABLE_FEATURES = 17
"""Features from the table of items, at the most."""


def train(
    clicks: Table,
    items: Table | None = None,
    *,
    policy: str | type[Policy] = "cohort_cascade",
    params: Mapping[str, Any] | None = None,
    k: int = 10,
    n_features: int | None = None,
    weight: float | None = None,
    strength: float | None = None,
    user: str | None = None,
    item: str | None = None,
    time: str | None = None,
    rating: str | None = None,
    at_least: float | None = None,
    item_id: str | None = None,
    kinds: Mapping[str, str] | None = None,
    held_out: float = 0.2,
    split: Split = "log",
    als: bool | Mapping[str, Any] | None = None,
    judge: bool = True,
    seed: int = 0,
    progress: Progress = silent,
) -> Trained:
    """Learn from a table of clicks, and say what that is worth.

    The last part of the log is held out. On the part before, the number of features and the weight
    of what was not clicked are chosen, again by what came last. Lists are judged on the held-out
    part, beside popularity and others. At last everything is learned from all clicks.

    Parameters
    ----------
    clicks
        One row a click (user, item, and a time if there is one): a path (CSV, Parquet, JSON
        lines), a frame of polars or pandas, or an Arrow table. With columns ``shown`` and
        ``clicked`` it is a log of lists, and learned exactly.
    items
        A table of the items: an id and any other columns. Items never clicked are items as well.
    policy, params
        The policy, by name or class, and its parameters but for ``n_features``.
    k
        Length of the lists that are judged.
    n_features
        Number of features from clicks; by default the best of 9, 17 and 33.
    weight
        What an item that a user did not click weighs, against 1 for a clicked one; by default the
        best of five.
    strength
        What a click of the log weighs, against 1 for a click on a later list; by default the least
        of 1/4, 1/2 and 1 that costs nothing measurable. The less, the faster later lists are
        learned.
    user, item, time, rating, at_least
        Columns, see :func:`clubcascade.features.read_log`.
    item_id
        The column of ids of ``items``; by default found by its name, see
        :func:`clubcascade.features.from_table`.
    kinds
        What columns of ``items`` are, see :func:`clubcascade.features.from_table`.
    held_out
        Share of the clicks that lists are judged on.
    split
        ``"log"``: hold out the last clicks of all; ``"user"``: the last clicks of each user.
    als
        Compare with ALS of the package ``implicit``: by default if it is installed and there are
        at most 3 million clicks. A mapping names the settings to try.
    judge
        Whether to judge the lists; without it, settings are chosen on the last part itself.
    seed
        Seed of everything that is drawn.
    progress
        Told what is being done, how much is done, of how much.
    """
    k, seed = validation.whole("k", k, low=1), validation.whole("seed", seed, low=0)
    fit = Fit(policy, params, seed)
    named = {"user": user, "item": item, "time": time, "rating": rating, "at_least": at_least}
    if n_features is not None:
        n_features = validation.whole("n_features", n_features, low=1)
    weights: tuple[float, ...] = choosing.WEIGHTS
    if weight is not None:
        weights = (validation.number("weight", weight, low=0, open_low=True, high=1),)
    strengths: tuple[float, ...] = choosing.STRENGTHS
    if strength is not None:
        strengths = (validation.number("strength", strength, low=1e-3, high=1e3),)
    work = _Work(fit, k, n_features, weights, strengths, held_out, split, seed, progress)
    work.read(clicks, items, named, kinds, item_id)
    found = work.judge(als) if judge else None
    return work.finish(found)


@dataclass
class _Work:
    """The steps of :func:`train`, and what they leave for later ones."""

    fit: Fit
    k: int
    n_features: int | None
    weights: tuple[float, ...]
    strengths: tuple[float, ...]
    held_out: float
    split: Split
    seed: int
    progress: Progress
    said: list[str] = field(default_factory=list)
    lists: ListLog | None = None
    table: TableFeatures | None = None
    frame: pl.DataFrame | None = None
    setting: choosing.Setting | None = None
    losses: Losses = field(default_factory=dict)

    def read(
        self,
        clicks: Table,
        items: Table | None,
        named: dict[str, Any],
        kinds: Any,
        item_id: str | None,
    ) -> None:
        """Read both tables; items of either are items."""
        source = open_table(clicks, "clicks")
        if has_lists(source):
            self.lists = read_lists(source, named, self.progress)
            log = self.lists.log
        else:
            self.fit.check()
            log = read_log(source, **named, progress=self.progress)
        self.said += log.said
        if items is None and (kinds or item_id is not None):
            name = "kinds" if kinds else "item_id"
            raise InvalidArgument(
                f"{name} must be left out where there is no table of items, got some"
            )
        if items is not None:
            log = self._read_items(log, items, kinds, item_id)
        if len(log.items) < 2:
            raise InvalidData(
                f"{source.name} must have at least two items to choose from, got {len(log.items)}"
            )
        if self.lists is not None:
            self.lists, self.split = self.lists.with_items(log), "log"
        self.log = log
        validation.number("held_out", self.held_out, low=0.01, high=0.9)
        if len(log.users) == 1:
            self.said.append("there is one user: nobody to compare with")

    def _read_items(self, log: ClickLog, items: Table, kinds: Any, item_id: str | None) -> ClickLog:
        source = open_table(items, "items")
        name = id_column(source, item_id)
        frame, ids, _ = read_items(source, name)
        table = from_table(source, id=item_id, kinds=kinds, n_features=TABLE_FEATURES)
        self.table, self.frame = table, frame
        if not all(isinstance(each, int) for each in [*ids, *log.items]):
            table.ids = [str(each) for each in ids]  # ids of both tables are compared as text
            log.items = [str(each) for each in log.items]
        self.said += table.said
        known = set(table.ids)
        others = [each for each in log.items if each not in known]
        if others:
            self.said.append(
                f"{len(others):,} of {len(log.items):,} clicked items are not in the table of "
                f"items: kept, without columns"
                + ("; are the ids the same?" if len(others) == len(log.items) else "")
            )
        return log.with_items([*table.ids, *others])

    def judge(self, als: bool | Mapping[str, Any] | None) -> WorthTable | None:
        """Learn from the first part of the log, and judge lists on the last one."""
        held_out = last_part(self.log, self.held_out, self.split, self.seed)
        before, after = self.log.part(~held_out), self.log.part(held_out)
        most = max(500, min(MOST_JUDGED, MOST_SCORES // len(self.log.items)))
        held = Held.of(before.matrix(), after.matrix(), most, self.seed)
        if not len(held.users):
            self.said.append("too few clicks to hold some out: no table of what lists are worth")
            return None
        self._say_held(after, held)
        self.setting, self.losses, tune = self._choose(before)
        policy, _, vectors = self._learned(before, self.setting, _start(after), silent)
        found = {OURS: worth(held, policy_scores(policy, before, vectors), self.k)}
        found[POPULARITY] = worth(held, rivals.popularity(held.before), self.k)
        found |= self._others(held, tune, als)
        found["random"] = worth(held, rivals.chance(held.before, self.seed), self.k)
        return WorthTable.of(self.k, found, self.seed)

    def _say_held(self, after: ClickLog, held: Held) -> None:
        users = np.unique(after.user)
        new = len(users) - int((np.diff(held.before.indptr)[users] > 0).sum())
        how = "a share of each user's clicks, drawn at random" if self.log.time is None else (
            "the last clicks of all" if self.split == "log" else "the last clicks of each user"
        )  # fmt: skip
        self.said.append(f"judged on {len(after):,} clicks: {how}")
        if new:
            self.said.append(
                f"{new:,} users of the last part are new and would get the popular list: not judged"
            )
        if len(users) - new > len(held.users):
            self.said.append(f"judged on {len(held.users):,} users, drawn at random")

    def _choose(self, log: ClickLog) -> tuple[choosing.Setting, Losses, Held]:
        """Choose features and weight on the last part of a log."""
        late = last_part(log, self.held_out, self.split, self.seed + 1)
        before, after = log.part(~late), log.part(late)
        most = max(50, min(choosing.MOST_USERS, int(1e7) // len(log.items)))
        held = Held.of(before.matrix(), after.matrix(), most, self.seed)
        more = 0 if self.table is None else self.table.n_features
        lengths = choosing.lengths_for(log, self.n_features, more)
        if self.lists is not None:
            setting = self.lists.choose(
                self.fit, before, held, self.table, lengths, self.k, _start(after), self.progress
            )
            return setting, {}, held
        setting = choosing.choose(
            before, held, self.table, self.k, lengths=lengths, weights=self.weights,
            table_weights=choosing.TABLE_WEIGHTS, strengths=self.strengths,
            around_everyone=self.fit.around_everyone,
            seed=self.seed, progress=self.progress,
        )  # fmt: skip
        policy, _, vectors = self.fit.from_clicks(before, self.table, setting)
        return setting, self.fit.losses(policy, before, held, vectors, self.k), held

    def _learned(
        self, log: ClickLog, setting: choosing.Setting, until: float, progress: Progress
    ) -> tuple[Policy, FeatureMaker, Floats]:
        """Return a policy that knows a log, or lists before a time; features and vectors."""
        if self.lists is not None:
            return self.lists.learn(self.fit, log, self.table, setting, until, progress)
        return self.fit.from_clicks(log, self.table, setting, self.losses, progress)

    def _others(self, held: Held, tune: Held, als: Any) -> dict[str, Worth]:
        found = {}
        if (column := self._category()) is not None:
            scores = rivals.favourite(held.before, *column)
            found["popularity in category"] = worth(held, scores, self.k)
        if als is None:
            als = rivals.has_als() and len(self.log) <= rivals.MOST_ALS
            if not als:
                why = "too many clicks" if rivals.has_als() else "implicit is not installed"
                self.said.append(f"not compared with ALS: {why}")
        if als is not False and als is not None:
            grid = als if isinstance(als, Mapping) else None
            scores = rivals.als(held.before, tune, self.k, grid, self.progress)
            found["ALS"] = worth(held, scores, self.k)
        return found

    def _category(self) -> tuple[pl.Series, bool] | None:
        """Return the first column of categories or tags, by item, and whether it is of tags."""
        if self.table is None or self.frame is None:
            return None
        for kind in ("category", "tags"):
            for column, found in self.table.kinds.items():
                if found == kind:
                    some = self.frame[column]
                    rest = pl.Series([None] * (len(self.log.items) - len(some)), dtype=some.dtype)
                    return pl.concat([some, rest]), kind == "tags"
        return None

    def finish(self, found: WorthTable | None) -> Trained:
        """Learn from all clicks."""
        if self.setting is None:
            self.setting, self.losses, _ = self._choose(self.log)
        self.said.append(f"chosen: {self.setting}")
        log = self.log
        policy, maker, _ = self._learned(log, self.setting, np.inf, self.progress)
        id_name = None if self.table is None else self.table.id_name
        table_ids = [] if self.table is None else self.table.ids
        items = item_table(maker.ids, table_ids, self.frame, id_name)
        matrix = log.with_items(maker.ids).matrix()
        seen: tuple[Any, Any] = matrix.indptr.astype(np.int64), matrix.indices
        if isinstance(policy, CohortCascade):
            n_cohorts = len(policy.clusters())
            self.said.append(f"{n_cohorts:,} cohorts of {len(log.users):,} users")
        return Trained(policy, maker, items, seen, log.users, worth=found, said=self.said)


def _start(log: ClickLog) -> float:
    """Return the time of the first click."""
    return np.inf if log.time is None else float(log.time.min(initial=np.inf))
