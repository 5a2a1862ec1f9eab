"""The folder of prepared data, and the names in it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import platformdirs

from clubcascade.errors import InvalidArgument

VARIABLE = "CLUBCASCADE_DATA"
"""The environment variable that names the folder of prepared data."""

SUFFIX = ".npz"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def data_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of prepared data: the given one, the variable's, or the user's own.

    >>> data_folder("here").name
    'here'
    """
    chosen = folder if folder is not None else os.environ.get(VARIABLE) or None
    if chosen is not None:
        return Path(chosen).expanduser()
    return Path(platformdirs.user_cache_dir("clubcascade", appauthor=False)) / "data"


def path_of(name: str, folder: Path) -> Path:
    """Return the place of a prepared data set."""
    return folder / f"{checked_name(name)}{SUFFIX}"


def checked_name(name: str) -> str:
    """Return a name that can be a file's: letters, digits, dots, dashes, underscores."""
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name.endswith(SUFFIX):
        raise InvalidArgument(
            f"name must be 1 to 100 letters, digits, '.', '_' or '-', the first a letter or a "
            f"digit, not ending in {SUFFIX}, got {name!r}"
        )
    return name


def prepared(folder: str | os.PathLike[str] | None = None) -> dict[str, Path]:
    """Return the files of prepared data by name; nothing where there is no folder yet."""
    files = data_folder(folder).glob(f"*{SUFFIX}")
    names = {file.stem: file for file in files if not file.name.startswith(".")}
    return dict(sorted(names.items()))
