"""The file of one cell: written whole or not at all, and read back only if it is valid."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from clubcascade.errors import ClubCascadeError
from clubcascade.experiment.cells import RESULTS_FORMAT, Cell
from clubcascade.experiment.provenance import origin
from clubcascade.experiment.running import run
from clubcascade.simulation import Trace

CURVES = ("round", "reward", "regret", "n_clusters", "rand_index")
"""What is kept of a run, at every recorded round; NaN throughout where it is unknown."""

Curves = dict[str, npt.NDArray[Any]]


class Stored(NamedTuple):
    """What the file of a cell holds.

    ``seconds`` is the wall time of the run; ``ceiling`` the share of rounds with a click under the
    best lists, NaN where it is unknown; ``origin`` the software, the machine and the time.
    """

    curves: Curves
    seconds: float
    ceiling: float
    origin: dict[str, Any]


def path_of(cell: Cell, folder: Path) -> Path:
    """Give the place of a cell's file."""
    return folder / f"{cell.key}.npz"


def run_packed(task: tuple[Cell, str]) -> bytes:
    """Run a cell and return the content of its file: what workers do.

    The key that comes with the cell says which sources its owner has; a worker of another version
    refuses it.
    """
    cell, key = task
    if cell.hashed() != key:
        raise ClubCascadeError("this worker has another version of clubcascade than its owner")
    outcome = run(cell)
    label = {
        "format": RESULTS_FORMAT,
        "key": key,
        "cell": cell.name,
        "seconds": outcome.trace.seconds,
        "ceiling": outcome.ceiling,
        "origin": origin(),
    }
    file = io.BytesIO()
    arrays: dict[str, Any] = curves_of(outcome.trace)
    np.savez_compressed(file, label=np.array(json.dumps(label)), **arrays)
    return file.getvalue()


def curves_of(trace: Trace) -> Curves:
    """Return what is kept of a run."""
    unknown = np.full(len(trace.round), np.nan)
    curves = {name: getattr(trace, name) for name in CURVES}
    return {name: unknown if curve is None else curve for name, curve in curves.items()}


def store(cell: Cell, content: bytes, folder: Path) -> None:
    """Write the file of a cell."""
    with written(path_of(cell, folder)) as file:
        file.write(content)


def stored(cell: Cell, folder: Path) -> Stored | None:
    """Return what the file of a cell holds, or None if it has no whole file of this format."""
    try:
        with (
            path_of(cell, folder).open("rb") as opened,
            np.load(opened, allow_pickle=False) as file,
        ):
            label = json.loads(str(file["label"]))
            curves = {name: file[name] for name in CURVES}
            extra = float(label["seconds"]), float(label["ceiling"]), dict(label["origin"])
    except Exception:
        return None  # missing, cut short or foreign: whatever it is, the cell is run again
    lengths = {len(curve) for curve in curves.values()}
    whole = len(lengths) == 1 and 0 not in lengths and curves["round"][-1] == cell.rounds
    known = label.get("format") == RESULTS_FORMAT and label.get("key") == cell.key
    return Stored(curves, *extra) if whole and known else None


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
