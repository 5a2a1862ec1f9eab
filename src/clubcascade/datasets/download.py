"""Fetch a file over HTTP: with progress, resumed where it was cut off, and checked."""

import hashlib
import http.client
import os
import re
import time
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from clubcascade.datasets.files import Progress, silent
from clubcascade.errors import DownloadFailed, InvalidArgument
from clubcascade.model_file import naming

TIMEOUT = 30.0
"""Seconds without a byte after which a connection counts as cut off."""
TRIES = 4
"""How often a connection is taken up again that brought something before it was cut off."""
PAUSE = 1.0
"""Seconds before it is taken up again."""

_HEADERS = {"User-Agent": "clubcascade", "Accept-Encoding": "identity"}
_CUT = (URLError, http.client.HTTPException, ConnectionError, TimeoutError)


def fetch(
    url: str, path: Path, *, checksum: str | None = None, progress: Progress = silent
) -> Path:
    """Fetch a file to a path, unless it is there already.

    What has come is kept beside it as ``.part``; the next call goes on from there. The file gets
    its name only when it is whole and its MD5 is right.

    Without ``checksum``, the MD5 that it must have, the one that lies beside it (``url`` +
    ``.md5``) is taken; without either, its length alone is checked.
    """
    if not url.startswith(("https://", "http://")):
        raise InvalidArgument(f"url must start with https:// or http://, got {url!r}")
    if path.is_file():
        return path
    part = path.with_name(f"{path.name}.part")
    try:
        _fetch_all(url, part, progress)
        wanted = checksum or _published(f"{url}.md5")
    except HTTPError as error:
        error.close()
        raise DownloadFailed(f"{url} cannot be fetched: {error.code} {error.reason}") from None
    except _CUT as error:
        words = " ".join(str(getattr(error, "reason", None) or error).split())
        message = f"{url} cannot be reached ({words or type(error).__name__})"
        if came := _size(part):
            message = f"{url} was cut off after {came:,} bytes ({words}); the same command goes on"
            message += " from there"
        raise DownloadFailed(message) from None
    with part.open("rb") as stream:
        found = hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
    if wanted not in (None, found):
        part.unlink()
        raise DownloadFailed(
            f"{url} came with a wrong checksum: its MD5 must be {wanted}, got {found}; "
            f"what came was deleted, the same command fetches it anew"
        )
    os.replace(part, path)
    return path


def _fetch_all(url: str, part: Path, progress: Progress) -> None:
    """Fetch until all is there; go on after a cut as long as each connection brings something."""
    for attempt in range(TRIES + 1):
        before = _size(part)
        try:
            return _fetch_rest(url, part, progress)
        except _CUT as error:
            refused = isinstance(error, HTTPError)
            if refused or _size(part) == before or attempt == TRIES:
                raise
            time.sleep(PAUSE)


def _fetch_rest(url: str, part: Path, progress: Progress) -> None:
    start = _size(part)
    answer = _ask(url, {"Range": f"bytes={start}-"} if start else {})
    with answer:
        content_range = answer.headers.get("Content-Range", "")
        if answer.status == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            if content_range == f"bytes */{start}":
                return  # it was all there
            part.unlink()
            return _fetch_rest(url, part, progress)
        resumed = answer.status == http.HTTPStatus.PARTIAL_CONTENT
        if resumed and not content_range.startswith(f"bytes {start}-"):
            raise DownloadFailed(f"{url} was not resumed where it was cut off; delete {part}")
        done = start if resumed else 0
        total = done + int(answer.headers.get("Content-Length") or 0)
        part.parent.mkdir(parents=True, exist_ok=True)
        with naming(part), part.open("ab" if resumed else "wb") as stream:
            while piece := answer.read1(1 << 18):
                stream.write(piece)
                done += len(piece)
                progress("fetching", done, max(total, done))
            stream.flush()
            os.fsync(stream.fileno())
    if done < total:
        raise ConnectionError(f"{done:,} of {total:,} bytes came")


def _ask(url: str, headers: dict[str, str]) -> Any:
    """Ask for a file; the answer that a range begins behind its end is one too."""
    try:
        return urlopen(Request(url, headers=_HEADERS | headers), timeout=TIMEOUT)
    except HTTPError as error:
        if headers and error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            return error
        raise


def _published(url: str) -> str | None:
    """Return the MD5 that is published in a small file; None where there is no such file."""
    try:
        with _ask(url, {}) as answer:
            text = answer.read(4096).decode("utf-8", errors="replace")
    except HTTPError as error:
        if error.code in (403, 404, 410):
            error.close()
            return None
        raise
    found = re.search(r"\b[0-9a-fA-F]{32}\b", text)
    return found[0].lower() if found else None


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
