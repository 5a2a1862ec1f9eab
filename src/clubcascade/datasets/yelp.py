"""The Yelp data set: its own JSON files, streamed; only the restaurants are kept."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Iterator
from typing import IO, Any

from clubcascade.datasets.arrow import pa, pa_json, readable
from clubcascade.datasets.gathering import Gathering
from clubcascade.datasets.interactions import Interactions
from clubcascade.datasets.preparing import Folder, Prepared, Recipe, prepare
from clubcascade.datasets.watching import Progress, silent
from clubcascade.datasets.yelp_files import BUSINESS, REVIEW, found_in, streams
from clubcascade.errors import InvalidData

CATEGORY = "Restaurants"
TERMS = "Yelp Dataset Terms of Use: academic use, no redistribution"

_BLOCK = 32 << 20
_WANTED = {"user_id": "user", "business_id": "item"}


def prepare_yelp(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    name: str = "yelp",
    folder: Folder = None,
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
    folder
        The folder of prepared data.
    progress
        Told what is being done, how many bytes of how many.
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    files = found_in(given)
    words = [word for path in given for word in ("--path", os.fspath(path))]
    command = shlex.join(["clubcascade", "data", "yelp", *words, "--name", name])
    recipe = Recipe(name, "yelp", files, {"category": CATEGORY}, TERMS, command)

    def make(source: dict[str, Any]) -> Interactions:
        reviews = Gathering()
        restaurants: set[str] = set()
        seen: set[str] = set()
        for kind, where, stream in streams(files, progress):
            seen.add(kind)
            with readable(where):
                if kind == BUSINESS:
                    restaurants |= set(businesses(stream, where))
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

    return prepare(recipe, make, folder=folder, progress=progress)


def businesses(stream: IO[bytes], where: str) -> Iterator[str]:
    """Yield the ids of the restaurants in a business file."""
    lines = 0
    for lines, line in enumerate(stream, start=1):
        if not line.strip():
            continue
        record = json.loads(line)
        if not isinstance(record, dict) or "business_id" not in record:
            raise InvalidData(f"{where} has no business_id in line {lines}")
        categories = record.get("categories") or ()
        if isinstance(categories, str):  # a list in the years before 2018
            categories = [part.strip() for part in categories.split(",")]
        if CATEGORY in categories:
            yield str(record["business_id"])
    if not lines:
        raise InvalidData(f"{where} is empty")


def read_reviews(stream: IO[bytes], where: str, into: Gathering) -> None:
    """Gather the reviews of a file, some megabytes at a time; their texts are skipped."""
    schema = pa.schema([(column, pa.string()) for column in _WANTED])
    parse = pa_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    read = pa_json.ReadOptions(block_size=4 << 20)
    empty = True
    for block in whole_lines(stream):
        empty = False
        table = pa_json.read_json(pa.BufferReader(block), read, parse).combine_chunks()
        for batch in table.to_batches():
            into.add(batch.column("user_id"), batch.column("business_id"))
    if empty:
        raise InvalidData(f"{where} is empty")


def whole_lines(stream: IO[bytes], size: int = _BLOCK) -> Iterator[bytes]:
    r"""Cut a stream into blocks of whole lines.

    >>> import io
    >>> list(whole_lines(io.BytesIO(b"one\ntwo\nthree"), size=6))
    [b'one\n', b'two\n', b'three']
    """
    rest = b""
    while piece := stream.read(size):
        cut = piece.rfind(b"\n") + 1
        if not cut:
            rest += piece
            continue
        yield rest + piece[:cut]
        rest = piece[cut:]
    if rest.strip():
        yield rest
