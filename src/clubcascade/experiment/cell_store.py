"""The results of cells: in memory for the table, and in a file each, to continue a run."""

import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from clubcascade.experiment.cells import RESULTS_FORMAT, Cell
from clubcascade.model_file import atomic_write, remove_abandoned

CELLS = "cells"
CURVES = ("round", "reward", "regret", "n_clusters", "rand_index")
"""What is kept of a run, at every recorded round; NaN throughout where it is unknown."""
SUMS = ("visit_regret", "visit_rounds")
"""What is kept of a run besides, where it is known: sums by the number of a user's own list."""
ABANDONED = 60.0
"""Seconds without a write after which a temporary file is that of a run that was killed."""


class CellResult(NamedTuple):
    """What a run gave.

    ``seconds`` is the wall time of the run; ``ceiling`` the share of rounds with a click under the
    best lists, NaN where it is unknown; ``origin`` the software, the machine and the time.
    ``sums`` are those of ``SUMS``; none where regret is unknown.
    """

    curves: dict[str, npt.NDArray[Any]]
    seconds: float
    ceiling: float
    origin: dict[str, Any]
    sums: dict[str, npt.NDArray[Any]] = {}


class CellStore:
    """The results of an experiment. Figures that share a cell share its file: it is copied.

    The folder for the cells is made in a result folder; other result folders ``beside`` it may hold
    some of them.
    """

    def __init__(self, folder: Path, beside: Iterable[Path] = ()) -> None:
        self.place = folder / CELLS
        self.place.mkdir(parents=True, exist_ok=True)
        remove_abandoned(self.place, ABANDONED)
        self._beside = [each / CELLS for each in beside if each != folder]
        self._results: dict[str, CellResult] = {}

    def find(self, cell: Cell) -> CellResult | None:
        """Return the result of a cell; None if it has to be run."""
        key = cell.key
        if key not in self._results:
            if (found := read_cell(cell, self.place)) is not None:
                self._results[key] = found
            else:
                elsewhere = (read_cell(cell, place) for place in self._beside)
                if (found := next(filter(None, elsewhere), None)) is not None:
                    self.add(cell, found)
        return self._results.get(key)

    def add(self, cell: Cell, result: CellResult) -> None:
        """Keep a result."""
        write_cell(cell, result, self.place)
        self._results[cell.key] = result


def path_of(cell: Cell, folder: Path) -> Path:
    """Give the place of a cell's file."""
    return folder / f"{cell.key}.npz"


def write_cell(cell: Cell, result: CellResult, folder: Path) -> None:
    """Write the file of a cell."""
    label = {"format": RESULTS_FORMAT, "key": cell.key, "cell": cell.name}
    label |= {"seconds": result.seconds, "ceiling": result.ceiling, "origin": result.origin}
    arrays: dict[str, Any] = result.curves | result.sums
    content = io.BytesIO()
    np.savez_compressed(content, label=np.array(json.dumps(label)), **arrays)
    with atomic_write(path_of(cell, folder)) as file:
        file.write(content.getvalue())


def read_cell(cell: Cell, folder: Path) -> CellResult | None:
    """Return what the file of a cell holds, or None if it has no whole file of this format."""
    path = path_of(cell, folder)
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            label = json.loads(str(file["label"]))
            curves = {name: file[name] for name in CURVES}
            sums = {name: file[name] for name in SUMS if name in file}
            extra = float(label["seconds"]), float(label["ceiling"]), dict(label["origin"])
    except Exception:
        return None  # missing, cut short or foreign: whatever it is, the cell is run again
    lengths = {len(curve) for curve in curves.values()}
    whole = len(lengths) == 1 and 0 not in lengths and curves["round"][-1] == cell.rounds
    known = label.get("format") == RESULTS_FORMAT and label.get("key") == cell.key
    return CellResult(curves, *extra, sums) if whole and known else None
