"""From files to a kept data set: once, and never half."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from clubcascade.datasets import store
from clubcascade.datasets.checksums import sha256
from clubcascade.datasets.folder import data_folder, path_of
from clubcascade.datasets.interactions import Interactions
from clubcascade.datasets.watching import Progress, silent
from clubcascade.errors import DataMissing, InvalidData

Folder = str | os.PathLike[str] | None


@dataclass(frozen=True)
class Recipe:
    """What to prepare, from what.

    Attributes
    ----------
    name
        What the data set will be called.
    kind
        Which reader made it.
    files
        What was read.
    options
        What else the result depends on.
    terms
        Under which terms the data may be used, in short.
    command
        What prepares it again.
    """

    name: str
    kind: str
    files: tuple[Path, ...]
    options: dict[str, Any] = field(default_factory=dict)
    terms: str = ""
    command: str = ""


@dataclass(frozen=True)
class Prepared:
    """A data set that is kept now, where, and whether anything had to be done for it."""

    data: Interactions
    path: Path
    fresh: bool


def prepare(
    recipe: Recipe,
    make: Callable[[dict[str, Any]], Interactions],
    *,
    folder: Folder = None,
    progress: Progress = silent,
) -> Prepared:
    """Make a data set and keep it, unless the same files were prepared before.

    Parameters
    ----------
    make
        Makes the data set; it is given what is known of the source.
    """
    target = path_of(recipe.name, data_folder(folder))
    key = {
        "kind": recipe.kind,
        "checksum": checksum(recipe.files, progress),
        "options": recipe.options,
    }
    earlier = kept(target)
    if earlier is not None and {name: earlier.source.get(name) for name in key} == key:
        return Prepared(earlier, target, fresh=False)
    source = key | {
        "file": ", ".join(path.name for path in recipe.files),
        "terms": recipe.terms,
        "command": recipe.command,
        "prepared": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    data = make(source)
    store.write(data, target)
    return Prepared(data, target, fresh=True)


def kept(path: Path) -> Interactions | None:
    """Return what is kept in a file, or None where there is nothing that can be used."""
    try:
        return store.read(path)
    except (OSError, InvalidData):
        return None


def checksum(paths: Sequence[Path], progress: Progress = silent) -> str:
    """Return a checksum of files: SHA-256, of several files over their sorted checksums."""
    total = sum(path.stat().st_size for path in paths)
    done = 0

    def move(count: int) -> None:
        nonlocal done
        done += count
        progress("checksum", done, total)

    digests = [sha256(path, move) for path in paths]
    if len(digests) == 1:
        return f"sha256:{digests[0]}"
    return f"sha256:{hashlib.sha256(' '.join(sorted(digests)).encode()).hexdigest()}"


def existing(path: str | os.PathLike[str]) -> Path:
    """Return a path that is there; say so plainly if it is not."""
    found = Path(path).expanduser()
    if not found.exists():
        raise DataMissing(f"path must be a file on this machine, got {str(path)!r}: no such file")
    return found


def file_at(path: str | os.PathLike[str]) -> Path:
    """Return a path that is a file with something in it."""
    found = existing(path)
    if not found.is_file():
        raise InvalidData(f"path must be a file, got the folder {str(path)!r}")
    if not found.stat().st_size:
        raise InvalidData(f"{found} is empty")
    return found
