"""What a report is about: the result folders at or below a place, with all that they hold."""

from __future__ import annotations

import os
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from clubcascade.errors import ClubCascadeError, InvalidArgument
from clubcascade.experiment.cells import Cell, plan
from clubcascade.experiment.config import shipped
from clubcascade.experiment.results import CONFIG, RESULTS, Results, read_results
from clubcascade.experiment.runner import FAILURES
from clubcascade.experiment.tuning import TUNING
from clubcascade.report.curves import by_seed

PAPER = ("synthetic", "yelp", "movielens", "ctr", "multiple")
"""The figures of the paper by name, in its order: the first is Figure 1."""


EDGE = " †"
"""Stands behind a policy whose tuned values lie at the edge of what was tried."""


@dataclass(frozen=True, eq=False)
class Run:
    """One result folder.

    Parameters
    ----------
    path
        Where it is.
    name
        What the folder is called.
    figure
        The shipped experiment that it is a run of: its name up to the first ``-``.
    results
        Configuration and curves.
    provenance
        Versions, machine, time and commit; empty if the folder does not say.
    failures
        Name and error of the cells that failed.
    missing
        Names of the cells that have no results.
    """

    path: Path
    name: str
    figure: str
    results: Results
    provenance: dict[str, Any]
    failures: tuple[tuple[str, str], ...]
    missing: tuple[str, ...]
    _tables: dict[str, dict[tuple[str, str], pd.DataFrame]] = field(default_factory=dict)

    @cached_property
    def edges(self) -> dict[tuple[str, str], str]:
        """Which tuned values lie at the edge of what was tried, such as ``"reg low"``.

        By (panel, policy); empty where the folder does not say.
        """
        path = self.path / TUNING
        rows = pd.read_csv(path, keep_default_na=False) if path.is_file() else pd.DataFrame()
        if "edge" not in rows:
            return {}
        rows = rows[(rows["chosen"].astype(str) == "True") & (rows["edge"] != "")]
        return {(r["panel"], r["policy"]): str(r["edge"]) for r in rows.to_dict("records")}

    @property
    def first_look(self) -> bool:
        """Whether fewer seeds or rounds were run than the experiment file asks for."""
        return self.results.experiment.first_look

    @cached_property
    def ran(self) -> frozenset[tuple[str, str]]:
        """The (panel, policy) pairs that have results."""
        rows = self.results.curves[["panel", "policy"]].drop_duplicates()
        return frozenset(zip(rows["panel"], rows["policy"], strict=True))

    def by_seed(self, measure: str) -> dict[tuple[str, str], pd.DataFrame]:
        """Return the seeds x rounds of every (panel, policy) that was measured."""
        if measure not in self._tables:
            self._tables[measure] = by_seed(self.results, measure)
        return self._tables[measure]


@dataclass(frozen=True, slots=True)
class Broken:
    """A result folder that cannot be read, and why."""

    name: str
    error: str


def find_runs(place: str | os.PathLike[str]) -> tuple[list[Run], list[Broken]]:
    """Read the result folders at or right below a place: the paper's figures first.

    Parameters
    ----------
    place
        One result folder, which must be whole, or a folder of them, where a broken one is
        told and does not hide the others.
    """
    folder = Path(place)
    if not folder.is_dir():
        raise InvalidArgument(f"folder must be a folder of results, got {folder}")
    if _looks_like(folder):
        return [read_run(folder)], []
    runs, broken = [], []
    for inner in sorted(path for path in folder.iterdir() if path.is_dir()):
        if _looks_like(inner):
            try:
                runs.append(read_run(inner))
            except ClubCascadeError as error:
                broken.append(Broken(inner.name, str(error)))
    if not runs:
        why = f": {broken[0].error}" if broken else ""
        raise InvalidArgument(
            f"no results in {folder}{why}; run: clubcascade reproduce --out {folder}"
        )
    known = [*PAPER, *(name for name in shipped() if name not in PAPER)]
    return sorted(runs, key=lambda run: (_place(run.figure, known), run.name)), broken


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


def edge_words(run: Run) -> str:
    """Say which tuned values lie at the edge of what was tried; nothing where none does."""
    if not run.edges:
        return ""
    found = "; ".join(f"{panel}, {policy}: {edge}" for (panel, policy), edge in run.edges.items())
    return f"{EDGE.strip()} tuned, and the best value is at the edge of what was tried: {found}."


def read_run(folder: Path) -> Run:
    """Read one result folder."""
    try:
        results = read_results(folder)
        cells = plan(results.experiment)
        failures = _failures(folder / FAILURES, {cell.name for cell in cells})
    except ClubCascadeError:
        raise
    except Exception as error:
        raise InvalidArgument(f"{folder} cannot be read: {error}") from error
    name = folder.resolve().name
    return Run(
        path=folder,
        name=name,
        figure=_figure(name, results),
        results=results,
        provenance=results.provenance if isinstance(results.provenance, dict) else {},
        failures=failures,
        missing=_missing(results, cells),
    )


def _looks_like(folder: Path) -> bool:
    return (folder / RESULTS).is_file() or (folder / CONFIG).is_file()


def _figure(name: str, results: Results) -> str:
    figure = name.split("-")[0]
    number = results.experiment.figure
    if figure not in shipped() and number is not None and number <= len(PAPER):
        return PAPER[number - 1]
    return figure


def _missing(results: Results, cells: Sequence[Cell]) -> tuple[str, ...]:
    rows = results.curves[["panel", "policy", "seed"]].drop_duplicates()
    there = set(rows.itertuples(index=False, name=None))
    return tuple(c.name for c in cells if (c.panel.title, c.contender.label, c.seed) not in there)


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


def _place(figure: str, known: Sequence[str]) -> int:
    return known.index(figure) if figure in known else len(known)
