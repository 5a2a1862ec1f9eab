"""From a name to the data, or to the one command that brings them."""

import difflib
import os
import shlex
from pathlib import Path

from clubcascade.datasets import store
from clubcascade.datasets.files import PathLike
from clubcascade.datasets.interactions import Interactions
from clubcascade.datasets.pools import read_pools
from clubcascade.datasets.store import SUFFIX, data_folder, path_of, prepared
from clubcascade.errors import DataMissing, InvalidArgument

ALIASES = {"movielens": "movielens-20m"}
"""Short names: the paper's MovieLens is the one of 20 million ratings."""


def find(name_or_path: PathLike, folder: PathLike | None = None) -> Interactions:
    """Return a data set by its name, or a pools file by its path.

    Parameters
    ----------
    name_or_path
        A name of ``clubcascade data list``, or a path that ends in ``.npz``.
    folder
        The folder of prepared data; by default what the variable ``CLUBCASCADE_DATA`` says, and
        without it a folder of the user's own.

    Raises
    ------
    DataMissing
        There is no such data set here; the message carries the one command to run.

    Examples
    --------
    >>> find("yelp", folder="an empty folder")
    Traceback (most recent call last):
        ...
    clubcascade.errors.DataMissing: no data set 'yelp' in an empty folder. Run:
    clubcascade data yelp --path FOLDER_OF_THE_YELP_FILES
    """
    text = os.fspath(name_or_path)
    if text.lower().endswith(SUFFIX):
        file = Path(text).expanduser()
        if not file.is_file():
            raise DataMissing(
                f"no file {file}. To keep a pools file (.npz, an array 'clicks' of users x items) "
                f"under a name, run: clubcascade data pools --path FILE --name NAME"
            )
        return read_pools(file) if store.read_header(file) is None else store.read(file)
    name = ALIASES.get(text, text)
    try:
        path = path_of(name, folder)
    except InvalidArgument:  # what cannot be a name cannot be there
        path = None
    if path is None or not path.is_file():
        raise _missing(name, data_folder(folder))
    return store.read(path)


def command_for(name: str) -> str:
    """Return the command that brings a data set.

    >>> command_for("movielens-20m"), command_for("movielens-1m")
    ('clubcascade data movielens', 'clubcascade data movielens 1m')
    """
    family, _, rest = ALIASES.get(name, name).partition("-")
    if family == "movielens" and rest:
        return "clubcascade data movielens" + ("" if rest == "20m" else f" {shlex.quote(rest)}")
    if name == "yelp":
        return "clubcascade data yelp --path FOLDER_OF_THE_YELP_FILES"
    if name == "jester":
        return "clubcascade data pools --path RATINGS.npz --at-least 5 --name jester"
    if name.endswith((".csv", ".parquet")):
        return f"clubcascade data interactions --path {shlex.quote(name)}"
    return f"clubcascade data interactions --path FILE --name {shlex.quote(name)}"


def _missing(name: str, folder: Path) -> DataMissing:
    known = prepared(folder)
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    listed = f" Prepared: {', '.join(known)}." if known else ""
    return DataMissing(f"no data set {name!r} in {folder}{hint}{listed} Run: {command_for(name)}")
