"""MovieLens: fetched from GroupLens, or taken from a local archive, text or Parquet file."""

from __future__ import annotations

import os
import shlex
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from clubcascade.datasets.arrow import readable
from clubcascade.datasets.download import fetch
from clubcascade.datasets.editions import EDITIONS, SERVER, Edition, short_terms
from clubcascade.datasets.folder import data_folder, path_of
from clubcascade.datasets.interactions import Interactions
from clubcascade.datasets.preparing import Folder, Prepared, Recipe, file_at, kept, prepare
from clubcascade.datasets.ratings import gather
from clubcascade.datasets.tables import Opens, ParquetTable, Table, TextTable, open_table
from clubcascade.datasets.watching import Progress, opened, silent
from clubcascade.errors import DownloadFailed, InvalidArgument, InvalidData, unknown_name

COLUMNS = ("userId", "movieId", "rating", "timestamp")
PAPERS = "20m"


def prepare_movielens(
    edition: str | None = None,
    *,
    path: str | os.PathLike[str] | None = None,
    accept_terms: bool = False,
    url: str = SERVER,
    folder: Folder = None,
    progress: Progress = silent,
) -> Prepared:
    """Prepare an edition of MovieLens; every rating counts as a click, as in the paper.

    Parameters
    ----------
    edition
        ``"20m"`` (the paper's), ``"25m"``, ``"32m"``, ``"1m"`` or ``"latest-small"``. By default
        the one that a local file turns out to be; without a file the paper's.
    path
        A local file instead of GroupLens': the archive, ``ratings.csv``, ``ratings.dat`` or a
        Parquet file of ratings.
    accept_terms
        Whether GroupLens' terms (:func:`clubcascade.datasets.editions.terms_of`) are accepted;
        nothing is fetched otherwise.
    url
        The folder of a server that has the archives.
    folder
        The folder of prepared data.
    progress
        Told what is being done, how many bytes of how many.
    """
    if edition is not None and edition not in EDITIONS:
        raise unknown_name("edition of MovieLens", edition, EDITIONS)
    if path is not None:
        file = file_at(path)
        with readable(file):
            edition = edition or _recognised(file)
        return _prepare(edition, file, folder, progress)
    edition = edition or PAPERS
    earlier = _earlier(edition, folder)
    if earlier is not None:
        return earlier
    archive = _fetched(EDITIONS[edition], accept_terms, url, folder, progress)
    return _prepare(edition, archive, folder, progress)


def _prepare(edition: str, file: Path, folder: Folder, progress: Progress) -> Prepared:
    chosen = EDITIONS[edition]
    name = f"movielens-{edition}"
    command = shlex.join(["clubcascade", "data", "movielens", edition, "--path", str(file)])
    recipe = Recipe(name, "movielens", (file,), {}, short_terms(chosen), command)

    def make(source: dict[str, Any]) -> Interactions:
        with readable(file):
            return gather(_table(file, progress), name, source | {"expected": chosen.ratings})

    return prepare(recipe, make, folder=folder, progress=progress)


def _earlier(edition: str, folder: Folder) -> Prepared | None:
    """Return what is prepared already, from wherever it came."""
    target = path_of(f"movielens-{edition}", data_folder(folder))
    data = kept(target)
    return None if data is None else Prepared(data, target, fresh=False)


def _fetched(
    edition: Edition, accept_terms: bool, url: str, folder: Folder, progress: Progress
) -> Path:
    if not accept_terms:
        raise InvalidArgument(
            f"accept_terms must be true before {edition.title} is fetched, got False: read its "
            f"terms and give --accept-terms"
        )
    target = data_folder(folder) / "downloads" / edition.archive
    address = f"{url.rstrip('/')}/{edition.archive}"
    local = f"clubcascade data movielens {_name_of(edition)} --path {edition.archive}"
    try:
        return fetch(address, target, checksum=edition.md5, progress=progress)
    except DownloadFailed as error:
        raise DownloadFailed(f"{error}. With the file at hand: {local}") from None


def _name_of(edition: Edition) -> str:
    return next(name for name, other in EDITIONS.items() if other == edition)


def _table(file: Path, progress: Progress) -> Table:
    """Open the ratings, whatever they are in."""
    if zipfile.is_zipfile(file) or file.suffix.lower() == ".zip":
        member = _member(file)
        opens = _opens_member(file, member, progress)
        return TextTable(opens, f"{file}/{member}", columns=_columns(member))
    return open_table(file, columns=_columns(file.name), progress=progress)


def _columns(name: str) -> tuple[str, ...] | None:
    """Return the names of the columns of a file that has no header line."""
    return COLUMNS if name.lower().endswith(".dat") else None


def _opens_member(file: Path, member: str, progress: Progress) -> Opens:
    @contextmanager
    def opens() -> Iterator[IO[bytes]]:
        with (
            opened(file, progress) as stream,
            zipfile.ZipFile(stream) as archive,
            archive.open(member) as plain,
        ):
            yield plain

    return opens


def _member(file: Path) -> str:
    """Return the name of the ratings in an archive."""
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()
    wanted = [n for n in names if n.rpartition("/")[2] in ("ratings.csv", "ratings.dat")]
    if len(wanted) != 1:
        raise InvalidData(
            f"{file} must hold one ratings.csv or ratings.dat, got {len(wanted)}; it holds "
            f"{', '.join(names[:10]) or 'nothing'}"
        )
    return wanted[0]


def _recognised(file: Path) -> str:
    """Return the edition that a local file is, by its folder or by its number of ratings."""
    if zipfile.is_zipfile(file) or file.suffix.lower() == ".zip":
        place = _member(file).split("/")[0]
        known = [name for name, edition in EDITIONS.items() if edition.folder == place]
        found = f"a folder {place!r}"
    else:
        count = _ratings(file)
        known = [name for name, edition in EDITIONS.items() if edition.ratings == count]
        found = f"{count:,} ratings"
    if not known:
        raise InvalidData(
            f"{file} must be a known edition of MovieLens, or be called one, got {found}. If it "
            f"is MovieLens 20M: clubcascade data movielens 20m --path {shlex.quote(str(file))}"
        )
    return known[0]


def _ratings(file: Path) -> int:
    table = open_table(file)
    if isinstance(table, ParquetTable):
        return table.rows
    lines, last = 0, b"\n"
    with file.open("rb") as stream:
        while piece := stream.read(1 << 22):
            lines += piece.count(b"\n")
            last = piece[-1:]
    header = 0 if file.suffix.lower() == ".dat" else 1
    return lines + (last != b"\n") - header
