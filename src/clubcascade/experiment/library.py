"""The cells that are there already: in the folder of an experiment, or in those beside it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from clubcascade.experiment.cell_files import Stored, path_of, remove_leftovers, store, stored
from clubcascade.experiment.cells import Cell

CELLS = "cells"


class Library:
    """Where runs are kept. Figures that share a run share its file: it is run once, then copied.

    Parameters
    ----------
    folder
        The result folder; a folder for the cells is made in it.
    beside
        Other result folders, which may hold some of the cells.
    """

    def __init__(self, folder: Path, beside: Iterable[Path] = ()) -> None:
        self.place = folder / CELLS
        self.place.mkdir(parents=True, exist_ok=True)
        remove_leftovers(self.place)
        self._beside = [each / CELLS for each in beside if each != folder]
        self._read: dict[str, Stored] = {}

    def find(self, cell: Cell) -> Stored | None:
        """Return what is stored of a cell; None if it has to be run."""
        key = cell.key
        if key not in self._read:
            found = stored(cell, self.place) or self._borrow(cell)
            if found is None:
                return None
            self._read[key] = found
        return self._read[key]

    def add(self, cell: Cell, content: bytes) -> None:
        """Store what a run gave."""
        store(cell, content, self.place)

    def _borrow(self, cell: Cell) -> Stored | None:
        for place in self._beside:
            path = path_of(cell, place)
            if path.is_file() and stored(cell, place) is not None:
                store(cell, path.read_bytes(), self.place)
                return stored(cell, self.place)
        return None
