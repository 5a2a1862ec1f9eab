"""The Yelp data set: its own JSON files, streamed; only the restaurants are kept."""

import json
import os
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.json as pa_json

from clubcascade.datasets.clicks import Clicks, readable
from clubcascade.datasets.files import PathLike, Progress, existing, file_at, opened, silent
from clubcascade.datasets.interactions import Interactions
from clubcascade.datasets.preparing import Prepared, prepare
from clubcascade.errors import InvalidData

CATEGORY = "Restaurants"
TERMS = "Yelp Dataset Terms of Use: academic use, no redistribution"
REVIEW, BUSINESS = "review", "business"
ARCHIVES = (".tar", ".tgz", ".tar.gz", ".zip")
WHERE_FROM = "Yelp gives its data set away at https://www.yelp.com/dataset"

_BLOCK = 32 << 20
_COLUMNS = ("user_id", "business_id")


def prepare_yelp(
    paths: PathLike | Iterable[PathLike],
    *,
    name: str = "yelp",
    folder: PathLike | None = None,
    progress: Progress = silent,
) -> Prepared:
    """Prepare the reviews of restaurants; every review counts as a click, as in the paper.

    Parameters
    ----------
    paths
        The folder of Yelp's files, its archive (``.tar``, ``.tgz`` or ``.zip``), or the review and
        the business file themselves.
    name
        What to call the data set.
    folder, progress
        As for :func:`clubcascade.datasets.ratings.prepare_interactions`.
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    files = _found_in(given)
    words = [word for path in given for word in ("--path", os.fspath(path))]

    def make(source: dict[str, Any]) -> Interactions:
        reviews, restaurants, seen = Clicks(), set[str](), set[str]()
        for kind, where, stream in _streams(files, progress):
            seen.add(kind)
            with readable(where):
                if kind == BUSINESS:
                    restaurants |= set(read_restaurants(stream, where))
                else:
                    read_reviews(stream, where, reviews)
        for kind in (REVIEW, BUSINESS):
            if kind not in seen:
                raise InvalidData(
                    f"path must lead to Yelp's {kind} file (…{kind}.json), got none in "
                    f"{source['file']}"
                )
        if not restaurants:
            raise InvalidData(f"{source['file']} has no business of the category {CATEGORY!r}")
        return reviews.finish(name, source, only=restaurants)

    arguments, options = ["yelp", *words, "--name", name], {"category": CATEGORY}
    parts = (name, "yelp", files, make, arguments, TERMS)
    return prepare(*parts, options=options, folder=folder, progress=progress)


def read_restaurants(stream: IO[bytes], where: str) -> Iterator[str]:
    """Yield the ids of the restaurants in a business file."""
    number = 0
    for number, line in enumerate(stream, start=1):
        if not line.strip():
            continue
        record = json.loads(line)
        if not isinstance(record, dict) or "business_id" not in record:
            raise InvalidData(f"{where} has no business_id in line {number}")
        categories = record.get("categories") or ()
        if isinstance(categories, str):  # a list in the years before 2018
            categories = [part.strip() for part in categories.split(",")]
        if CATEGORY in categories:
            yield str(record["business_id"])
    if not number:
        raise InvalidData(f"{where} is empty")


def read_reviews(stream: IO[bytes], where: str, into: Clicks) -> None:
    """Gather the reviews of a file, some megabytes at a time; their texts are skipped."""
    schema = pa.schema([(column, pa.string()) for column in _COLUMNS])
    parse = pa_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    read = pa_json.ReadOptions(block_size=4 << 20)
    empty = True
    for block in whole_lines(stream):
        empty = False
        table = pa_json.read_json(pa.BufferReader(block), read, parse).combine_chunks()
        for batch in table.to_batches():
            into.add(*(batch[column] for column in _COLUMNS))
    if empty:
        raise InvalidData(f"{where} is empty")


def whole_lines(stream: IO[bytes], size: int = _BLOCK) -> Iterator[bytes]:
    r"""Cut a stream into blocks of whole lines.

    >>> import io
    >>> list(whole_lines(io.BytesIO(b"one\ntwo\nthree"), size=6))
    [b'one\ntwo\n', b'three']
    """
    while block := stream.read(size):
        block += stream.readline()
        if block.strip():
            yield block


def _kind(name: str) -> str | None:
    """Return what a file of that name holds; None for what is not needed.

    >>> _kind("yelp_academic_dataset_review.json"), _kind("yelp_academic_dataset_user.json")
    ('review', None)
    """
    return next((k for k in (REVIEW, BUSINESS) if name.lower().endswith(f"{k}.json")), None)


def _streams(files: Iterable[Path], progress: Progress) -> Iterator[tuple[str, str, IO[bytes]]]:
    """Yield the review and business files, also those in archives: kind, name, and the bytes."""
    for file in files:
        with opened(file, progress) as stream:
            yield from _unpacked(stream, file.name, str(file))


def _unpacked(stream: IO[bytes], name: str, where: str) -> Iterator[tuple[str, str, IO[bytes]]]:
    kind = _kind(name)
    if kind is not None:
        yield kind, where, stream
    elif name.lower().endswith(".zip"):
        with readable(where), zipfile.ZipFile(stream) as archive:
            for member in archive.namelist():
                if _kind(member) or member.lower().endswith(ARCHIVES):
                    with archive.open(member) as inside:
                        yield from _unpacked(inside, member, f"{where}/{member}")
    elif name.lower().endswith(ARCHIVES):
        with readable(where), tarfile.open(fileobj=stream, mode="r|*") as tar:
            for entry in tar:
                member_stream = tar.extractfile(entry) if _kind(entry.name) else None
                if member_stream is not None:
                    yield from _unpacked(member_stream, entry.name, f"{where}/{entry.name}")


def _found_in(paths: Iterable[PathLike]) -> tuple[Path, ...]:
    """Return the files to read: of a folder its review and business file, or its archive."""
    files: list[Path] = []
    for path in paths:
        place = existing(path)
        files += _of_folder(place) if place.is_dir() else [file_at(place)]
    for file in files:
        if not _kind(file.name) and not file.name.lower().endswith(ARCHIVES):
            raise InvalidData(
                f"path must be a folder, an archive ({', '.join(ARCHIVES)}) or a file "
                f"…{REVIEW}.json or …{BUSINESS}.json, got {str(file)!r}"
            )
    if not files:
        raise InvalidData(f"path must be at least one file or folder. {WHERE_FROM}")
    return tuple(dict.fromkeys(files))


def _of_folder(folder: Path) -> list[Path]:
    inside = sorted(path for path in folder.iterdir() if path.is_file())
    own = [path for path in inside if _kind(path.name)]
    if {_kind(path.name) for path in own} == {REVIEW, BUSINESS}:
        return own
    archives = [path for path in inside if path.name.lower().endswith(ARCHIVES)]
    if len(archives) == 1:
        return archives
    raise InvalidData(
        f"path must be a folder with Yelp's files …{REVIEW}.json and …{BUSINESS}.json, got "
        f"{str(folder)!r}, which holds {', '.join(p.name for p in inside[:10]) or 'nothing'}. "
        f"{WHERE_FROM}"
    )
