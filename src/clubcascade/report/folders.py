"""What a report is about: the result folders at or below a place, with all that they hold."""

import os
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from clubcascade.errors import ClubCascadeError, InvalidArgument
from clubcascade.experiment import Results, read_results, shipped
from clubcascade.report.estimates import Estimate, estimate
from clubcascade.report.measures import COLUMNS, EVERY, Key, by_seed

PAPER = ("synthetic", "yelp", "movielens", "ctr", "multiple")
"""The figures of the paper by name, in its order: the first is Figure 1."""

EDGE = " †"
"""Stands behind a policy whose tuned values lie at the edge of what was tried."""

POLICY = "cohort_cascade"
"""The policy that is judged unless another is named."""

KNOWN = ("known_clusters", "known_clusters_glm")
"""Policies that know the true clusters: a reference, not a rival."""

REQUIRED = "panel policy seed round reward regret n_clusters rand_index".split()
"""Columns that every table of results has."""


@dataclass(frozen=True, eq=False)
class Run:
    """One result folder.

    ``figure`` is the shipped experiment that it is a run of: its name up to the first ``-``.
    ``failures`` are name and error of the cells that failed, ``missing`` the names of those that
    have no results. ``provenance`` is empty if the folder does not say.
    """

    path: Path
    name: str
    figure: str
    results: Results
    provenance: dict[str, Any]
    failures: tuple[tuple[str, str], ...]
    missing: tuple[str, ...]
    _tables: dict[str, dict[Key, pd.DataFrame]] = field(default_factory=dict)

    @property
    def heading(self) -> str:
        """The title, with the number of the paper's figure."""
        number = self.results.experiment.figure
        return f"{f'Figure {number}: ' if number else ''}{self.results.experiment.title}"

    @property
    def first_look(self) -> bool:
        """Whether fewer seeds or rounds were run than the experiment file asks for."""
        return self.results.experiment.first_look

    @cached_property
    def edges(self) -> dict[Key, str]:
        """Which tuned values lie at the edge of what was tried, such as ``"reg low"``.

        By (panel, policy); empty where the folder does not say.
        """
        path = self.path / "tuning.csv"
        rows = pd.read_csv(path, keep_default_na=False) if path.is_file() else pd.DataFrame()
        if "edge" not in rows:
            return {}
        rows = rows[(rows["chosen"].astype(str) == "True") & (rows["edge"] != "")]
        return {(r["panel"], r["policy"]): str(r["edge"]) for r in rows.to_dict("records")}

    @property
    def edge_words(self) -> str:
        """Which tuned values lie at the edge, in a sentence; empty where none does."""
        found = "; ".join(f"{panel}, {policy}: {at}" for (panel, policy), at in self.edges.items())
        words = f"{EDGE.strip()} tuned, and the best value is at the edge of what was tried"
        return f"{words}: {found}." if found else ""

    @cached_property
    def ran(self) -> frozenset[Key]:
        """The (panel, policy) pairs that have results."""
        rows = self.results.curves[["panel", "policy"]].drop_duplicates()
        return frozenset(zip(rows["panel"], rows["policy"], strict=True))

    def by_seed(self, measure: str) -> dict[Key, pd.DataFrame]:
        """Return the seeds x rounds of every (panel, policy) that was measured."""
        if measure not in self._tables:
            self._tables[measure] = by_seed(self.results, measure)
        return self._tables[measure]

    @cached_property
    def finals(self) -> dict[Key, dict[str, Estimate]]:
        """The estimate of every known measure at its last round, for every (panel, policy)."""
        found: dict[Key, dict[str, Estimate]] = {}
        for measure in EVERY:
            for key, table in self.by_seed(measure).items():
                found.setdefault(key, {})[measure] = estimate(table.to_numpy(np.float64)[:, -1])
        return found

    @property
    def known(self) -> list[str]:
        """The columns of a table of final values that some policy has."""
        return [name for name in COLUMNS if any(name in found for found in self.finals.values())]


@dataclass(frozen=True, slots=True)
class Broken:
    """A result folder that cannot be read, and why."""

    name: str
    error: str


def find_runs(place: str | os.PathLike[str]) -> tuple[list[Run], list[Broken]]:
    """Read the result folders at or right below a place: the paper's figures first.

    One result folder must be whole; in a folder of them a broken one is reported and does not
    hide the others.
    """
    folder = Path(place)
    if not folder.is_dir():
        raise InvalidArgument(f"folder must be a folder of results, got {folder}")
    if _is_result(folder):
        return [read_run(folder)], []
    runs, broken = [], []
    for inner in sorted(path for path in folder.iterdir() if path.is_dir() and _is_result(path)):
        try:
            runs.append(read_run(inner))
        except ClubCascadeError as error:
            broken.append(Broken(inner.name, str(error)))
    if not runs:
        why = f": {broken[0].error}" if broken else ""
        raise InvalidArgument(
            f"no results in {folder}{why}; run: clubcascade reproduce --out {folder}"
        )
    order = {name: i for i, name in enumerate(in_order())}
    return sorted(runs, key=lambda run: (order.get(run.figure, len(order)), run.name)), broken


def in_order() -> list[str]:
    """Return the names of the shipped experiments: the paper's figures first."""
    return [*PAPER, *(name for name in shipped() if name not in PAPER)]


def first_look_words(runs: Sequence[Run]) -> str:
    """Say which folders are a first look, and that they give no verdict; nothing where none is."""
    quick = [run.name for run in runs if run.first_look]
    if not quick:
        return ""
    rest = " Verdicts rest on the other folders." if len(quick) < len(runs) else ""
    return (
        f": fewer seeds or rounds than the experiment file asks for ({', '.join(quick)}). The "
        f"numbers are shown, and no verdict is drawn from them.{rest}"
    )


def read_run(folder: Path) -> Run:
    """Read one result folder; whatever is wrong with its files is an InvalidArgument."""
    try:
        results = read_results(folder)
        experiment, rows = results.experiment, results.curves
        for column in REQUIRED:
            if column not in rows:
                raise ValueError(f"no column {column!r}")
        there = set(zip(rows["panel"], rows["policy"], rows["seed"], strict=True))
        cells = {
            (panel.title, policy.label, seed): f"{panel.title}, {policy.label}, seed {seed}"
            for panel in experiment.panels
            for policy in experiment.policies_of(panel)
            if not policy.tune or policy.label in panel.tuned
            for seed in experiment.seeds
        }
        name, n = folder.resolve().name, experiment.figure or 0
        shown = name.split("-")[0]  # the shipped experiment, else the one of the paper's number
        run = Run(
            path=folder,
            name=name,
            figure=shown if shown in shipped() or not 1 <= n <= len(PAPER) else PAPER[n - 1],
            results=results,
            provenance=results.provenance if isinstance(results.provenance, dict) else {},
            failures=_failures(folder / "failures.txt", set(cells.values())),
            missing=tuple(words for cell, words in cells.items() if cell not in there),
        )
        _ = run.edges  # a table of tuning that cannot be read is found here
    except ClubCascadeError:
        raise
    except Exception as error:
        raise InvalidArgument(f"{folder} cannot be read: {error}") from error
    return run


def _is_result(folder: Path) -> bool:
    return (folder / "results.parquet").is_file() or (folder / "config.toml").is_file()


def _failures(path: Path, names: Set[str]) -> tuple[tuple[str, str], ...]:
    """Read what the runner wrote: the name of a cell, then the lines of its error."""
    if not path.is_file():
        return ()
    found: list[tuple[str, list[str]]] = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if line in names or not found:
            found.append((line, []))
        else:
            found[-1][1].append(line)
    return tuple((name, "\n".join(lines).strip()) for name, lines in found)
