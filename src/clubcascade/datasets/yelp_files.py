"""Yelp's files, wherever they are: in a folder, in an archive, or given one by one."""

from __future__ import annotations

import os
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from clubcascade.datasets.arrow import readable
from clubcascade.datasets.preparing import existing, file_at
from clubcascade.datasets.watching import Progress, opened
from clubcascade.errors import InvalidData

REVIEW = "review"
BUSINESS = "business"
ARCHIVES = (".tar", ".tgz", ".tar.gz", ".zip")
WHERE_FROM = "Yelp gives its data set away at https://www.yelp.com/dataset"

Streams = Iterator[tuple[str, str, IO[bytes]]]


def found_in(paths: Iterable[str | os.PathLike[str]]) -> tuple[Path, ...]:
    """Return the files to read: of a folder its review and business file, or its archive."""
    files: list[Path] = []
    for path in paths:
        place = existing(path)
        files += _of_folder(place) if place.is_dir() else [file_at(place)]
    for file in files:
        if not kind_of(file.name) and not file.name.lower().endswith(ARCHIVES):
            raise InvalidData(
                f"path must be a folder, an archive ({', '.join(ARCHIVES)}) or a file "
                f"…{REVIEW}.json or …{BUSINESS}.json, got {str(file)!r}"
            )
    if not files:
        raise InvalidData(f"path must be at least one file or folder. {WHERE_FROM}")
    return tuple(dict.fromkeys(files))


def kind_of(name: str) -> str | None:
    """Return what a file of that name holds; None for what is not needed.

    >>> kind_of("yelp_academic_dataset_review.json"), kind_of("yelp_academic_dataset_user.json")
    ('review', None)
    """
    stem = name.lower().rpartition("/")[2]
    return next((k for k in (REVIEW, BUSINESS) if stem.endswith(f"{k}.json")), None)


def streams(files: Iterable[Path], progress: Progress) -> Streams:
    """Yield the review and business files: kind, name, and the bytes."""
    for file in files:
        with opened(file, progress) as stream:
            yield from _streams(stream, file.name, str(file))


def _streams(stream: IO[bytes], name: str, where: str) -> Streams:
    kind = kind_of(name)
    if kind is not None:
        yield kind, where, stream
    elif name.lower().endswith(".zip"):
        with readable(where), zipfile.ZipFile(stream) as archive:
            for member in archive.namelist():
                if kind_of(member) or member.lower().endswith(ARCHIVES[:-1]):
                    with archive.open(member) as inside:
                        yield from _streams(inside, member, f"{where}/{member}")
    elif name.lower().endswith(ARCHIVES):
        with readable(where), tarfile.open(fileobj=stream, mode="r|*") as tar:
            for entry in tar:
                inside_tar = tar.extractfile(entry) if kind_of(entry.name) else None
                if inside_tar is not None:
                    with inside_tar:
                        yield from _streams(inside_tar, entry.name, f"{where}/{entry.name}")


def _of_folder(folder: Path) -> list[Path]:
    inside = sorted(path for path in folder.iterdir() if path.is_file())
    own = [path for path in inside if kind_of(path.name)]
    if {kind_of(path.name) for path in own} == {REVIEW, BUSINESS}:
        return own
    archives = [path for path in inside if path.name.lower().endswith(ARCHIVES)]
    if len(archives) == 1:
        return archives
    raise InvalidData(
        f"path must be a folder with Yelp's files …{REVIEW}.json and …{BUSINESS}.json, got "
        f"{str(folder)!r}, which holds {', '.join(p.name for p in inside[:10]) or 'nothing'}. "
        f"{WHERE_FROM}"
    )
