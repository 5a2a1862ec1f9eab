"""A result folder: all cells in one Parquet file, a summary, the configuration, the provenance."""

import io
import json
import math
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import tomli_w

from clubcascade.errors import InvalidArgument
from clubcascade.experiment.cell_store import CURVES, CellResult
from clubcascade.experiment.cells import Cell
from clubcascade.experiment.config import plain, read_experiment
from clubcascade.experiment.intervals import mean_interval
from clubcascade.experiment.provenance import provenance
from clubcascade.experiment.schema import Experiment
from clubcascade.kernels import loop
from clubcascade.model_file import atomic_write

RESULTS, SUMMARY, VISITS = "results.parquet", "summary.csv", "visits.csv"
CONFIG, PROVENANCE = "config.toml", "provenance.json"

MEASURES = ("reward", "regret", "n_clusters", "rand_index")
COLUMNS = ("panel", "policy", "seed", *CURVES, "seconds", "ceiling")
VISIT_COLUMNS = ("panel", "policy", "seed", "phase", "lists", "regret", "rounds")


@dataclass(frozen=True, slots=True)
class Results:
    """What a result folder holds.

    Parameters
    ----------
    experiment
        The configuration that was run, with the values that tuning chose.
    curves
        One row per panel, policy, seed and recorded round. ``reward`` and ``regret`` are sums up
        to that round. ``seconds`` (wall time of the whole run) and ``ceiling`` (share of rounds
        with a click under the best lists, NaN where it is unknown) are the same in all rows of a
        run.
    provenance
        Versions, commit, machine, data and times.
    visits
        One row per panel, policy, seed, phase of the world (from 0) and number of lists: how many
        rounds of that phase were among the first ``lists`` lists of their user (1, 5, 20, 100, and
        infinity for all), and the ``regret`` of these rounds.
    """

    experiment: Experiment
    curves: pd.DataFrame
    provenance: dict[str, Any] = field(default_factory=dict)
    visits: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(VISIT_COLUMNS)))


def experiment_text(experiment: Experiment) -> str:
    """Return the experiment file of an experiment, every value stated."""
    return tomli_w.dumps(plain(experiment))


def gather(cells: Iterable[tuple[Cell, CellResult]]) -> pd.DataFrame:
    """Put cells into one table, in their order."""
    parts = []
    for cell, found in cells:
        names = {"panel": cell.panel.title, "policy": cell.contender.label, "seed": cell.seed}
        extra = {"seconds": found.seconds, "ceiling": found.ceiling}
        parts.append(pd.DataFrame({**names, **found.curves, **extra}))
    if not parts:
        return pd.DataFrame(columns=list(COLUMNS))
    return pd.concat(parts, ignore_index=True)


def gather_visits(cells: Iterable[tuple[Cell, CellResult]]) -> pd.DataFrame:
    """Put the sums over users' first lists into one table, in the order of the cells."""
    rows = [
        (cell.panel.title, cell.contender.label, cell.seed, phase, *sums)
        for cell, found in cells
        if found.sums
        for phase, groups in enumerate(zip(*found.sums.values(), strict=True))
        for sums in zip((*loop.VISITS, math.inf), *map(np.cumsum, groups), strict=True)
    ]
    return pd.DataFrame(rows, columns=list(VISIT_COLUMNS))


def summarise(curves: pd.DataFrame) -> pd.DataFrame:
    """Return mean and 95% t-interval over seeds at the last round, per panel and policy."""
    rows = []
    for (panel, policy), runs in curves.groupby(["panel", "policy"], sort=False):
        last = runs[runs["round"] == runs["round"].max()]
        row: dict[str, Any] = {"panel": panel, "policy": policy, "seeds": len(last)}
        row["round"] = int(last["round"].iloc[0])
        for measure in MEASURES:
            values = last[[measure]].to_numpy(dtype=np.float64)
            mean, low, high = (float(end[0]) for end in mean_interval(values))
            row |= {f"{measure}_mean": mean, f"{measure}_low": low, f"{measure}_high": high}
        rows.append(row)
    return pd.DataFrame(rows)


def write_results(
    experiment: Experiment, cells: Iterable[tuple[Cell, CellResult]], folder: Path
) -> list[Path]:
    """Write the files of a result folder, each whole or not at all, and return their paths.

    The Parquet file carries the configuration and the provenance with it, in its metadata.
    """
    found = list(cells)
    curves = gather(found)
    config = experiment_text(experiment)
    origin = json.dumps(provenance(experiment, (each.origin for _, each in found)), indent=2)
    content = {
        RESULTS: _parquet(curves, config=config, provenance=origin),
        SUMMARY: summarise(curves).to_csv(index=False, lineterminator="\n").encode(),
        VISITS: gather_visits(found).to_csv(index=False, lineterminator="\n").encode(),
        CONFIG: config.encode(),
        PROVENANCE: f"{origin}\n".encode(),
    }
    for name, data in content.items():
        with atomic_write(folder / name) as file:
            file.write(data)
    return [folder / name for name in content]


def _parquet(curves: pd.DataFrame, **about: str) -> bytes:
    table = pa.Table.from_pandas(curves, preserve_index=False)
    extra = {f"clubcascade.{name}".encode(): text.encode() for name, text in about.items()}
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), **extra})
    file = io.BytesIO()
    pq.write_table(table, file)
    return file.getvalue()


def read_results(folder: str | os.PathLike[str]) -> Results:
    """Read a result folder."""
    place = Path(folder)
    missing = [name for name in (RESULTS, CONFIG) if not (place / name).is_file()]
    if missing:
        raise InvalidArgument(f"{place} is not a result folder: it has no {missing[0]}")
    origin = place / PROVENANCE
    about = json.loads(origin.read_text(encoding="utf-8")) if origin.is_file() else {}
    early = place / VISITS
    visits = pd.read_csv(early) if early.is_file() else pd.DataFrame(columns=list(VISIT_COLUMNS))
    experiment, curves = read_experiment(place / CONFIG), pd.read_parquet(place / RESULTS)
    return Results(experiment, curves, about, visits)
