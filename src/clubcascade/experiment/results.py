"""A result folder: all cells in one Parquet file, a summary, the configuration, the provenance."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from clubcascade.errors import InvalidArgument
from clubcascade.experiment.cell_files import CURVES, stored, written
from clubcascade.experiment.cells import Cell
from clubcascade.experiment.config import Experiment, read_experiment
from clubcascade.experiment.intervals import mean_interval
from clubcascade.experiment.provenance import provenance
from clubcascade.experiment.toml_text import experiment_text

RESULTS, SUMMARY = "results.parquet", "summary.csv"
CONFIG, PROVENANCE = "config.toml", "provenance.json"

MEASURES = ("reward", "regret", "n_clusters", "rand_index")


@dataclass(frozen=True, slots=True)
class Results:
    """What a result folder holds.

    Parameters
    ----------
    experiment
        The configuration that was run.
    curves
        One row per panel, policy, seed and recorded round.
    """

    experiment: Experiment
    curves: pd.DataFrame


def gather(cells: Iterable[Cell], folder: Path) -> pd.DataFrame:
    """Put the cells that have a file into one table, in the order of the cells."""
    parts = []
    for cell in cells:
        curves = stored(cell, folder)
        if curves is not None:
            names = {"panel": cell.panel.title, "policy": cell.contender.label, "seed": cell.seed}
            parts.append(pd.DataFrame(names | curves))
    if not parts:
        return pd.DataFrame(columns=["panel", "policy", "seed", *CURVES])
    return pd.concat(parts, ignore_index=True)


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


def write_results(experiment: Experiment, curves: pd.DataFrame, folder: Path) -> list[Path]:
    """Write the files of a result folder, each whole or not at all, and return their paths."""
    table = io.BytesIO()
    curves.to_parquet(table, index=False)
    origin = json.dumps(provenance(experiment.seeds), indent=2) + "\n"
    content = {
        RESULTS: table.getvalue(),
        SUMMARY: summarise(curves).to_csv(index=False, lineterminator="\n").encode(),
        CONFIG: experiment_text(experiment).encode(),
        PROVENANCE: origin.encode(),
    }
    for name, data in content.items():
        with written(folder / name) as file:
            file.write(data)
    return [folder / name for name in content]


def read_results(folder: str | os.PathLike[str]) -> Results:
    """Read a result folder."""
    place = Path(folder)
    missing = [name for name in (RESULTS, CONFIG) if not (place / name).is_file()]
    if missing:
        raise InvalidArgument(f"{place} is not a result folder: it has no {missing[0]}")
    return Results(read_experiment(place / CONFIG), pd.read_parquet(place / RESULTS))
