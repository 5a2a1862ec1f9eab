"""The file of one cell: written whole or not at all, and read back only if it is valid."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from clubcascade.experiment.cells import RESULTS_FORMAT, Cell, run
from clubcascade.simulation import Trace

CURVES = ("round", "reward", "regret", "n_clusters", "rand_index")
"""What is kept of a run, at every recorded round; NaN throughout where it is unknown."""

Curves = dict[str, npt.NDArray[Any]]


def path_of(cell: Cell, folder: Path) -> Path:
    """Give the place of a cell's file."""
    return folder / f"{cell.key}.npz"


def run_and_store(cell: Cell, folder: Path) -> float:
    """Run a cell, write its file, and return the seconds that the run took."""
    trace = run(cell)
    label = {
        "format": RESULTS_FORMAT,
        "key": cell.key,
        "cell": cell.name,
        "seconds": trace.seconds,
    }
    arrays: dict[str, Any] = thinned(trace, cell.every)
    with written(path_of(cell, folder)) as file:
        np.savez_compressed(file, label=np.array(json.dumps(label)), **arrays)
    return trace.seconds


def thinned(trace: Trace, every: int) -> Curves:
    """Keep every n-th round and the last; of values measured now and then, the latest."""
    rounds = trace.round
    kept = np.flatnonzero((rounds % every == 0) | (rounds == rounds[-1]))
    unknown = np.full(len(rounds), np.nan)
    curves = {}
    for name in CURVES:
        curve = getattr(trace, name)
        curve = unknown if curve is None else curve
        curves[name] = curve[kept]
        if np.isnan(curve).any():
            for i, (first, last) in enumerate(zip([-1, *kept], kept, strict=False)):
                between = curve[first + 1 : last + 1]
                measured = between[~np.isnan(between)]
                curves[name][i] = measured[-1] if len(measured) else np.nan
    return curves


def stored(cell: Cell, folder: Path) -> Curves | None:
    """Return the curves of a cell, or None if it has no whole file of this format."""
    try:
        with (
            path_of(cell, folder).open("rb") as opened,
            np.load(opened, allow_pickle=False) as file,
        ):
            label = json.loads(str(file["label"]))
            curves = {name: file[name] for name in CURVES}
    except Exception:
        return None  # missing, cut short or foreign: whatever it is, the cell is run again
    lengths = {len(curve) for curve in curves.values()}
    whole = len(lengths) == 1 and 0 not in lengths and curves["round"][-1] == cell.rounds
    known = label.get("format") == RESULTS_FORMAT and label.get("key") == cell.key
    return curves if whole and known else None


@contextmanager
def written(path: Path) -> Iterator[BinaryIO]:
    """Open a file under a temporary name, and give it its own name once it is whole."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            yield file
        temporary.replace(path)
    except OSError as error:
        if error.filename is None and error.errno is not None:  # such as a full disk
            raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
        raise
    finally:
        temporary.unlink(missing_ok=True)


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of a run that was killed while it wrote."""
    for file in folder.glob("*.tmp"):
        file.unlink(missing_ok=True)
