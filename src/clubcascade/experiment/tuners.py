"""Tuning per panel and policy: the runs that a search asks for, and what it chose.

Every policy has the same budget and the same seeds. Best is the lowest mean regret after the last
round where the panels show what regret tells, else the most clicks. The seeds of the results are
never looked at.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from msgspec.structs import replace

from clubcascade.errors import InvalidConfig
from clubcascade.experiment.cell_store import CellResult
from clubcascade.experiment.cells import Cell, trials, values_text
from clubcascade.experiment.running import build
from clubcascade.experiment.schema import Experiment
from clubcascade.experiment.tuning import TUNING, Point, Search
from clubcascade.model_file import atomic_write

Found = Callable[[Cell], CellResult | None]


class Tuner:
    """The tuning of one policy in one panel: a search, and the runs of each of its points."""

    def __init__(
        self,
        panel: str,
        label: str,
        search: Search,
        cells_of: Callable[[Point], list[Cell]],
        measure: str,
    ) -> None:
        self.panel, self.label = panel, label
        self.start = search.best
        self._search, self._cells_of, self._measure = search, cells_of, measure
        self._by, self._means = "", list[float]()
        self._steps = search.steps()
        self._batch = next(self._steps)

    @property
    def batch(self) -> list[Cell]:
        """The runs that the next step needs; nothing where the search has ended."""
        return [cell for point in self._batch for cell in self._cells_of(point)]

    @property
    def tried(self) -> list[Cell]:
        """All runs of the steps so far."""
        return [cell for point in self._search.tried for cell in self._cells_of(point)]

    @property
    def later(self) -> list[Cell]:
        """As many runs as may follow the next step."""
        left = self._search.most - len(self._search.tried) - len(self._batch)
        return self._cells_of(self.start) * max(0, left) if self._batch else []

    @property
    def listed(self) -> list[Cell]:
        """One run with every value that is listed, to see that it can be built."""
        return [self._cells_of(point)[0] for point in self._search.cross]

    @property
    def chosen(self) -> Point | None:
        """The best point; None where every run failed."""
        return self._search.best if self._search.found else None

    def possible(self, name: str, value: Any) -> bool:
        """Say whether a parameter can have a value that is not listed."""
        try:
            build(self._cells_of({**self.start, name: value})[0])
        except InvalidConfig:
            return False
        return True

    def feed(self, found: Found) -> None:
        """Take the next step with what is stored of its runs; of a run that failed, nothing is."""
        runs = [[found(cell) for cell in self._cells_of(point)] for point in self._batch]
        known = (run for each in runs for run in each if run is not None)
        told = all(not np.isnan(run.curves["regret"][-1]) for run in known)
        regret = told and self._measure not in ("reward", "missed", "ctr")
        self._by = self._by or ("regret" if regret else "reward")
        means = [_mean(each, self._by) for each in runs]
        self._means += means
        sign = 1 if self._by == "regret" else -1
        try:
            self._batch = self._steps.send([sign * mean for mean in means])
        except StopIteration:
            self._batch = []

    def rows(self) -> list[dict[str, Any]]:
        """Return a row of ``tuning.csv`` for every point; the chosen one says how the search ended.

        ``edge`` names the parameters whose chosen value is an end of what was tried, such as
        "reg low"; ``stopped`` is "budget" where the search would have gone on with more of it.
        """
        search, rows = self._search, list[dict[str, Any]]()
        for point, mean in zip(search.tried, self._means, strict=True):
            chosen = point == self.chosen
            row = {
                "panel": self.panel,
                "policy": self.label,
                "values": values_text(point),
                "by": self._by,
                "mean": mean,
                "seeds": len(self._cells_of(point)),
                "chosen": chosen,
                "edge": search.edge if chosen else "",
                "stopped": "budget" if chosen and search.spent else "",
            }
            rows.append(row)
        return rows


def tuners(experiment: Experiment, data: Mapping[str, str] | None = None) -> list[Tuner]:
    """Return what is to be tuned, by panel, then policy; arguments as those of ``plan``."""
    if experiment.tune is None:
        return []
    found: list[Tuner] = []
    firsts: dict[str, Tuner] = {}

    @cache  # the bounds of a parameter are the same in all panels
    def possible(label: str, name: str, value: Any) -> bool:
        return firsts[label].possible(name, value)

    for panel in experiment.panels:
        for contender in experiment.policies_of(panel):
            if not contender.tune or contender.label in panel.tuned:
                continue
            search = Search(
                contender.tune, experiment.tune.budget, partial(possible, contender.label)
            )
            cells_of = partial(trials, experiment, panel, contender, data)
            tuner = Tuner(panel.title, contender.label, search, cells_of, experiment.measure)
            firsts.setdefault(contender.label, tuner)
            found.append(tuner)
    return found


def settled(experiment: Experiment, tuners: Iterable[Tuner], *, start: bool = False) -> Experiment:
    """Return the experiment with the values of its searches in its panels: chosen, or at start."""
    taken: dict[str, dict[str, Point]] = {}
    for tuner in tuners:
        point = tuner.start if start else tuner.chosen
        if point is not None:
            taken.setdefault(tuner.panel, {})[tuner.label] = point
    panels = [
        replace(panel, tuned={**panel.tuned, **taken.get(panel.title, {})})
        for panel in experiment.panels
    ]
    return replace(experiment, panels=tuple(panels))


def write_choices(tuners: Iterable[Tuner], folder: Path) -> list[Path]:
    """Write a table of all points that were tried; nothing where nothing was."""
    rows = [row for tuner in tuners for row in tuner.rows()]
    if not rows:
        return []
    with atomic_write(folder / TUNING) as file:
        file.write(pd.DataFrame(rows).to_csv(index=False, lineterminator="\n").encode())
    return [folder / TUNING]


def _mean(runs: list[CellResult | None], by: str) -> float:
    if any(run is None for run in runs):
        return float("nan")
    return float(np.mean([run.curves[by][-1] for run in runs if run is not None]))
