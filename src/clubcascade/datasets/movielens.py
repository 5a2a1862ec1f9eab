"""MovieLens: fetched from GroupLens, or taken from a local archive, text or Parquet file."""

import shlex
import zipfile
from pathlib import Path
from typing import Any

from clubcascade.datasets.clicks import readable
from clubcascade.datasets.download import fetch
from clubcascade.datasets.editions import EDITIONS, SERVER, short_terms
from clubcascade.datasets.files import PathLike, Progress, file_at, silent
from clubcascade.datasets.interactions import Interactions
from clubcascade.datasets.preparing import Prepared, kept, prepare
from clubcascade.datasets.ratings import read_clicks
from clubcascade.datasets.store import data_folder, path_of
from clubcascade.datasets.tables import RatingsFile
from clubcascade.errors import DownloadFailed, InvalidArgument, InvalidData, unknown_name

COLUMNS = ("userId", "movieId", "rating", "timestamp")
PAPERS = "20m"


def prepare_movielens(
    edition: str | None = None,
    *,
    path: PathLike | None = None,
    accept_terms: bool = False,
    url: str = SERVER,
    folder: PathLike | None = None,
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
    folder, progress
        As for :func:`clubcascade.datasets.ratings.prepare_interactions`.
    """
    if edition is not None and edition not in EDITIONS:
        raise unknown_name("edition of MovieLens", edition, EDITIONS)
    if path is not None:
        file = file_at(path)
        with readable(file):
            edition = edition or _recognised(file)
    else:
        edition = edition or PAPERS
        target = path_of(f"movielens-{edition}", folder)
        if (earlier := kept(target)) is not None:
            return Prepared(earlier, target, fresh=False)
        file = _fetched(edition, accept_terms, url, folder, progress)
    name = f"movielens-{edition}"

    def make(source: dict[str, Any]) -> Interactions:
        with readable(file):
            expected = {"expected": EDITIONS[edition].ratings}
            return read_clicks(_ratings(file, progress), name, source | expected)

    arguments, terms = ["movielens", edition, "--path", str(file)], short_terms(EDITIONS[edition])
    parts = (name, "movielens", [file], make, arguments, terms)
    return prepare(*parts, folder=folder, progress=progress)


def _fetched(
    name: str, accept_terms: bool, url: str, folder: PathLike | None, progress: Progress
) -> Path:
    edition = EDITIONS[name]
    if not accept_terms:
        raise InvalidArgument(
            f"accept_terms must be true before {edition.title} is fetched, got False: read its "
            f"terms and give --accept-terms"
        )
    target = data_folder(folder) / "downloads" / edition.archive
    address = f"{url.rstrip('/')}/{edition.archive}"
    try:
        return fetch(address, target, checksum=edition.md5, progress=progress)
    except DownloadFailed as error:
        local = f"clubcascade data movielens {name} --path {edition.archive}"
        raise DownloadFailed(f"{error}. With the file at hand: {local}") from None


def _ratings(file: Path, progress: Progress = silent) -> RatingsFile:
    """Return the ratings, whatever they are in; a ``.dat`` file has no header line."""
    member = ""
    if zipfile.is_zipfile(file) or file.suffix.lower() == ".zip":
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
        wanted = [n for n in names if n.rpartition("/")[2] in ("ratings.csv", "ratings.dat")]
        if len(wanted) != 1:
            raise InvalidData(
                f"{file} must hold one ratings.csv or ratings.dat, got {len(wanted)}; it holds "
                f"{', '.join(names[:10]) or 'nothing'}"
            )
        member = wanted[0]
    headless = (member or file.name).lower().endswith(".dat")
    return RatingsFile(file, member, COLUMNS if headless else (), progress)


def _recognised(file: Path) -> str:
    """Return the edition that a local file is, by its folder or by its number of ratings."""
    table = _ratings(file)
    if table.member:
        place = table.member.split("/")[0]
        known = [name for name, edition in EDITIONS.items() if edition.folder == place]
        found = f"a folder {place!r}"
    else:
        count = table.count_rows()
        known = [name for name, edition in EDITIONS.items() if edition.ratings == count]
        found = f"{count:,} ratings"
    if not known:
        raise InvalidData(
            f"{file} must be a known edition of MovieLens, or be called one, got {found}. If it "
            f"is MovieLens 20M: clubcascade data movielens 20m --path {shlex.quote(str(file))}"
        )
    return known[0]
